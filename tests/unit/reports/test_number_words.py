"""Rounded numbers never claim more than the exact ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.reports.number_words import (
    count,
    day,
    duration,
    minute,
    money,
    names,
    percent,
    points_and_limit,
    score,
    score_and_limit,
    second,
)

_RATES = st.fractions(0, 1, max_denominator=5000)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (Fraction(1), "100.0 %"),
        (Fraction(0), "0.0 %"),
        (Fraction(37, 40), "92.5 %"),
        (Fraction(2, 3), "66.7 %"),
        (Fraction(2999, 3000), "99.97 %"),
        (Fraction(1, 3000), "0.03 %"),
    ],
)
def test_rate_is_a_percentage(rate: Fraction, words: str) -> None:
    assert percent(rate) == words


@given(_RATES, _RATES)
def test_unequal_rates_never_look_alike(first: Fraction, second_rate: Fraction) -> None:
    before, after = percent(first, second_rate).split(" → ")
    assert (before == after) == (first == second_rate)


@given(_RATES)
def test_only_a_whole_rate_looks_whole(rate: Fraction) -> None:
    assert (percent(rate) == "100.0 %") == (rate == 1)
    assert (percent(rate) == "0.0 %") == (rate == 0)


@given(_RATES, _RATES)
def test_drop_beyond_its_limit_never_looks_equal_to_it(drop: Fraction, limit: Fraction) -> None:
    shown, shown_limit = points_and_limit(drop, limit)
    assert (shown == shown_limit) == (drop == limit)
    shown, shown_limit = score_and_limit(drop, limit)
    assert (shown == shown_limit) == (drop == limit)


def test_scores_are_decimals() -> None:
    assert score(Fraction(15, 16)) == "0.938"
    assert score(Fraction(1), Fraction(15, 16)) == "1.000 → 0.938"
    assert score(Fraction(1, 3), digits=2) == "0.33"
    assert score(Fraction(-1, 4)) == "-0.250"


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("0", "$0"),
        ("1234.567", "$1,234.57"),
        ("1e300", "$1.00e+300"),
        ("12.3", "$12.30"),
        ("0.5", "$0.5000"),
        ("0.0312", "$0.0312"),
        ("0.0031", "$0.0031"),
        ("0.0001", "$0.0001"),
        ("0.000013", "$0.000013"),
        ("0.0000130", "$0.000013"),
    ],
)
def test_cost_shows_two_digits_that_say_something(cost: str, words: str) -> None:
    assert money(Decimal(cost)) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0.4, "0 ms"),
        (20, "20 ms"),
        (100, "0.1 s"),
        (1149, "1.1 s"),
        (59_940, "59.9 s"),
        (59_960, "1 min 0 s"),
        (125_000, "2 min 5 s"),
    ],
)
def test_duration_has_a_fitting_unit(milliseconds: float, words: str) -> None:
    assert duration(milliseconds) == words


def test_day_has_a_year_only_where_it_is_another_one() -> None:
    now = datetime(2026, 11, 18, tzinfo=UTC)
    assert day(datetime(2026, 1, 2, tzinfo=UTC), now=now) == "2 Jan"
    assert day(datetime(2025, 12, 31, tzinfo=UTC), now=now) == "31 Dec 2025"


def test_times_are_shown_as_instants_in_utc() -> None:
    moment = datetime(2026, 11, 18, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    assert minute(moment) == "2026-11-17 23:02 UTC"
    assert second(moment) == "23:02:03 UTC"
    assert day(moment, now=moment) == "17 Nov"


def test_counts_and_names() -> None:
    assert count(1, "prompt") == "1 prompt"
    assert count(2000, "prompt") == "2,000 prompts"
    assert names(["a", "b"]) == "a, b"
    assert names(["a", "b", "c"], limit=1) == "a and 2 more"
    assert names(["a", "b"], limit=2) == "a, b"
