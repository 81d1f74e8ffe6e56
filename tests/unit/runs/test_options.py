"""evalcli.runs.options."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.workspace import EvalSettings
from evalcli.errors import UsageError
from evalcli.runs.options import (
    RunOptions,
    check_options,
    read_limit,
    read_limits,
    resumed_options,
    stored_options,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (Decimal("0.05"), Fraction(1, 20)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("0", Fraction(0)),
        (1, Fraction(1)),
        ("1e-2", Fraction(1, 100)),
    ],
)
def test_limit_is_exactly_what_was_written(value: str, expected: Fraction) -> None:
    assert read_limit("--max", value) == expected


@pytest.mark.parametrize(
    "value", ["-0.1", "1.0001", "nan", "inf", "-inf", "", "ten", "0,1", "1/0", "1e-99999999", True]
)
def test_limit_out_of_range_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        read_limit("--max", value)


def test_given_limit_stands_over_the_workspace_and_both_are_kept() -> None:
    settings = EvalSettings(max_pass_rate_drop=Decimal("0.02"), min_pass_rate=Decimal("0.5"))

    limits, workspace = read_limits(RunOptions(max_pass_rate_drop="0.2"), settings)

    assert limits.max_pass_rate_drop == Fraction(1, 5)
    assert workspace.max_pass_rate_drop == Fraction(1, 50)
    assert limits.min_pass_rate == workspace.min_pass_rate == Fraction(1, 2)
    assert limits.max_mean_score_drop == Fraction(1, 10)


@pytest.mark.parametrize("in_workspace", [True, False])
@pytest.mark.parametrize("given_now", [True, False])
def test_either_place_can_require_a_baseline(in_workspace: bool, given_now: bool) -> None:
    limits, workspace = read_limits(
        RunOptions(require_baseline=given_now), EvalSettings(require_baseline=in_workspace)
    )

    assert limits.require_baseline == (in_workspace or given_now)
    assert workspace.require_baseline == in_workspace


def test_id_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="a twice"):
        check_options(RunOptions(only=("a", "b", "a")))


def test_resumed_command_need_not_repeat_itself() -> None:
    first = RunOptions(model="m", only=("a", "b"), trials=3, max_pass_rate_drop=Decimal("0.2"))

    resumed = resumed_options(
        RunOptions(resume="r", trials=4), stored_options(first, keep_texts=True)
    )

    assert resumed == RunOptions(
        resume="r", model="m", only=("a", "b"), trials=4, max_pass_rate_drop="0.2"
    )


def test_zero_given_on_resuming_is_a_limit_and_not_left_out() -> None:
    stored = stored_options(RunOptions(max_pass_rate_drop="0.5"), keep_texts=True)

    assert resumed_options(RunOptions(max_pass_rate_drop=0), stored).max_pass_rate_drop == 0


@pytest.mark.parametrize("wrong", ["2", 1.5, True, 0, 1001])
def test_count_that_is_none_is_refused(wrong: int) -> None:
    with pytest.raises(UsageError, match="--trials"):
        check_options(RunOptions(trials=wrong))


def test_ids_as_one_text_are_refused() -> None:
    with pytest.raises(UsageError, match="as a tuple"):
        check_options(RunOptions(only="abc"))  # type: ignore[arg-type]  # that is the point


def test_system_prompt_is_not_stored_where_texts_are_not_kept() -> None:
    options = RunOptions(system="secret")

    assert "system" in stored_options(options, keep_texts=True)
    assert "system" not in stored_options(options, keep_texts=False)


@given(st.fractions(min_value=0, max_value=1))
def test_every_fraction_in_range_is_a_limit(value: Fraction) -> None:
    assert read_limit("--max", value) == value
