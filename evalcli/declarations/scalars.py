"""The types of scalar a declaration may have, and how a YAML scalar becomes one of them.

A plain YAML scalar has a source text (`234_0`) and a YAML 1.2 value (here the text again; for
`12` the integer). The loader hands both over as one `SourceScalar`; the field's type chooses.
Values that come from Python code are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
)

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a document, or from one of its values, downwards."""


class ValueFaultError(ValueError):
    """A declared value cannot work: what is wrong, and what to write instead.

    `path` is the place below the value, empty for the value as a whole. Neither text may repeat
    a value that could be a secret.
    """

    def __init__(self, message: str, *, advice: str = "", path: Path = ()) -> None:
        super().__init__(f"{message}; {advice}" if advice else message)
        self.message = message
        self.advice = advice
        self.path = path
        self.others: tuple[ValueFaultError, ...] = ()

    @classmethod
    def of(cls, faults: Sequence[ValueFaultError]) -> ValueFaultError:
        """Raise several at once: the first one, with the `others` it stands for."""
        first = faults[0]
        first.others = tuple(faults[1:])
        return first


@dataclass(frozen=True, slots=True)
class SourceScalar:
    """A scalar as it stood in a file: its characters, and its YAML 1.2 core value.

    `text` is the scalar's content (after quoting and folding are undone); `value` is a str, int,
    float, bool or None by the YAML 1.2 core schema. A quoted scalar has `value == text`.
    """

    text: str
    value: str | int | float | bool | None
    is_plain: bool = True


class Declaration(BaseModel):
    """Base of all declarations: frozen, strict, no unknown keys, no values in error texts."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        defer_build=True,  # most commands use few of the models; each is built when first used
    )


def _take_text(raw: object) -> object:
    if isinstance(raw, SourceScalar):
        if raw.value is None:
            raise _no_text(raw.text)
        return raw.text
    if raw is None:
        raise _no_text("null")
    return raw


def _no_text(source: str) -> ValueFaultError:
    if source == "":
        return ValueFaultError(
            "is empty where text is needed", advice='write the text, in quotes: "…"'
        )
    return ValueFaultError("is null where text is needed", advice=f'quote it: "{source}"')


def _take_long_text(raw: object, info: ValidationInfo) -> object:
    """Take text, or `{file: path}` through the reader the loader put in the context."""
    if not isinstance(raw, Mapping):
        return _take_text(raw)
    if [_key_text(key) for key in raw] != ["file"]:
        raise ValueFaultError(
            "must be text, or a mapping with the one key `file`",
            advice="write the text, or {file: path/in/the/workspace.md}",
        )
    path = _take_text(next(iter(raw.values())))
    read_text = (info.context or {}).get("read_text")
    if read_text is None:
        raise ValueFaultError("texts in files can be named in YAML files only")
    if not isinstance(path, str):
        raise ValueFaultError("must be the path of a file", path=("file",))
    return read_text(path)


def _refuse_blank(text: str) -> str:
    if not text.strip():
        raise ValueFaultError("is empty", advice="write the text")
    return text


def _take_value(raw: object) -> object:
    if isinstance(raw, SourceScalar):
        return raw.value
    return raw


def _take_decimal(raw: object) -> object:
    if isinstance(raw, SourceScalar):
        if isinstance(raw.value, bool) or not isinstance(raw.value, int | float):
            return raw.value
        is_based = raw.text.startswith(("0x", "0o"))
        return _finite_decimal(str(raw.value) if is_based else raw.text)
    if isinstance(raw, int | float | str | Decimal) and not isinstance(raw, bool):
        return _finite_decimal(str(raw))
    return raw


def _finite_decimal(text: str) -> object:
    """Read a number exactly; `.inf`, `.nan` and numbers too large to calculate with are faults."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        if text.lstrip("+-").lower() not in (".inf", ".nan"):
            return text
        number = Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > _MAX_EXPONENT:
        raise ValueFaultError("must be a finite number", advice="write a number such as 0.1")
    return number


_MAX_EXPONENT = 1000
"""Bound on a number's size, so that exact arithmetic with it stays cheap."""


def plain_value(raw: object) -> object:
    """Turn a tree of mappings, lists and scalars into YAML 1.2 values; keys become text."""
    if isinstance(raw, SourceScalar):
        return raw.value
    if isinstance(raw, dict):
        return {_key_text(key): plain_value(item) for key, item in raw.items()}
    if isinstance(raw, list | tuple):
        return [plain_value(item) for item in raw]
    return raw


def source_value(raw: object) -> object:
    """Turn a tree of mappings, lists and scalars into source texts; keys become text."""
    if isinstance(raw, SourceScalar):
        return None if raw.value is None and raw.is_plain else raw.text
    if isinstance(raw, dict):
        return {_key_text(key): source_value(item) for key, item in raw.items()}
    if isinstance(raw, list | tuple):
        return [source_value(item) for item in raw]
    return raw


def _key_text(key: object) -> str:
    return key.text if isinstance(key, SourceScalar) else str(key)


def text_of(raw: object) -> str | None:
    """Read the text of a scalar where it has one; None for anything else."""
    if isinstance(raw, SourceScalar):
        return None if raw.value is None else raw.text
    return raw if isinstance(raw, str) else None


def cite(text: str) -> str:
    """Quote an outside text for a message, cut short; whoever prints it escapes it."""
    return f'"{text if len(text) <= _MAX_CITED else text[: _MAX_CITED - 1] + "…"}"'


_MAX_CITED = 60

# Editors read a plain `007` as a number and `true` as a boolean; the loader takes the characters.
_SCALAR_TYPES = ["string", "number", "boolean"]
_TEXT_SCHEMA = {"type": _SCALAR_TYPES}
_NON_EMPTY_SCHEMA = {"type": _SCALAR_TYPES, "minLength": 1}


def _long_text_schema(text: dict[str, object]) -> dict[str, object]:
    in_file = {
        "type": "object",
        "description": "The text stands in this file of the workspace.",
        "properties": {"file": {"type": "string", "minLength": 1}},
        "required": ["file"],
        "additionalProperties": False,
    }
    return {"anyOf": [text, in_file]}


Text = Annotated[str, BeforeValidator(_take_text), WithJsonSchema(_TEXT_SCHEMA)]
"""Text as written: a plain scalar keeps its source characters."""

LongText = Annotated[
    str, BeforeValidator(_take_long_text), WithJsonSchema(_long_text_schema(_TEXT_SCHEMA))
]
"""Text, or `{file: path}` that names a file of the workspace."""

NonEmptyText = Annotated[
    str,
    BeforeValidator(_take_text),
    AfterValidator(_refuse_blank),
    WithJsonSchema(_NON_EMPTY_SCHEMA),
]
"""Text with at least one character that is not space."""

NonEmptyLongText = Annotated[
    str,
    BeforeValidator(_take_long_text),
    AfterValidator(_refuse_blank),
    WithJsonSchema(_long_text_schema(_NON_EMPTY_SCHEMA)),
]
"""Like `LongText`, with at least one character that is not space."""

TakeText = BeforeValidator(_take_text)
"""For words out of a list (enums, literals): take the characters, then look them up."""

AsList = Field(strict=False)
"""For tuples: a YAML list is one, and so is a Python list."""

Whole = Annotated[int, BeforeValidator(_take_value)]
"""A whole number by YAML 1.2."""

Flag = Annotated[bool, BeforeValidator(_take_value)]
"""`true` or `false`, nothing else."""

Exact = Annotated[Decimal, BeforeValidator(_take_decimal)]
"""A finite decimal number, exactly as written."""

Json = Annotated[Any, BeforeValidator(plain_value)]
"""Any YAML 1.2 value, with text keys."""
