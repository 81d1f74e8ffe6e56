"""JSON values: strict reading, exact numbers, and short texts for reasons.

Numbers with a point or an exponent are `Decimal`s, so that 2.1 is a multiple of 0.1, 1e400 is a
number, and `1.0` and `1` can be told apart where a draft of JSON Schema wants that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, DecimalException
from typing import TypeAlias

from evalcli.declarations.scalars import SourceScalar, text_of
from evalcli.protocols import AssertionFaultError

JsonValue: TypeAlias = "bool | int | Decimal | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_NUMBER_CHARS = 4_000
MAX_TREE_NODES = 100_000
"""Values and keys that a schema may have."""

_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)\n")
_SIMPLE_KEY = re.compile(r"[^\W\d][\w-]*")


class JsonTextError(Exception):
    """A text is not one JSON value.

    `is_evaluated` is False where the text may be JSON, but is too much to be read.
    """

    def __init__(self, message: str, *, is_evaluated: bool = True) -> None:
        super().__init__(message)
        self.is_evaluated = is_evaluated


# --- reading ----------------------------------------------------------------------------------


def parse_json(text: str) -> JsonValue:
    """Read one JSON value, by RFC 8259 and no more.

    NaN and Infinity are refused, and so is a key that stands twice in an object: which of its
    values counts would depend on the reader.

    Raises:
        JsonTextError: the text is not one JSON value, or cannot be read.
    """
    if text.startswith("\ufeff"):
        raise JsonTextError("begins with a byte order mark (U+FEFF)")
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        place = f"line {exc.lineno}, column {exc.colno}"
        raise JsonTextError(f"is not one JSON value ({exc.msg} at {place})") from exc
    except RecursionError as exc:
        raise JsonTextError("is nested too deeply", is_evaluated=False) from exc
    except (ValueError, DecimalException) as exc:
        raise JsonTextError("has a number that is too long", is_evaluated=False) from exc
    return value


def _read_number(text: str) -> Decimal:
    if len(text) > MAX_NUMBER_CHARS:
        raise ValueError
    return Decimal(text)


def _read_whole(text: str) -> int:
    if len(text) > MAX_NUMBER_CHARS:
        raise ValueError
    return int(text)


def _refuse_constant(text: str) -> JsonValue:
    raise JsonTextError(f"is not JSON: {text} is no JSON number")


def _read_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonTextError(f"has the key {show_json(key)} twice in one object")
            seen.add(key)
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object,
    parse_float=_read_number,
    parse_int=_read_whole,
    parse_constant=_refuse_constant,
)


def take_off_fence(text: str) -> str | None:
    """Take one Markdown code fence off a text that it encloses; None where it does not.

    The fence is of three or more backticks or tildes, with any words after the first ones; only
    white space may stand around it. Source: CommonMark 0.31, section 4.5.
    """
    text = text.strip().replace("\r\n", "\n")
    opening = _FENCE.match(text)
    if opening is None:
        return None
    mark, words = opening.groups()
    if mark[0] == "`" and "`" in words:
        return None
    closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    found = closing.search(text, opening.end())
    if found is None or found.end() != len(text):
        return None
    return text[opening.end() : found.start()]


def json_tree(raw: object, path: tuple[str | int, ...]) -> JsonValue:
    """Copy a declared tree as a JSON value; keys become text, scalars their YAML 1.2 values.

    `path` is where the tree stands, for faults. Numbers without a fraction become whole.

    Raises:
        AssertionFaultError: a number is not finite, a value is none of JSON, or it is too much.
    """
    nodes = [0]
    try:
        return _copy_tree(raw, path, nodes)
    except RecursionError as exc:
        raise AssertionFaultError(
            "is nested too deeply", advice="nest less", path=path[:1]
        ) from exc


def _copy_tree(raw: object, path: tuple[str | int, ...], nodes: list[int]) -> JsonValue:
    nodes[0] += 1
    if nodes[0] > MAX_TREE_NODES:
        raise AssertionFaultError(
            f"has more than {MAX_TREE_NODES:,} values", advice="split it", path=path[:1]
        )
    if isinstance(raw, Mapping):
        names = [(text_of(key) or _source_text(key), item) for key, item in raw.items()]
        return {name: _copy_tree(item, (*path, name), nodes) for name, item in names}
    if isinstance(raw, Sequence) and not isinstance(raw, str | bytes | bytearray):
        return [_copy_tree(item, (*path, place), nodes) for place, item in enumerate(raw)]
    return _copy_scalar(raw, path)


def _source_text(key: object) -> str:
    return key.text if isinstance(key, SourceScalar) else str(key)


def _copy_scalar(raw: object, path: tuple[str | int, ...]) -> JsonValue:
    value = raw.value if isinstance(raw, SourceScalar) else raw
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | Decimal):
        # The characters in the file say exactly which number was meant.
        source = raw.text if isinstance(raw, SourceScalar) else str(value)
        try:
            number = Decimal(source)
        except DecimalException:
            number = Decimal(str(value))
        if number.is_finite():
            return _whole_where_possible(number)
        raise AssertionFaultError(
            "is no finite number, and JSON has no other", advice="write a number", path=path
        )
    raise AssertionFaultError(f"is no JSON value ({type(value).__name__})", path=path)


# --- numbers ----------------------------------------------------------------------------------


def is_whole(value: object) -> bool:
    """Whether a value is a number without a fraction, as `1` and `1.0` are."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def is_multiple(value: int | Decimal, divisor: int | Decimal) -> bool:
    """Whether `value` is a whole number of times `divisor` (above 0), exactly.

    Powers of ten are never written out, so that 1e999999999 takes no longer than 1.
    """
    value_digits, value_exponent = _split_number(value)
    digits, exponent = _split_number(divisor)
    shift = value_exponent - exponent
    if value_digits == 0:
        return True
    if shift >= 0:
        return value_digits * pow(10, shift, digits) % digits == 0
    # 10^-shift has more digits than the value, so the value cannot be a multiple of it.
    if -shift > MAX_NUMBER_CHARS:
        return False
    whole: int = digits * 10**-shift
    return value_digits % whole == 0


def _split_number(number: int | Decimal) -> tuple[int, int]:
    if isinstance(number, int):
        return abs(number), 0
    _, digits, exponent = number.as_tuple()
    # Infinities and NaN, which have a letter there, are refused when a number is read.
    return int("".join(map(str, digits))), int(exponent)


def _whole_where_possible(number: Decimal) -> int | Decimal:
    """Turn `2.0` and `1e3` into whole numbers; what would have hundreds of digits stays."""
    return int(number) if number.adjusted() < 300 and is_whole(number) else number


def plain_numbers(value: JsonValue) -> object:
    """Replace exact numbers by what a canonical text can hold: equal ones by equal values."""
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_numbers(item) for item in value]
    if isinstance(value, Decimal):
        number = _whole_where_possible(value)
        return number if isinstance(number, int) else {"number": str(number.normalize())}
    return value


# --- texts ------------------------------------------------------------------------------------


def show_json(value: object, limit: int = 60) -> str:
    """Write a value as JSON on one line, cut after `limit` characters."""
    text = "".join(_pieces(value, limit))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _pieces(value: object, limit: int) -> list[str]:
    """Write about `limit` characters of a value, in pieces; the rest is not looked at."""
    if isinstance(value, str):
        return [json.dumps(value[: limit + 1], ensure_ascii=False)]
    if isinstance(value, Mapping):
        return _inner_pieces("{", value.items(), "}", limit)
    if isinstance(value, Sequence):
        return _inner_pieces("[", ((None, item) for item in value), "]", limit)
    return [str(value) if isinstance(value, Decimal) else json.dumps(value)]


def _inner_pieces(
    start: str, items: Iterable[tuple[str | None, object]], end: str, limit: int
) -> list[str]:
    pieces, size = [start], 1
    for key, item in items:
        if size > limit:
            return pieces
        part = [", "] if len(pieces) > 1 else []
        if key is not None:
            part.append(f"{json.dumps(key[:limit], ensure_ascii=False)}: ")
        part += _pieces(item, limit - size)
        pieces += part
        size += sum(map(len, part))
    return [*pieces, end]


def show_path(path: Iterable[str | int]) -> str:
    """Write a place in a value as `items[0].name`; empty for the value as a whole."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _SIMPLE_KEY.fullmatch(step) and len(step) <= 60:
            text += f".{step}" if text else step
        else:
            text += f"[{show_json(step)}]"
    return text
