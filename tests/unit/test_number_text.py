"""Rates, scores and drops as text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalcli.number_text import format_points, format_rates, format_scores

_UNIT = st.fractions(0, 1, max_denominator=400)


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Fraction(37, 40), "92.5 %"),
        (Fraction(2, 3), "66.7 %"),
        (Fraction(1), "100.0 %"),
        (Fraction(0), "0.0 %"),
        (Fraction(1999, 2000), "99.95 %"),
        (Fraction(1, 10000), "0.01 %"),
    ],
)
def test_a_rate_is_a_percentage(rate: Fraction, text: str) -> None:
    assert format_rates(rate) == (text,)


@pytest.mark.parametrize(
    ("score", "text"),
    [(Fraction(15, 16), "0.938"), (Fraction(1), "1.000"), (Fraction(9999, 10000), "0.9999")],
)
def test_a_score_is_a_decimal_number(score: Fraction, text: str) -> None:
    assert format_scores(score) == (text,)


def test_a_drop_and_its_limit_are_points() -> None:
    assert format_points(Fraction(3, 40), Fraction(1, 20)) == ("7.5", "5.0")


def test_a_gain_is_a_negative_drop() -> None:
    assert format_points(Fraction(-1, 40)) == ("-2.5",)


def test_a_drop_just_beyond_its_limit_does_not_look_equal_to_it() -> None:
    assert format_points(Fraction(1001, 10000), Fraction(1, 10)) == ("10.01", "10.00")


def test_the_smallest_drop_does_not_look_like_none() -> None:
    assert format_points(Fraction(1, 3000)) == ("0.03",)


def test_equal_values_look_equal() -> None:
    assert format_rates(Fraction(36, 37), Fraction(36, 37)) == ("97.3 %", "97.3 %")


@given(_UNIT, _UNIT)
def test_texts_are_as_ordered_as_their_values(one: Fraction, other: Fraction) -> None:
    texts = format_rates(one, other)
    shown = [Decimal(text.removesuffix(" %")) for text in texts]
    assert (shown[0] < shown[1], shown[0] == shown[1]) == (one < other, one == other)


@given(_UNIT, _UNIT)
def test_a_text_is_its_value_to_the_last_digit_shown(one: Fraction, other: Fraction) -> None:
    for value, text in zip((one, other), format_scores(one, other), strict=True):
        last_digit = Fraction(1, 10 ** len(text.partition(".")[2]))
        assert abs(Fraction(text) - value) <= last_digit / 2


@given(_UNIT)
def test_only_everything_is_shown_as_everything(rate: Fraction) -> None:
    assume(rate not in (0, 1))
    assert not {"100", "0"} & {format_rates(rate)[0].removesuffix(" %").rstrip("0").rstrip(".")}
