"""evalcli.providers.reported."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.providers.reported import read_cost, read_count


@pytest.mark.parametrize("value", [0, 1, 2**53])
def test_count_is_taken_as_it_is(value: int) -> None:
    assert read_count(value) == value


@pytest.mark.parametrize("value", [None, -1, True, 1.0, "12", 2**53 + 1, 10**400])
def test_count_that_is_no_plausible_one_is_unknown(value: object) -> None:
    assert read_count(value) is None


@pytest.mark.parametrize("value", ["0.0001234", 0, 3, 0.5, "1e-40", "999999999.99"])
def test_cost_is_exact(value: str | float) -> None:
    assert read_cost(value) == Decimal(str(value))


@pytest.mark.parametrize(
    "value",
    [None, -1, True, float("nan"), "inf", "free", [], "9e999999", "1e-41", "1000000000", 10**5000],
    ids=lambda value: f"{type(value).__name__}-{len(value) if isinstance(value, str) else ''}",
)
def test_cost_that_is_no_plausible_one_is_unknown(value: object) -> None:
    assert read_cost(value) is None


@given(st.lists(st.decimals() | st.integers() | st.floats() | st.text()))
def test_costs_can_always_be_added_up(values: list[object]) -> None:
    known = [
        cost
        for value in values
        if (cost := read_cost(str(value) if isinstance(value, Decimal) else value)) is not None
    ]

    assert sum(known, Decimal(0)) >= 0
