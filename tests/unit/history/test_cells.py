"""Values survive their way into a cell and back, and mean in SQL what they say."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.history.cells import (
    decimal_cell,
    exact_cell,
    integer_cell,
    json_cell,
    limit_cell,
    need_time,
    read_decimal,
    read_exact,
    read_record,
    read_records,
    read_text,
    text_cell,
    time_cell,
)
from evalcli.records import Comparison, GateLimits, Treatment, Usage, Verdict
from tests.support.record_strategies import any_text, records_of


@given(any_text)
def test_any_text_comes_back_from_sqlite(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (text TEXT)")
    connection.execute("INSERT INTO t VALUES (?)", (text_cell(text),))
    (cell,) = connection.execute("SELECT text FROM t").fetchone()
    connection.close()
    assert read_text(cell) == text


@pytest.mark.parametrize("text", ["", "plain", "Grüße 🎉", "line\nbreak", "\x1b[31m"])
def test_ordinary_text_is_text_in_sql(text: str) -> None:
    assert text_cell(text) == text


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\ud83d\ude00"], ids=["nul", "lone", "pair"])
def test_text_that_sqlite_cannot_hold_is_a_blob(text: str) -> None:
    assert isinstance(text_cell(text), bytes)


def test_lone_surrogates_that_meet_stay_two_characters() -> None:
    assert read_text(text_cell("\ud83d\ude00")) == "\ud83d\ude00"


@given(st.fractions())
def test_exact_numbers_come_back(value: Fraction) -> None:
    assert read_exact(exact_cell(value)) == value


def test_a_rate_is_written_as_a_fraction() -> None:
    assert exact_cell(Fraction(37, 40)) == "37/40"


@given(st.fractions(0, 1))
def test_limits_come_back(value: Fraction) -> None:
    assert read_exact(limit_cell(value)) == value


@pytest.mark.parametrize(
    ("value", "cell"),
    [("1/20", "0.05"), ("0", "0"), ("1", "1"), ("1/3", "1/3"), ("1/1024", "0.0009765625")],
)
def test_a_limit_is_written_as_a_person_wrote_it(value: str, cell: str) -> None:
    assert limit_cell(Fraction(value)) == cell


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_amounts_come_back(value: Decimal) -> None:
    assert read_decimal(decimal_cell(value)) == value


def test_small_amounts_are_written_in_plain_digits() -> None:
    assert decimal_cell(Decimal("1E-7")) == "0.0000001"


def test_an_amount_of_absurd_size_does_not_fill_the_disk() -> None:
    assert decimal_cell(Decimal("1E+999999")) == "1E+999999"


def test_a_count_beyond_64_bits_is_not_reported() -> None:
    assert (integer_cell(2**63 - 1), integer_cell(2**63)) == (2**63 - 1, None)


def test_times_are_utc_with_milliseconds() -> None:
    berlin = timezone(timedelta(hours=1))
    at = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=berlin)
    assert time_cell(at) == "2026-11-30T08:00:00.123Z"


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_the_order_of_time_cells_is_the_order_of_times(at: datetime) -> None:
    here = at.replace(tzinfo=UTC)
    assert (time_cell(here) or "") < (time_cell(here + timedelta(milliseconds=1)) or "")
    assert need_time(time_cell(here)) <= here


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        time_cell(datetime(2026, 11, 30))  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize("kind", [Comparison, Verdict, Treatment, GateLimits, Usage])
def test_records_come_back_from_json(kind: type) -> None:
    @given(records_of(kind))
    def check(record: object) -> None:
        assert read_record(kind, json_cell(record)) == record

    check()


@given(st.lists(records_of(Usage), max_size=3))
def test_lists_of_records_come_back_from_json(records: list[Usage]) -> None:
    assert read_records(Usage, json_cell(records)) == tuple(records)


def test_a_key_this_version_does_not_know_is_left_out() -> None:
    assert read_record(Usage, '{"input_tokens": 3, "from_later": 1}') == Usage(input_tokens=3)


def test_a_cell_that_holds_no_record_is_a_bug() -> None:
    with pytest.raises(TypeError, match="holds no Usage"):
        read_record(Usage, "[1]")


def test_what_json_cannot_say_is_a_bug() -> None:
    with pytest.raises(TypeError, match="set cannot be stored"):
        json_cell({1, 2})
