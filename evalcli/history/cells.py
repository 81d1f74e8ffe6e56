"""Values as they stand in the history's cells, and back.

Exact numbers are text beside a REAL for SQL, times are ISO 8601 in UTC, records are JSON. Any text
can be stored: what SQLite's TEXT cannot hold becomes a BLOB.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

Cell = str | bytes | int | float | None
"""What a cell can hold."""

RecordT = TypeVar("RecordT")

_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_MAX_INTEGER = 2**63 - 1
_MAX_EXPONENT = 40


def text_cell(text: str | None) -> str | bytes | None:
    """Store a text: TEXT where it is valid UTF-8 without NUL, else a BLOB of the same characters.

    Equal texts give equal cells, so that ids can be looked up by their cell.
    """
    if text is None:
        return None
    if "\0" in text:
        return text.encode("utf-8", "surrogatepass")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")
    return text


def read_text(cell: object) -> str | None:
    """Read a cell of `text_cell`."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogatepass")
    return None if cell is None else str(cell)


def need_text(cell: object) -> str:
    """Read a cell of `text_cell` that is never NULL."""
    return read_text(cell) or ""


def integer_cell(value: int | None) -> int | None:
    """Store a count; what does not fit 64 bits was no count, and is as good as not reported."""
    if value is None or not -_MAX_INTEGER <= value <= _MAX_INTEGER:
        return None
    return value


def read_integer(cell: object) -> int | None:
    """Read an INTEGER cell."""
    return cell if isinstance(cell, int) else None


def need_integer(cell: object) -> int:
    """Read an INTEGER cell that is never NULL."""
    return cell if isinstance(cell, int) else 0


def flag_cell(value: bool | None) -> int | None:
    """Store a statement as 1 or 0."""
    return None if value is None else int(value)


def read_flag(cell: object) -> bool | None:
    """Read a cell of `flag_cell`."""
    return None if cell is None else bool(cell)


def real_cell(value: Fraction | None) -> float | None:
    """Store the nearest REAL of an exact number, for SQL to count with."""
    return None if value is None else float(value)


def exact_cell(value: Fraction | None) -> str | None:
    """Store an exact number as a fraction, such as `37/40`."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def read_exact(cell: object) -> Fraction | None:
    """Read a cell of `exact_cell` or `limit_cell`."""
    return _fraction(cell) if isinstance(cell, str) else None


def need_exact(cell: object) -> Fraction:
    """Read a cell of `exact_cell` or `limit_cell` that is never NULL."""
    return _fraction(need_text(cell))


@lru_cache(maxsize=4096)
def _fraction(text: str) -> Fraction:
    """Parse a fraction once: thousands of prompts share a few shares and scores."""
    return Fraction(text)


def limit_cell(value: Fraction | None) -> str | None:
    """Store a limit as the decimal a person wrote, `0.05`; as a fraction where none is exact."""
    if value is None:
        return None
    digits = _decimal_digits(value.denominator)
    if digits is None:
        return exact_cell(value)
    return f"{Decimal(value.numerator * 10**digits // value.denominator).scaleb(-digits):f}"


def _decimal_digits(denominator: int) -> int | None:
    """Count the decimals that a fraction with this denominator needs; None where none suffice."""
    for digits in range(16):
        if 10**digits % denominator == 0:
            return digits
    return None


def decimal_cell(value: Decimal | None) -> str | None:
    """Store an amount in plain digits; one of absurd size keeps its exponent."""
    if value is None:
        return None
    if not value.is_finite() or abs(value.adjusted()) > _MAX_EXPONENT:
        return str(value)
    return f"{value:f}"


def read_decimal(cell: object) -> Decimal | None:
    """Read a cell of `decimal_cell`."""
    return Decimal(cell) if isinstance(cell, str) else None


def time_cell(value: datetime | None) -> str | None:
    """Store an instant as ISO 8601 in UTC with milliseconds and `Z`, so that text order is order.

    Raises:
        ValueError: the time has no zone and so is no instant.
    """
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError(f"{value} has no time zone")
    in_utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds")[:-6] + "Z"


def read_time(cell: object) -> datetime | None:
    """Read a cell of `time_cell`."""
    return datetime.fromisoformat(cell) if isinstance(cell, str) else None


def need_time(cell: object) -> datetime:
    """Read a cell of `time_cell` that is never NULL."""
    return datetime.fromisoformat(need_text(cell))


def json_cell(value: object) -> str | bytes | None:
    """Store a record, or a tree of records, as JSON: readable text, nothing lost."""
    return text_cell(_encode_json(plain_value(value)))


def plain_json_cell(value: list[dict[str, str | bool]]) -> str | bytes | None:
    """Store plain values as JSON, without looking for records in them: it is much faster."""
    return text_cell(_encode_json(value))


def read_json(cell: object) -> object:
    """Read a cell of `json_cell` as plain values; None where it is NULL."""
    text = read_text(cell)
    return None if text is None else json.loads(text)


def read_record(kind: type[RecordT], cell: object) -> RecordT:
    """Read a cell of `json_cell` as the record it was. Unknown keys are left out."""
    record = _build(kind, read_json(cell))
    if not isinstance(record, kind):
        raise TypeError(f"the cell holds no {kind.__name__}")
    return record


def read_optional(kind: type[RecordT], cell: object) -> RecordT | None:
    """Read a cell of `json_cell` as the record it was; None where it is NULL."""
    return None if cell is None else read_record(kind, cell)


def read_records(kind: type[RecordT], cell: object) -> tuple[RecordT, ...]:
    """Read a cell of `json_cell` that holds a list of records; empty where it is NULL."""
    items = read_json(cell)
    built = [_build(kind, item) for item in items] if isinstance(items, list) else []
    return tuple(item for item in built if isinstance(item, kind))


def read_texts(cell: object) -> tuple[str, ...]:
    """Read a cell of `json_cell` that holds a list of texts; empty where it is NULL."""
    value = read_json(cell)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def plain_value(value: object) -> object:
    """Turn a record into what JSON can say: fractions, amounts and times become exact text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Fraction):
        return exact_cell(value)
    if isinstance(value, Decimal):
        return decimal_cell(value)
    if isinstance(value, datetime):
        return time_cell(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if is_dataclass(value):
        return {f.name: plain_value(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _build(kind: object, value: object) -> object:
    """Make a value of a record's field type from its plain form."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _build(next(arg for arg in get_args(kind) if arg is not NoneType), value)
    if origin is tuple and isinstance(value, list):
        return tuple(_build(get_args(kind)[0], item) for item in value)
    if origin is not None and isinstance(value, dict):
        key_kind, item_kind = get_args(kind)
        as_key = int if key_kind is int else str
        return {as_key(key): _build(item_kind, item) for key, item in value.items()}
    if isinstance(kind, type):
        return _build_plain(kind, value)
    return value


def _build_plain(kind: type, value: object) -> object:
    if kind is datetime:
        return read_time(value)
    if kind in (Fraction, Decimal) or issubclass(kind, StrEnum):
        return kind(str(value))
    if is_dataclass(kind) and isinstance(value, dict):
        hints = _field_types(kind)
        return kind(
            **{name: _build(hints[name], item) for name, item in value.items() if name in hints}
        )
    return value


@cache
def _field_types(kind: type) -> Mapping[str, object]:
    return get_type_hints(kind)
