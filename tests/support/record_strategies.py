"""Hypothesis strategies for records, made from the types of their fields.

A field that is added to a record is therefore tested without a change here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

RecordT = TypeVar("RecordT")

any_text = st.text(st.characters(exclude_categories=()), max_size=12)
"""Every text Python can hold: NUL, lone surrogates, control and bidi characters included."""

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | any_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(any_text, inner, max_size=2),
    max_leaves=4,
)

_PLAIN: dict[type, st.SearchStrategy[object]] = {
    str: any_text,
    int: st.integers(0, 2**53),
    bool: st.booleans(),
    float: st.floats(0, 1e9, allow_nan=False),
    Fraction: st.fractions(0, 1, max_denominator=1000),
    Decimal: st.decimals(0, 10**6, allow_nan=False, allow_infinity=False, places=9),
    datetime: st.datetimes(
        datetime(1970, 1, 2),  # noqa: DTZ001 - the zone is given beside
        datetime(2999, 1, 1),  # noqa: DTZ001
        timezones=st.just(UTC),
    ).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)),
    object: _JSON,
}


def records_of(
    kind: type[RecordT], given: Mapping[str, st.SearchStrategy[object]] | None = None
) -> st.SearchStrategy[RecordT]:
    """Make any record of a kind; `given` replaces the strategies of fields by name."""
    hints = get_type_hints(kind)
    own = given or {}
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no record")
    parts = {f.name: own[f.name] if f.name in own else _of(hints[f.name]) for f in fields(kind)}
    return st.builds(kind, **parts)


def _of(hint: object) -> st.SearchStrategy[object]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of(*(st.none() if arg is NoneType else _of(arg) for arg in args))
    if origin is tuple:
        return st.lists(_of(args[0]), max_size=3).map(tuple)
    if origin is not None:
        return st.dictionaries(_of(args[0]), _of(args[1]), max_size=2)
    if not isinstance(hint, type):
        raise TypeError(f"no strategy for {hint!r}")
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return _PLAIN[hint] if hint in _PLAIN else records_of(hint)
