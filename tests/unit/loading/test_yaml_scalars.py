"""What a plain scalar means by YAML 1.2."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.loading.yaml_scalars import core_value, has_tagged_type


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "no", "on", "off", "y", "n", "Yes", "NO", "On", "OFF", "Y", "N"),
        *("2026-11-30", "2026-11-30T12:00:00Z", "12:30", "12:30:45", "190:20:30"),
        *("234_0", "1_000", "0b101", "0x", "0o9", "0xG", "+0x1F", "-0o7", "1e", "e3", "."),
        *("+", "-", "--1", "1.2.3", "1,000", "١٢", "nan", "inf", ".Nan", "+.nan", "tRUE", "nUll"),
        *("<<", "=", "~~", "Null ", "0.1e", "1 2", "-.", "+.e3"),
    ],
)
def test_text_stays_text(text: str) -> None:
    assert core_value(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None)),
        *(("true", True), ("True", True), ("TRUE", True)),
        *(("false", False), ("False", False), ("FALSE", False)),
        *(("0", 0), ("007", 7), ("-12", -12), ("+3", 3), ("0o17", 15), ("0x1F", 31), ("010", 10)),
        *(("1.", 1.0), (".5", 0.5), ("-0.0", -0.0), ("1e3", 1000.0), ("+1.5E-2", 0.015)),
        *((".inf", math.inf), ("+.INF", math.inf), ("-.Inf", -math.inf), ("1e999", math.inf)),
    ],
)
def test_core_types(text: str, value: object) -> None:
    found = core_value(text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text: str) -> None:
    found = core_value(text)

    assert isinstance(found, float)
    assert math.isnan(found)


def test_digits_without_end_are_text() -> None:
    text = "9" * 5000

    assert core_value(text) == text


@given(st.integers(min_value=-(10**300), max_value=10**300))
def test_every_integer_reads_back(number: int) -> None:
    assert core_value(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(number: float) -> None:
    assert core_value(repr(number)) == number


@given(st.text())
def test_any_text_has_a_value(text: str) -> None:
    value = core_value(text)

    assert value is None or isinstance(value, str | int | float | bool)
    assert not isinstance(value, str) or value == text


@pytest.mark.parametrize(
    ("value", "fitting"),
    [
        (True, {"bool"}),
        (1, {"int", "float"}),
        (1.5, {"float"}),
        (None, {"null"}),
        ("x", set()),
    ],
)
def test_tagged_types(value: object, fitting: set[str]) -> None:
    tags = ("null", "bool", "int", "float")

    assert {tag for tag in tags if has_tagged_type(value, tag)} == fitting
