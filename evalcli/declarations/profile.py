"""Decision profiles: versioned sets of typed questions about a subject."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from evalcli.declarations.prompt_set import DataClass, Identifier, PromptFault
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

MAX_KEY = 64
OPTIONS = (2, 255)
LEVELS = (2, 10)
"""The fewest and the most of each."""

_MAX_VERSION = 2**31 - 1
_KEY = re.compile(r"[a-z][a-z0-9_]*")
KEY_PATTERN = rf"^[a-z][a-z0-9_]{{0,{MAX_KEY - 1}}}$"
"""The key of a question, for editors; the loader says which of its two rules is broken."""


class SubjectField(StrEnum):
    """What a subject may consist of."""

    TASK = "task"
    CANDIDATE = "candidate"
    EVIDENCE = "evidence"


def _list_schema(bounds: tuple[int, int]) -> WithJsonSchema:
    """Tell an editor how many different texts a list needs."""
    return WithJsonSchema(
        {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"], "minLength": 1},
            "minItems": bounds[0],
            "maxItems": bounds[1],
            "uniqueItems": True,
        }
    )


class YesNoQuestion(Declaration):
    """A question that is answered by how probable a yes is.

    `yes` and `no` say what either answer means.
    """

    type: Annotated[Literal["yes_no"], TakeText] = "yes_no"
    instructions: NonEmptyLongText
    yes: NonEmptyText | None = None
    no: NonEmptyText | None = None


class ChoiceQuestion(Declaration):
    """A question that is answered by one of its options.

    `descriptions` say, by option, what an option means; not every option needs one.
    """

    type: Annotated[Literal["choice"], TakeText] = "choice"
    instructions: NonEmptyLongText
    options: Annotated[tuple[NonEmptyText, ...], AsList, _list_schema(OPTIONS)]
    descriptions: dict[Text, NonEmptyText] = Field(default_factory=dict)


class ScoreQuestion(Declaration):
    """A question that is answered by a level: 0 for the first one, possibly between two."""

    type: Annotated[Literal["score"], TakeText] = "score"
    instructions: NonEmptyLongText
    levels: Annotated[tuple[NonEmptyText, ...], AsList, _list_schema(LEVELS)]


QUESTION_TYPES: Mapping[str, type[Declaration]] = {
    "yes_no": YesNoQuestion,
    "choice": ChoiceQuestion,
    "score": ScoreQuestion,
}
"""The types of question by the word that `type:` says."""


def _check_type(raw: object) -> object:
    """Refuse a question whose type is missing or unknown: nothing else of it can be judged."""
    if not isinstance(raw, Mapping):
        return raw
    kinds = ", ".join(QUESTION_TYPES)
    if "type" not in raw:
        message = 'the key "type" is missing'
        raise ValueFaultError(message, advice=f"add one of {kinds}")
    name = text_of(raw["type"])
    if name in QUESTION_TYPES:
        return raw
    near = get_close_matches(name or "", QUESTION_TYPES, n=1)
    advice = f'write "{near[0]}"; known: {kinds}' if near else f"write one of {kinds}"
    message = "must be one word" if name is None else f"{cite(name)} is no type of question"
    raise ValueFaultError(message, advice=advice, path=("type",))


def _type_of(raw: object) -> str:
    if isinstance(raw, Mapping):
        return f"({text_of(raw.get('type'))})"
    return f"({getattr(raw, 'type', 'yes_no')})"  # what is no mapping is refused by any of them


Question = Annotated[
    Annotated[YesNoQuestion, Tag("(yes_no)")]
    | Annotated[ChoiceQuestion, Tag("(choice)")]
    | Annotated[ScoreQuestion, Tag("(score)")],
    Discriminator(_type_of),
]
"""One typed question."""


class Profile(Declaration):
    """A decision profile: one file in `profiles/`.

    `requires` names the fields that a subject must have. `version` is raised whenever a question,
    an option, a level, a criterion or an instruction changes.
    """

    kind: Annotated[Literal["profile"], TakeText]
    identifier: Identifier
    version: Annotated[Whole, Field(ge=1, le=_MAX_VERSION)]
    description: Text = ""
    data_class: Annotated[DataClass, Field(strict=False), TakeText] = DataClass.EDITOR_CONTENT
    requires: Annotated[
        tuple[Annotated[SubjectField, Field(strict=False), TakeText], ...], AsList
    ] = ()
    questions: dict[Text, Annotated[Question, BeforeValidator(_check_type)]]

    @model_validator(mode="after")
    def _check_questions(self, info: ValidationInfo) -> Profile:
        # The loader applies the same rules to the file's own tree, where faults have places.
        if not (info.context or {}).get("has_places"):
            for fault in profile_faults(self.model_dump()):
                raise ValueFaultError(fault.message, advice=fault.advice, path=fault.path)
        return self

    def content(self) -> dict[str, object]:
        """Give all that a decision by this profile rests on: its questions, as JSON values.

        Names, descriptions of the profile and the order of its questions do not count.
        """
        return {
            key: question.model_dump(mode="json", exclude_none=True)
            for key, question in sorted(self.questions.items())
        }


# --- rules between the parts ----------------------------------------------------------------------


def profile_faults(tree: Mapping[Any, object]) -> Iterator[PromptFault]:
    """Check what no single field shows: keys, numbers of options and levels, repetitions.

    Shapes: `tree` maps field name to value, as declared or as read.
    """
    required = tree.get("requires")
    yield from _repetitions(("requires",), required, "is required twice", "leave one out")
    questions = tree.get("questions")
    if not isinstance(questions, Mapping):
        return
    if not questions:
        yield PromptFault(("questions",), "is empty", "add at least one question")
    for raw_key, question in questions.items():
        key = text_of(raw_key) or str(raw_key)
        yield from _key_faults(key)
        if isinstance(question, Mapping):
            path: Path = ("questions", key)
            yield from _list_faults((*path, "options"), question.get("options"), "option", OPTIONS)
            yield from _list_faults((*path, "levels"), question.get("levels"), "level", LEVELS)
            yield from _description_faults(path, question)


def _key_faults(key: str) -> Iterator[PromptFault]:
    path: Path = ("questions", key)
    if not _KEY.fullmatch(key):
        yield PromptFault(
            path,
            f"{cite(key)} is no key of a question",
            "begin with a lower-case letter, go on with those, digits and _",
        )
    elif len(key) > MAX_KEY:
        message = f"the key has {len(key)} characters, and {MAX_KEY} at most are allowed"
        yield PromptFault(path, message, "give the question a shorter key")


def _list_faults(
    path: Path, items: object, noun: str, bounds: tuple[int, int]
) -> Iterator[PromptFault]:
    if not isinstance(items, list | tuple):
        return
    fewest, most = bounds
    if not fewest <= len(items) <= most:
        message = f"needs {fewest} to {most} {noun}s, has {len(items)}"
        advice = "add another" if len(items) < fewest else "leave some out"
        yield PromptFault(path, message, advice)
    message = f"is the same {noun} twice"
    yield from _repetitions(path, items, message, f"give each {noun} a text of its own")


def _repetitions(path: Path, items: object, message: str, advice: str) -> Iterator[PromptFault]:
    first: dict[str, int] = {}
    for index, raw in enumerate(items if isinstance(items, list | tuple) else ()):
        text = text_of(raw)
        if text is not None and text in first:
            yield PromptFault(
                path=(*path, index),
                message=f"{cite(text)} {message}",
                advice=advice,
                first=(*path, first[text]),
            )
        elif text is not None:
            first[text] = index


def _description_faults(path: Path, question: Mapping[Any, object]) -> Iterator[PromptFault]:
    descriptions, options = question.get("descriptions"), question.get("options")
    if not isinstance(descriptions, Mapping) or not isinstance(options, list | tuple):
        return
    known = _texts(options)
    for raw in descriptions:
        name = text_of(raw) or str(raw)
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f'write "{near[0]}"' if near else "describe options only"
            message = f"{cite(name)} is no option of this question"
            yield PromptFault((*path, "descriptions", name), message, advice)


def _texts(items: Sequence[object]) -> Collection[str]:
    return [text for item in items if (text := text_of(item)) is not None]
