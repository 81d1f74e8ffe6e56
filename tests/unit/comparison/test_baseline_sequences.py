"""What holds over any sequence of runs: the baseline moves only up or on purpose."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from evalcli.errors import ExitStatus
from evalcli.records import BaselineMove, Fingerprints, GateLimits
from tests.unit.comparison.run_builders import Measured, Series, measure, passing

_TOTAL = 20
_COUNTS = st.integers(0, _TOTAL)
_LIMIT = Fraction(1, 10)
_EDITED = {"p000": Fingerprints("other", "graded p000")}


@cache
def make_run(count: int, total: int = _TOTAL) -> Measured:
    return measure(passing(count, total))


def baseline_count(series: Series, total: int = _TOTAL) -> int:
    """Count what the baseline says passed, of the first `total` prompts."""
    if series.baseline is None:
        raise ValueError("the series has no baseline")
    prompts = series.baseline.prompts
    return sum(int(prompts[f"p{number:03}"].pass_share) for number in range(total))


def test_ten_nine_eight_seven_right_and_eight_again() -> None:
    series = Series()
    statuses = [series.perform(make_run(count, 10)) for count in (10, 9, 8, 7, 8)]
    assert statuses == [0, 0, 1, 1, 1]


def test_an_edited_prompt_is_red_until_it_is_accepted() -> None:
    series = Series()
    series.perform(make_run(10, 10))
    edited = measure(passing(10, 10), content=_EDITED)
    assert [series.perform(edited), series.perform(edited)] == [1, 1]
    series.accept_last()
    assert series.perform(edited) == 0


def test_an_added_prompt_is_green_and_gated_from_then_on() -> None:
    series = Series()
    series.perform(make_run(10, 10))
    assert series.perform(make_run(11, 11)) == 0
    assert series.perform(make_run(10, 11)) == 0
    assert series.perform(make_run(9, 11)) == 1


def test_a_removed_prompt_that_comes_back_is_comparable_again() -> None:
    series = Series()
    series.perform(make_run(10, 10))
    assert series.perform(make_run(9, 9)) == 1
    assert series.perform(make_run(10, 10)) == 0


@given(st.lists(_COUNTS, min_size=1, max_size=12))
def test_the_baseline_never_moves_down(counts: list[int]) -> None:
    series = Series()
    series.perform(make_run(counts[0]))
    highest = counts[0]
    for count in counts[1:]:
        series.perform(make_run(count))
        assert baseline_count(series) >= highest
        highest = baseline_count(series)


@given(st.lists(_COUNTS, min_size=1, max_size=12))
def test_a_run_is_green_exactly_within_the_limit_of_the_best_clear_run(counts: list[int]) -> None:
    """Follow the rule with whole numbers beside the code: two of twenty are the tenth allowed."""
    series = Series()
    series.perform(make_run(counts[0]))
    reference = counts[0]
    for count in counts[1:]:
        status = series.perform(make_run(count))
        assert (status is ExitStatus.OK) == (count >= reference - 2)
        reference = count if count > reference + 2 else reference
        assert baseline_count(series) == reference


@given(st.integers(3, _TOTAL), st.lists(st.integers(0, 2), max_size=10))
def test_tolerated_drops_do_not_add_up(start: int, drops: list[int]) -> None:
    series = Series()
    series.perform(make_run(start))
    for drop in drops:
        assert series.perform(make_run(start - drop)) is ExitStatus.OK
    assert series.perform(make_run(start - 3)) is ExitStatus.GATE_FAILED


@given(st.integers(3, _TOTAL - 2), st.lists(st.integers(0, 2), max_size=10))
def test_lucky_points_do_not_raise_the_baseline(start: int, gains: list[int]) -> None:
    series = Series()
    series.perform(make_run(start))
    for gain in gains:
        series.perform(make_run(start + gain))
    assert series.perform(make_run(start - 2)) is ExitStatus.OK


@given(_COUNTS, _COUNTS, st.booleans(), st.integers(1, 5))
def test_running_a_red_pipeline_again_never_turns_it_green(
    before: int, after: int, is_edited: bool, times: int
) -> None:
    series = Series()
    series.perform(make_run(before))
    again = measure(passing(after, _TOTAL), content=_EDITED if is_edited else {})
    statuses = {series.perform(again) for _ in range(times)}
    assert len(statuses) == 1


@given(_COUNTS, _COUNTS, st.integers(1, 5))
def test_running_without_the_flag_does_not_soften_the_gate(
    before: int, after: int, times: int
) -> None:
    series = Series()
    series.perform(make_run(before))
    armed, series.limits = series.limits, GateLimits()
    for _ in range(times):
        assert series.perform(make_run(after)) is ExitStatus.OK
    series.limits = armed
    status = series.perform(make_run(after))
    assert (status is ExitStatus.GATE_FAILED) == (before - after > 2)


@given(_COUNTS, _COUNTS, st.lists(st.booleans(), min_size=1, max_size=5))
def test_added_prompts_never_change_the_verdict(before: int, after: int, added: list[bool]) -> None:
    extra = {f"new{number}": passed for number, passed in enumerate(added)}
    plain, extended = Series(), Series()
    for series in (plain, extended):
        series.perform(make_run(before))
    expected = plain.perform(make_run(after))
    assert extended.perform(measure({**passing(after, _TOTAL), **extra})) is expected


@given(st.permutations(range(_TOTAL)), _COUNTS, _COUNTS)
def test_the_order_of_prompts_never_changes_the_verdict(
    order: list[int], before: int, after: int
) -> None:
    outcomes = list(passing(after, _TOTAL).items())
    plain, shuffled = Series(), Series()
    for series in (plain, shuffled):
        series.perform(make_run(before))
    expected = plain.perform(make_run(after))
    assert shuffled.perform(measure({outcomes[i][0]: outcomes[i][1] for i in order})) is expected
    assert baseline_count(shuffled) == baseline_count(plain)


@given(st.integers(1, 200), st.data(), st.decimals(0, 1, places=3))
def test_a_drop_is_compared_with_the_limit_as_it_was_written(
    total: int, data: st.DataObject, limit: object
) -> None:
    """Decide in whole thousandths beside the code."""
    before = data.draw(st.integers(0, total))
    after = data.draw(st.integers(0, total))
    exact = Fraction(str(limit))
    series = Series(GateLimits(exact, exact, fail_on_regression=True))
    series.perform(make_run(before, total))
    is_regression = (before - after) * 1000 > int(exact * 1000) * total
    assert (series.perform(make_run(after, total)) is ExitStatus.GATE_FAILED) == is_regression


def test_a_clear_gain_moves_the_baseline_up() -> None:
    series = Series()
    series.perform(make_run(10))
    series.perform(make_run(13))
    assert series.move is BaselineMove.REPLACED
    assert series.perform(make_run(10)) is ExitStatus.GATE_FAILED
