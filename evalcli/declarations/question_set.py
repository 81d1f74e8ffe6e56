"""Golden question sets: questions labelled with the documents that answer them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from evalcli.declarations.prompt_set import (
    DataClass,
    Identifier,
    PromptFault,
    find_repeated_ids,
)
from evalcli.declarations.scalars import (
    AsList,
    Declaration,
    NonEmptyLongText,
    NonEmptyText,
    Path,
    TakeText,
    Text,
    ValueFaultError,
    Whole,
    cite,
    text_of,
)


class Form(StrEnum):
    """How a question is worded: in its document's own words, or in everyday ones."""

    MATCH = "match"
    GAP = "gap"


MAX_GRADE = 1_000_000
Grade = Annotated[Whole, Field(ge=1, le=MAX_GRADE)]
"""How well a document answers, larger is better; one that does not answer is left out."""


def _form_of_expected(raw: object) -> str:
    return "(graded)" if isinstance(raw, Mapping) else "(list)"


Expected = Annotated[
    Annotated[tuple[NonEmptyText, ...], AsList, Tag("(list)")]
    | Annotated[dict[NonEmptyText, Grade], Tag("(graded)")],
    Discriminator(_form_of_expected),
]
"""All documents that answer a question, as a list or as document id → grade."""


class GoldenQuestion(Declaration):
    """One question and all documents that answer it.

    `expected` is empty where nothing in the corpus answers the question. `gist` is for people and
    never scored.
    """

    id: NonEmptyText
    question: NonEmptyLongText
    form: Annotated[Form, Field(strict=False), TakeText]
    expected: Expected
    hard_class: NonEmptyText | None = None
    gist: Text | None = None

    @property
    def grades(self) -> Mapping[str, int]:
        """Document id → grade; a plain list gives every document the grade 1."""
        if isinstance(self.expected, dict):
            return self.expected
        return dict.fromkeys(self.expected, 1)


def _take_questions(raw: object, info: ValidationInfo) -> object:
    """Take a list, or `{file: path}` through the reader the loader put in the context."""
    if not isinstance(raw, Mapping):
        return raw
    if [str(getattr(key, "text", key)) for key in raw] != ["file"]:
        raise ValueFaultError(
            "must be a list, or a mapping with the one key `file`",
            advice="write the questions, or {file: handbook.jsonl}",
        )
    path = text_of(next(iter(raw.values())))
    read_questions = (info.context or {}).get("read_questions")
    if read_questions is None:
        raise ValueFaultError("questions in files can be named in YAML files only")
    if path is None:
        raise ValueFaultError("must be the path of a file", path=("file",))
    return read_questions(path)


class QuestionSet(Declaration):
    """A golden question set: one file in `sets/`, large ones with a JSONL file beside it."""

    kind: Annotated[Literal["questions"], TakeText]
    identifier: Identifier
    name: NonEmptyText
    description: Text = ""
    data_class: Annotated[DataClass, Field(strict=False), TakeText] = DataClass.EDITOR_CONTENT
    questions: Annotated[
        tuple[GoldenQuestion, ...],
        AsList,
        Field(min_length=1),
        BeforeValidator(_take_questions),
    ]

    @model_validator(mode="after")
    def _check_questions(self, info: ValidationInfo) -> QuestionSet:
        # The loader applies the same rules to the file's own tree, where faults have places.
        if not (info.context or {}).get("has_places"):
            raw = [{"id": one.id, "expected": one.expected} for one in self.questions]
            for fault in question_faults(raw):
                raise ValueFaultError(fault.message, advice=fault.advice, path=fault.path)
        return self


def question_faults(questions: Sequence[object]) -> Iterator[PromptFault]:
    """Check what no single field shows: question ids, and expected ids, are unique.

    Shapes: `questions` holds mappings of field name to value, as declared or as read.
    """
    repeated = find_repeated_ids("questions", questions)
    for index, question in enumerate(questions):
        if isinstance(question, Mapping):
            if index in repeated:
                yield repeated[index]
            yield from _expected_faults(("questions", index, "expected"), question.get("expected"))


def _expected_faults(path: Path, expected: Any) -> Iterator[PromptFault]:
    """Find a document that is expected twice; in a mapping the loader refuses double keys."""
    if not isinstance(expected, list | tuple):
        return
    first_by_id: dict[str, int] = {}
    for index, raw in enumerate(expected):
        identifier = text_of(raw)
        if identifier is None:
            continue
        if identifier in first_by_id:
            yield PromptFault(
                path=(*path, index),
                message=f"{cite(identifier)} is expected twice",
                advice="leave one out",
                first=(*path, first_by_id[identifier]),
            )
        else:
            first_by_id[identifier] = index
