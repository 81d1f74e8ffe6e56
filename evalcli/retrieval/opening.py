"""From an entry of `retrievers` to a retriever that can be asked, with its limits and checks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import evalcli
from evalcli.calls.secrets import resolve_headers
from evalcli.declarations.question_set import GoldenQuestion
from evalcli.declarations.resolution import known_names
from evalcli.declarations.retriever import (
    BUILTIN_RETRIEVER,
    PACKAGED_MODEL,
    FilesCorpus,
    HttpEntry,
    HybridEntry,
    LexicalEntry,
    RetrieverEntry,
    VectorEntry,
)
from evalcli.declarations.scalars import cite
from evalcli.errors import (
    ConfigurationError,
    EvalcliError,
    ProviderError,
    ProviderReplyError,
    ProviderTimeoutError,
    UsageError,
    describe_foreign,
)
from evalcli.plugins import BUILTIN, load_retriever, plugin_names
from evalcli.protocols import (
    CorpusRetriever,
    Embedder,
    LabelledRetriever,
    PreparedRetriever,
    Retriever,
    RetrieverPart,
    RetrieverSetup,
)
from evalcli.records import CallRecord, Ranking
from evalcli.retrieval.asking import ask_once
from evalcli.retrieval.call_ledger import collected_calls, sum_calls
from evalcli.retrieval.embedding import open_packaged_embedder
from evalcli.retrieval.scoring import (
    ANY_CORPUS,
    ResultFaultError,
    find_unknown_expected,
    rank_documents,
    raw_limit,
)

EmbedderFactory = Callable[[VectorEntry], Embedder | None]
"""Gives the embedder of an entry's model, after checking that it may see the corpus; None where
the model is not declared."""

BUILTIN_RETRIEVERS: Mapping[str, RetrieverEntry] = {
    BUILTIN_RETRIEVER: LexicalEntry(
        type="lexical",
        corpus=FilesCorpus(files=("docs/*.md",), chunk="heading", ids="chunk"),
        language="english",
    )
}
"""Retrievers that need no workspace, over evalcli's own documentation."""

DEFAULT_RETRIEVER = BUILTIN_RETRIEVER
DEFAULT_QUESTION_SET = "nr.manual"
"""What `evalcli eval retrieval` asks when nothing is named."""

_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class RetrieverRoom:
    """Where a retriever finds its things.

    `root` is the workspace's folder, `cache` the folder for indexes and vectors. `embedder_for`
    is None where only the packaged model embeds.
    """

    root: Path
    cache: Path
    environ: Mapping[str, str]
    embedder_for: EmbedderFactory | None = None


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What came of asking one question: a ranking, or the error that makes it unmeasured.

    `call` sums up the calls to providers that it took, None where it took none.
    Units: `latency_ms` in milliseconds, without waiting for a turn.
    """

    latency_ms: float
    ranking: Ranking | None = None
    error: ProviderError | None = None
    call: CallRecord | None = None


class OpenRetriever:
    """A retriever ready to be asked. Close it with `aclose`.

    `concurrency` is how many questions are asked at once, None for what the entry says.
    """

    def __init__(
        self,
        name: str,
        entry: RetrieverEntry,
        retriever: Retriever,
        *,
        concurrency: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.name = name
        self.entry = entry
        self.retriever = retriever
        self._clock = clock
        self.concurrency = concurrency or entry.concurrency
        self._turns = asyncio.Semaphore(self.concurrency)
        self._min_score = None if entry.min_score is None else float(entry.min_score)

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions by part; what the entry declares takes precedence."""
        declared = self.entry.revisions.model_dump(exclude_none=True)
        return {**self.retriever.provenance, **declared}

    @property
    def benchmark_corpus(self) -> str | None:
        """What the labels' fingerprints say of the corpus; None where nothing is known.

        It stays the same where the entry says `corpus_change: compare`.
        """
        revision = self.provenance.get("corpus")
        if revision is None or self.entry.corpus_change == "mismatch":
            return revision
        return ANY_CORPUS

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about the corpus."""
        return tuple(self.retriever.notes) if isinstance(self.retriever, CorpusRetriever) else ()

    @cached_property
    def document_ids(self) -> Collection[str] | None:
        """All documents of the corpus, as read once; None where it is not at hand."""
        return self.retriever.document_ids if isinstance(self.retriever, CorpusRetriever) else None

    @property
    def is_finished_run(self) -> bool:
        """Whether it knows questions by their id only."""
        retriever = self.retriever
        return isinstance(retriever, LabelledRetriever) and retriever.question_ids is not None

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find passages to show; empty where the corpus is not at hand."""
        if isinstance(self.retriever, CorpusRetriever):
            return self.retriever.find_texts(document_ids, question)
        return {}

    async def prepare(self) -> None:
        """Build or load what the questions need; before the first one.

        Raises:
            EvalcliError: the corpus, the cache or a provider does not allow it.
        """
        if isinstance(self.retriever, PreparedRetriever):
            await self.retriever.prepare()

    def check_questions(self, questions: Sequence[GoldenQuestion]) -> tuple[str, ...]:
        """Say before the run what cannot go well: labels and questions without a counterpart.

        Raises:
            ConfigurationError: the retriever knows none of the questions.
        """
        notes = []
        if isinstance(self.retriever, LabelledRetriever):
            notes += _check_known(self.name, self.retriever.question_ids, questions)
        known = self.document_ids
        if known is not None:
            unknown = find_unknown_expected(questions, known)
            named = [f"{cite(ids[0])} ({question})" for question, ids in unknown.items()]
            if named:
                notes.append(
                    f"{_count(named, 'question expects', 'questions expect')} a document that is "
                    f"not in the corpus: {_name_some(named)}"
                )
        return tuple(notes)

    async def ask(self, question: GoldenQuestion, cutoffs: Sequence[int]) -> RetrievalResult:
        """Ask one question of a set: 4 raw results per place, then distinct documents."""
        return await self._ask(question.id, question.question, raw_limit(cutoffs), max(cutoffs))

    async def show(self, question: str, limit: int) -> RetrievalResult:
        """Ask a question that is in no set, for a person to look at: up to `limit` documents."""
        return await self._ask(None, question, raw_limit((limit,)), limit)

    async def aclose(self) -> None:
        """Close what the retriever holds."""
        await self.retriever.aclose()

    async def _ask(
        self, question_id: str | None, question: str, limit: int, cutoff: int
    ) -> RetrievalResult:
        async with self._turns:
            with collected_calls() as calls:
                result = await self._try(question_id, question, limit, cutoff)
        return replace(result, call=sum_calls(calls)) if calls else result

    async def _try(
        self, question_id: str | None, question: str, limit: int, cutoff: int
    ) -> RetrievalResult:
        started = self._clock()
        try:
            results = await self._results(question_id, question, limit)
            latency_ms = (self._clock() - started) * 1000
            ranking = rank_documents(
                results,
                limit=limit,
                cutoff=cutoff,
                min_score=self._min_score,
                latency_ms=latency_ms,
            )
        except ProviderError as exc:
            return RetrievalResult((self._clock() - started) * 1000, error=exc)
        except ResultFaultError as exc:
            error = ProviderReplyError(self.name, f"{self.name}: {exc}")
            return RetrievalResult((self._clock() - started) * 1000, error=error)
        return RetrievalResult(latency_ms, ranking)

    async def _results(
        self, question_id: str | None, question: str, limit: int
    ) -> Sequence[object]:
        timeout_s = float(self.entry.timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                return await ask_once(
                    self.name, self.entry.type, self.retriever, question_id, question, limit
                )
        except TimeoutError:
            raise ProviderTimeoutError(
                self.name, f"{self.name} did not answer within {timeout_s:g} s", is_retryable=True
            ) from None


def _check_known(
    name: str, known: Collection[str] | None, questions: Sequence[GoldenQuestion]
) -> list[str]:
    if known is None:
        return []
    missing = [cite(question.id) for question in questions if question.id not in known]
    if questions and len(missing) == len(questions):
        raise ConfigurationError(
            f'retriever "{name}" has rankings for none of the questions',
            advice="check that the ids in the run file are those of the set",
        )
    if not missing:
        return []
    count = _count(missing, "question has", "questions have")
    return [f"{count} no line in the run, which counts as nothing returned: {_name_some(missing)}"]


def _count(named: Sequence[str], one: str, several: str) -> str:
    return f"1 {one}" if len(named) == 1 else f"{len(named)} {several}"


def _name_some(named: Sequence[str]) -> str:
    more = len(named) - _NAMED_AT_MOST
    return ", ".join(named[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")


# --- opening --------------------------------------------------------------------------------------


def builtin_root() -> Path:
    """Find the folder that the built-in documentation lies in: the wheel's, or the source tree."""
    package = Path(evalcli.__file__).parent
    packed = package / "_builtin"
    return packed if (packed / "docs").is_dir() else package.parent


def open_retriever(
    name: str,
    entries: Mapping[str, RetrieverEntry],
    room: RetrieverRoom,
    *,
    concurrency: int | None = None,
) -> OpenRetriever:
    """Open a declared or built-in retriever, a hybrid one with all its parts.

    Raises:
        UsageError: there is none of this name.
        ConfigurationError: it cannot work.
        DeclarationError: its corpus has faults.
    """
    entry, retriever = _open(name, entries, room, ())
    return OpenRetriever(name, entry, retriever, concurrency=concurrency)


def _open(
    name: str, entries: Mapping[str, RetrieverEntry], room: RetrieverRoom, above: tuple[str, ...]
) -> tuple[RetrieverEntry, Retriever]:
    entry = entries.get(name) or BUILTIN_RETRIEVERS.get(name)
    if entry is None:
        raise UsageError(
            f"unknown retriever {cite(name)}",
            advice=known_names({**BUILTIN_RETRIEVERS, **entries}, name),
        )
    if name in above:
        chain = " → ".join((*above, name))
        raise ConfigurationError(f"retrievers are parts of one another: {chain}")
    root = room.root if name in entries else builtin_root()
    parts = {}
    if isinstance(entry, HybridEntry):
        for part in entry.parts:
            parts[part] = RetrieverPart(*_open(part, entries, room, (*above, name)))
    headers, keys = _headers_of(name, entry, room)
    setup = RetrieverSetup(
        name,
        entry,
        root=root,
        cache=room.cache,
        environ=room.environ,
        headers=headers,
        keys=keys,
        embedder=_embedder_of(entry, room) if isinstance(entry, VectorEntry) else None,
        parts=parts,
    )
    return entry, _make(setup)


def _headers_of(
    name: str, entry: RetrieverEntry, room: RetrieverRoom
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    if not isinstance(entry, HttpEntry):
        return {}, ()
    where = f'retriever "{name}": headers'
    resolved = resolve_headers(entry.headers, where=where, environ=room.environ, root=room.root)
    return resolved.headers, resolved.keys


def _embedder_of(entry: VectorEntry, room: RetrieverRoom) -> Embedder | None:
    found = None if room.embedder_for is None else room.embedder_for(entry)
    if found is None and entry.model == PACKAGED_MODEL:
        return open_packaged_embedder()
    return found


def _make(setup: RetrieverSetup) -> Retriever:
    kind = setup.entry.type
    try:
        factory = load_retriever(kind)
    except KeyError:
        raise ConfigurationError(
            f'retriever "{setup.name}": unknown type {cite(kind)}',
            advice=known_names(plugin_names("retrievers"), kind),
        ) from None
    except ImportError as exc:
        raise ConfigurationError(
            f'retriever "{setup.name}" needs the package {exc.name}, which is not installed',
            advice="install evalcli with the extra `embeddings`",
        ) from exc
    try:
        retriever = factory(setup)
    except EvalcliError:
        raise
    except (Exception, SystemExit) as exc:
        if kind in BUILTIN["retrievers"]:
            raise
        raise ConfigurationError(
            f'retriever "{setup.name}" ({kind}) cannot be made: {describe_foreign(exc)}'
        ) from exc
    if not isinstance(retriever, Retriever):
        raise ConfigurationError(
            f'retriever "{setup.name}": the package of type {kind} made something else',
            advice="it must have retrieve, provenance and aclose",
        )
    return retriever
