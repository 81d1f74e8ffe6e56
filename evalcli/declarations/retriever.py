"""Retrievers as declared in `evalcli.yaml`: what is asked, over which corpus, from which score on.

The workspace keeps entries raw, because only the type knows its options; `parse_retriever_entry`
makes a model of one. An entry whose type is none of ours belongs to an installed package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.scalars import (
    AsList,
    Declaration,
    Exact,
    NonEmptyText,
    TakeText,
    Text,
    ValueFaultError,
    Whole,
    text_of,
)
from evalcli.declarations.workspace import header_faults

Language = Literal[
    "none",
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
]
"""Languages with a stemmer; `none` leaves words as they are."""


# --- the corpus -----------------------------------------------------------------------------------


class SizeChunks(Declaration):
    """Chunks of at most `size` characters; neighbours share up to `overlap` of them."""

    size: Whole = Field(ge=50, le=1_000_000)
    overlap: Whole = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _check_overlap(self) -> SizeChunks:
        if self.overlap * 2 > self.size:
            raise ValueFaultError(
                "is more than half of `size`", advice="write a smaller one", path=("overlap",)
            )
        return self


def _form_of_chunks(raw: object) -> str:
    return "(size)" if isinstance(raw, Mapping | SizeChunks) else "(word)"


Chunks = Annotated[
    Annotated[Literal["none", "heading"], TakeText, Tag("(word)")]
    | Annotated[SizeChunks, Tag("(size)")],
    Discriminator(_form_of_chunks),
]


def _take_patterns(raw: object) -> object:
    return raw if isinstance(raw, list | tuple) else [raw]


def _check_pattern(pattern: str) -> str:
    parts = pattern.split("/")
    if not any(part not in ("", ".") for part in parts):
        raise ValueFaultError("names no file", advice="write a pattern such as docs/**/*.md")
    if pattern.startswith(("/", "~")) or ".." in parts or "\\" in pattern:
        raise ValueFaultError(
            "must stay inside the workspace",
            advice="write it from the workspace's folder on, with /, such as docs/**/*.md",
        )
    if any("**" in part and part != "**" for part in parts):
        raise ValueFaultError(
            "has ** beside other characters", advice="write ** between slashes: docs/**/*.md"
        )
    return pattern


Pattern = Annotated[NonEmptyText, AfterValidator(_check_pattern)]


class FilesCorpus(Declaration):
    """Text files of the workspace, whole or in chunks.

    A document's id is its path from the workspace's folder on, with slashes. With `ids: chunk`
    each chunk is a document of its own: `path#heading` or `path#number`.
    """

    files: Annotated[
        tuple[Pattern, ...],
        BeforeValidator(_take_patterns),
        AsList,
        Field(min_length=1),
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ]
    exclude: Annotated[
        tuple[Pattern, ...],
        BeforeValidator(_take_patterns),
        AsList,
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = ()
    chunk: Chunks = "none"
    ids: Annotated[Literal["file", "chunk"], TakeText] = "file"


class JsonlCorpus(Declaration):
    """A JSONL file, also gzipped: one document a line, with `id` (or `_id`), `title`, `text`.

    `document` names the field that holds the document's id where a line is only a passage of it.
    """

    jsonl: NonEmptyText
    document: NonEmptyText | None = None


def _form_of_corpus(raw: object) -> str:
    if isinstance(raw, FilesCorpus | JsonlCorpus):
        return "(files)" if isinstance(raw, FilesCorpus) else "(jsonl)"
    keys = {text_of(key) for key in raw} if isinstance(raw, Mapping) else set()
    return "(jsonl)" if "jsonl" in keys else "(files)"


Corpus = Annotated[
    Annotated[FilesCorpus, Tag("(files)")] | Annotated[JsonlCorpus, Tag("(jsonl)")],
    Discriminator(_form_of_corpus),
]


# --- the entries ----------------------------------------------------------------------------------


class Revisions(Declaration):
    """What state the parts of a retriever are in, as free text; only `corpus` is needed."""

    corpus: NonEmptyText | None = None
    model: NonEmptyText | None = None
    chunking: NonEmptyText | None = None
    pipeline: NonEmptyText | None = None


class RetrieverEntry(Declaration):
    """What every retriever has.

    `min_score` drops results below it, since a retriever that always returns something can never
    be right about a question that nothing answers. `corpus_change: compare` names a changed corpus
    and compares all the same.
    Units: `timeout_s` in seconds, for one question.
    """

    type: NonEmptyText
    min_score: Exact | None = None
    revisions: Revisions = Revisions()
    corpus_change: Annotated[Literal["mismatch", "compare"], TakeText] = "mismatch"
    data_class: Annotated[DataClass, Field(strict=False), TakeText] = DataClass.EDITOR_CONTENT
    concurrency: Whole = Field(default=16, ge=1, le=1024)
    timeout_s: Exact = Field(default=Decimal(60), gt=0, le=3600)


class LexicalEntry(RetrieverEntry):
    """BM25 over a corpus."""

    type: Annotated[Literal["lexical"], TakeText]
    corpus: Corpus
    language: Annotated[Language, TakeText] = "none"
    stop_words: Annotated[Literal["keep", "drop"], TakeText] = "keep"

    @model_validator(mode="after")
    def _check_stop_words(self) -> LexicalEntry:
        if self.stop_words == "drop" and self.language not in STOP_WORD_LANGUAGES:
            known = ", ".join(sorted(STOP_WORD_LANGUAGES))
            raise ValueFaultError(
                f"cannot drop stop words: language {self.language} has no list",
                advice=f"write keep, or one of these languages: {known}",
                path=("stop_words",),
            )
        return self


STOP_WORD_LANGUAGES: frozenset[str] = frozenset(get_args(Language)) - {
    "none",
    "arabic",
    "greek",
    "romanian",
    "tamil",
    "turkish",
}
"""Languages that the search library has a list of stop words for."""


class VectorEntry(RetrieverEntry):
    """Nearest vectors over a corpus; `model` is a declared one, or the packaged `wordllama`."""

    type: Annotated[Literal["vector"], TakeText]
    corpus: Corpus
    model: NonEmptyText
    batch: Whole = Field(default=64, ge=1, le=2048)


class HybridEntry(RetrieverEntry):
    """Reciprocal rank fusion of other retrievers; a document counts 1 / (k + rank) in each."""

    type: Annotated[Literal["hybrid"], TakeText]
    parts: Annotated[tuple[NonEmptyText, ...], AsList, Field(min_length=2)]
    k: Whole = Field(default=60, ge=1, le=10_000)

    @model_validator(mode="after")
    def _check_parts(self) -> HybridEntry:
        if len(set(self.parts)) < len(self.parts):
            raise ValueFaultError(
                "names a retriever twice", advice="leave one out", path=("parts",)
            )
        return self


def _check_url(text: str) -> str:
    """Refuse an address that cannot work or that carries a secret, without repeating it."""
    try:
        parts = urlsplit(text)
        is_usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_usable = False
        parts = urlsplit("")
    if "@" in parts.netloc:
        raise ValueFaultError(
            "holds a user name or password, and a secret never stands in a file",
            advice="send it as a header: {Authorization: env:NAME}",
        )
    is_plain = text.isprintable() and " " not in text and "#" not in text
    if not is_usable or parts.scheme not in ("http", "https") or not is_plain:
        raise ValueFaultError(
            "is no address of a server", advice="write a URL such as https://search.example/ask"
        )
    return text


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    faults = header_faults(headers)
    if faults:
        raise ValueFaultError.of(faults)
    return headers


class HttpEntry(RetrieverEntry):
    """A search service that speaks our JSON form; see the manual."""

    type: Annotated[Literal["http"], TakeText]
    url: Annotated[NonEmptyText, AfterValidator(_check_url)]
    headers: Annotated[dict[Text, NonEmptyText], AfterValidator(_check_headers)] = Field(
        default_factory=dict
    )
    allow_plain_http: Annotated[tuple[NonEmptyText, ...], AsList] = ()
    tries: Whole = Field(default=3, ge=1, le=20)
    corpus: Corpus | None = None


_CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def _check_callable(text: str) -> str:
    if not _CALLABLE.fullmatch(text):
        raise ValueFaultError(
            "names no callable", advice="write module:callable, such as acme.search:retrieve"
        )
    return text


class PythonEntry(RetrieverEntry):
    """A function of your own, called with the question and the limit."""

    type: Annotated[Literal["python"], TakeText]
    callable: Annotated[NonEmptyText, AfterValidator(_check_callable)]
    corpus: Corpus | None = None


class RunFileEntry(RetrieverEntry):
    """Rankings that another program made, as a TREC run."""

    type: Annotated[Literal["run_file"], TakeText]
    path: NonEmptyText
    corpus: Corpus | None = None


_COMMON = frozenset(RetrieverEntry.model_fields)


class PluginEntry(RetrieverEntry):
    """An entry of an installed package's type; `options` holds its further keys as read.

    Their values may be trees of `SourceScalar`; see `declarations.scalars`.
    """

    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        by_key = {text_of(key) or str(key): value for key, value in raw.items()}
        common = {key: value for key, value in by_key.items() if key in _COMMON}
        options = {key: value for key, value in by_key.items() if key not in _COMMON}
        return {**common, "options": options}


OWN_ENTRIES: Mapping[str, type[RetrieverEntry]] = {
    "lexical": LexicalEntry,
    "vector": VectorEntry,
    "hybrid": HybridEntry,
    "http": HttpEntry,
    "python": PythonEntry,
    "run_file": RunFileEntry,
}
"""Models of the built-in types; any other type is a `PluginEntry`."""


def _type_of_entry(raw: object) -> str:
    if isinstance(raw, RetrieverEntry):
        found = raw.type
    else:
        items = raw.items() if isinstance(raw, Mapping) else ()
        found = next((text_of(value) or "" for key, value in items if text_of(key) == "type"), "")
    return f"({found})" if found in OWN_ENTRIES else "(plugin)"


AnyRetrieverEntry = Annotated[
    Annotated[LexicalEntry, Tag("(lexical)")]
    | Annotated[VectorEntry, Tag("(vector)")]
    | Annotated[HybridEntry, Tag("(hybrid)")]
    | Annotated[HttpEntry, Tag("(http)")]
    | Annotated[PythonEntry, Tag("(python)")]
    | Annotated[RunFileEntry, Tag("(run_file)")]
    | Annotated[PluginEntry, Tag("(plugin)")],
    Discriminator(_type_of_entry),
]
"""One entry of `retrievers`, as the model of its type."""

BUILTIN_RETRIEVER = "nr.lexical"
"""The retriever that needs no declaration, over evalcli's own documentation."""

PACKAGED_MODEL = "wordllama"
"""The embedding model that comes in a package and needs no declaration."""

_ADAPTER: TypeAdapter[RetrieverEntry] = TypeAdapter(
    AnyRetrieverEntry, config=ConfigDict(hide_input_in_errors=True, defer_build=True)
)


def parse_retriever_entry(raw: object) -> RetrieverEntry:
    """Make the model of one entry, from plain values or a tree of `SourceScalar`s.

    Raises:
        pydantic.ValidationError: the entry has faults.
    """
    return _ADAPTER.validate_python(raw)


def parse_retriever_entries(raw: Mapping[str, object]) -> dict[str, RetrieverEntry]:
    """Make the models of all entries of `retrievers`; see `parse_retriever_entry`."""
    return {name: parse_retriever_entry(entry) for name, entry in raw.items()}
