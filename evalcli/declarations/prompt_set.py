"""Golden prompt sets: prompts with what a right answer must satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, WithJsonSchema, model_validator

from evalcli.declarations.scalars import (
    AsList,
    Declaration,
    LongText,
    NonEmptyLongText,
    NonEmptyText,
    Path,
    TakeText,
    Text,
    ValueFaultError,
    cite,
    text_of,
)

IDENTIFIER_PATTERN = r"^[a-z0-9_]+(\.[a-z0-9_]+)*$"
"""Dotted and lower-case, by convention `vendor.set`."""


class DataClass(StrEnum):
    """How sensitive a text is, least to most."""

    PUBLIC_CONTENT = "public_content"
    EDITOR_CONTENT = "editor_content"
    SOURCE_CODE = "source_code"
    INTERNAL_CONFIGURATION = "internal_configuration"
    SYSTEM_DIAGNOSTICS = "system_diagnostics"
    SECRET_ADJACENT = "secret_adjacent"  # noqa: S105 - the name of a data class


Identifier = Annotated[
    str,
    TakeText,
    Field(pattern=IDENTIFIER_PATTERN),
    WithJsonSchema({"type": ["string", "number"], "pattern": IDENTIFIER_PATTERN}),
]
"""What a declaration is called by on the command line."""


class AssertionDeclaration(Declaration):
    """One assertion as written: a mapping of which one key names its type.

    `body` is kept raw (it may hold `SourceScalar`s) because only the assertion's type knows
    whether a value is text, a number or a schema; `graders.deterministic` reads it.
    """

    body: dict[Any, Any]

    @model_validator(mode="before")
    @classmethod
    def _wrap_body(cls, raw: object) -> object:
        if isinstance(raw, AssertionDeclaration):
            return raw
        if isinstance(raw, Mapping):
            return {"body": dict(raw)}
        raise ValueFaultError(
            "must be a mapping", advice='write a type and its value, such as "contains: Monday"'
        )


class GoldenPrompt(Declaration):
    """One prompt of a golden set, with its assertions and its reference.

    `system` replaces the configuration's system prompt; `reference` is the evidence of the
    decision grader; `skip` leaves the prompt out and says why.
    """

    id: NonEmptyText
    prompt: NonEmptyLongText
    system: LongText | None = None
    reference: NonEmptyLongText | None = None
    assertions: Annotated[tuple[AssertionDeclaration, ...], AsList] = ()
    skip: NonEmptyText | None = None


class PromptSet(Declaration):
    """A golden prompt set: one file in `sets/`."""

    kind: Annotated[Literal["prompts"], TakeText]
    identifier: Identifier
    name: NonEmptyText
    description: Text = ""
    data_class: Annotated[DataClass, Field(strict=False), TakeText] = DataClass.EDITOR_CONTENT
    prompts: Annotated[tuple[GoldenPrompt, ...], AsList, Field(min_length=1)]

    @model_validator(mode="after")
    def _check_prompts(self, info: ValidationInfo) -> PromptSet:
        # The loader applies the same rules to the file's own tree, where faults have places.
        if not (info.context or {}).get("has_places"):
            raw = [
                {name: value for name, value in prompt if value not in ((), None)}
                for prompt in self.prompts
            ]
            for fault in prompt_faults(raw):
                raise ValueFaultError(fault.message, advice=fault.advice, path=fault.path)
        return self


@dataclass(frozen=True, slots=True)
class PromptFault:
    """One broken rule between the parts of a set.

    `first` is the path of the earlier use where the fault is a repetition.
    """

    path: Path
    message: str
    advice: str
    first: Path | None = None


def prompt_faults(prompts: Sequence[object]) -> Iterator[PromptFault]:
    """Check what no single field shows: ids are unique, each prompt has something to check.

    Shapes: `prompts` holds mappings of field name to value, as declared or as read.
    """
    repeated = find_repeated_ids("prompts", prompts)
    for index, prompt in enumerate(prompts):
        if isinstance(prompt, Mapping):
            if index in repeated:
                yield repeated[index]
            yield from _grading_faults(index, prompt)


def find_repeated_ids(key: str, rows: Sequence[object]) -> dict[int, PromptFault]:
    """Find the rows below `key` whose id an earlier row has, by their numbers."""
    first_by_id: dict[str, int] = {}
    faults: dict[int, PromptFault] = {}
    for index, row in enumerate(rows):
        identifier = text_of(row.get("id")) if isinstance(row, Mapping) else None
        if identifier is None:
            continue
        first = first_by_id.setdefault(identifier, index)
        if first != index:
            faults[index] = PromptFault(
                path=(key, index, "id"),
                message=f"{cite(identifier)} is used twice",
                advice="give it another id",
                first=(key, first, "id"),
            )
    return faults


def _grading_faults(index: int, prompt: Mapping[Any, object]) -> Iterator[PromptFault]:
    """Find a prompt that nothing could grade, and a list of assertions that holds none."""
    assertions = prompt.get("assertions")
    if isinstance(assertions, list | tuple) and not assertions:
        yield PromptFault(
            path=("prompts", index, "assertions"),
            message="is empty",
            advice="add an assertion, or leave the key out and give a reference",
        )
    elif assertions is None and prompt.get("reference") is None:
        yield PromptFault(
            path=("prompts", index),
            message="has neither assertions nor a reference, so nothing would be checked",
            advice="add at least one assertion, or a reference",
        )
