"""Trials to rates and counts."""

from __future__ import annotations

import statistics
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.comparison.summary import summarize_trials
from evalcli.records import Answer, Grade, Summary, Trial, TrialState, Usage
from tests.unit.comparison.run_builders import Outcome, make_call, make_plan, make_trial

_GRADES = st.tuples(st.booleans(), st.fractions(0, 1, max_denominator=7))


@st.composite
def _complete_trials(draw: st.DrawFn) -> tuple[list[str], int, list[Trial]]:
    prompt_ids = [f"p{number}" for number in range(draw(st.integers(1, 5)))]
    count = draw(st.integers(1, 3))
    trials = [make_trial(i, draw(_GRADES), trial=t) for i in prompt_ids for t in range(count)]
    return prompt_ids, count, trials


def summarize(
    outcomes: dict[str, list[Outcome]], *, trial_count: int | None = None, **changes: object
) -> Summary:
    trials = [
        make_trial(prompt_id, outcome, trial=number, **changes)
        for prompt_id, prompt_outcomes in outcomes.items()
        for number, outcome in enumerate(prompt_outcomes)
    ]
    count = trial_count or max(len(prompt_outcomes) for prompt_outcomes in outcomes.values())
    return summarize_trials(make_plan(list(outcomes)), trials, count)


def test_two_of_three_prompts_pass() -> None:
    summary = summarize({"a": [True], "b": [(False, Fraction(1, 2))], "c": [True]})
    assert (summary.pass_rate, summary.mean_score) == (Fraction(2, 3), Fraction(5, 6))
    assert (summary.passed, summary.measured) == (2, 3)


def test_the_pass_rate_is_the_mean_of_each_prompts_share_of_passed_trials() -> None:
    summary = summarize({"a": [True, True, False], "b": [False, False, True]})
    assert [prompt.pass_share for prompt in summary.prompts] == [Fraction(2, 3), Fraction(1, 3)]
    assert summary.pass_rate == Fraction(1, 2)


def test_a_prompt_counts_as_passed_when_all_its_trials_pass() -> None:
    assert summarize({"a": [True, False], "b": [True, True]}).passed == 1


@given(_complete_trials())
def test_rates_are_the_means_of_means(case: tuple[list[str], int, list[Trial]]) -> None:
    prompt_ids, count, trials = case
    summary = summarize_trials(make_plan(prompt_ids), trials, count)
    grades = {i: [t.grade for t in trials if t.prompt_id == i and t.grade] for i in prompt_ids}
    passed = [statistics.mean(Fraction(g.passed) for g in grades[i]) for i in prompt_ids]
    scores = [statistics.mean(g.score for g in grades[i]) for i in prompt_ids]
    assert summary.pass_rate == statistics.mean(passed)
    assert summary.mean_score == statistics.mean(scores)
    assert summary.measured_pass_rate == summary.pass_rate
    assert summary.measured_mean_score == summary.mean_score


@given(_complete_trials(), st.randoms(use_true_random=False))
def test_the_order_of_trials_does_not_count(
    case: tuple[list[str], int, list[Trial]], random: object
) -> None:
    prompt_ids, count, trials = case
    mixed = list(trials)
    random.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    plan = make_plan(prompt_ids)
    assert summarize_trials(plan, mixed, count) == summarize_trials(plan, trials, count)


def test_prompts_stand_in_the_plans_order() -> None:
    trials = [make_trial("b"), make_trial("a")]
    summary = summarize_trials(make_plan(["a", "b"]), trials, 1)
    assert [prompt.prompt_id for prompt in summary.prompts] == ["a", "b"]


def test_one_unmeasured_trial_leaves_the_run_without_rates() -> None:
    summary = summarize({"a": [True, True], "b": [True, None]})
    assert (summary.pass_rate, summary.mean_score, summary.is_complete) == (None, None, False)
    assert (summary.measured, summary.unmeasured) == (1, 1)


def test_an_unmeasured_trial_enters_no_rate() -> None:
    summary = summarize({"a": [True], "b": [None], "c": [False]})
    assert summary.measured_pass_rate == Fraction(1, 2)
    assert summary.measured_mean_score == Fraction(1, 2)


def test_a_half_measured_prompt_counts_by_the_trials_it_has() -> None:
    summary = summarize({"a": [True, None], "b": [False, False]})
    assert summary.measured_pass_rate == Fraction(1, 2)
    assert summary.prompts[0].pass_share is None
    assert summary.prompts[0].score is None


def test_nothing_measured_has_no_rate_at_all() -> None:
    summary = summarize({"a": [None], "b": [None]})
    assert (summary.measured_pass_rate, summary.measured_mean_score) == (None, None)
    assert (summary.measured, summary.passed, summary.unmeasured) == (0, 0, 2)


def test_an_empty_plan_is_not_complete() -> None:
    assert not summarize_trials((), (), 1).is_complete


def test_a_trial_without_grade_is_not_measured() -> None:
    trials = [make_trial("a"), make_trial("b", state=TrialState.NOT_GRADED, grade=None)]
    summary = summarize_trials(make_plan(["a", "b"]), trials, 1)
    assert (summary.not_graded, summary.unmeasured, summary.pass_rate) == (1, 0, None)
    assert summary.measured_pass_rate == 1


def test_trials_that_were_never_asked_are_neither_unmeasured_nor_measured() -> None:
    summary = summarize({"a": [True, True], "b": [None], "c": []}, trial_count=2)
    assert (summary.measured, summary.unmeasured, summary.not_asked) == (1, 1, 3)
    assert summary.pass_rate is None


def test_a_complete_run_has_no_trial_that_was_not_asked() -> None:
    assert summarize({"a": [True, False]}).not_asked == 0


def test_refused_and_cut_off_answers_are_counted_and_graded() -> None:
    trials = [
        make_trial("a", False, is_refused=True),
        make_trial("b", True, is_cut_off=True),
        make_trial("c", True, is_cut_off=True),
    ]
    summary = summarize_trials(make_plan(["a", "b", "c"]), trials, 1)
    assert (summary.refused, summary.cut_off, summary.measured) == (1, 2, 3)


def test_tokens_and_costs_are_sums() -> None:
    calls = {
        "a": make_call(usage=Usage(10, 2), cost_usd=Decimal("0.0001")),
        "b": make_call(usage=Usage(5, 0), cost_usd=Decimal("0.0002")),
    }
    trials = [make_trial(prompt_id, call=call) for prompt_id, call in calls.items()]
    summary = summarize_trials(make_plan(["a", "b"]), trials, 1)
    assert (summary.input_tokens, summary.output_tokens) == (15, 2)
    assert summary.cost_usd == summary.known_cost_usd == Decimal("0.0003")


def test_one_unknown_number_makes_its_sum_unknown() -> None:
    trials = [
        make_trial("a", call=make_call(usage=Usage(10, 2), cost_usd=Decimal("0.0001"))),
        make_trial("b", call=make_call(usage=Usage(10, None))),
    ]
    summary = summarize_trials(make_plan(["a", "b"]), trials, 1)
    assert (summary.input_tokens, summary.output_tokens, summary.cost_usd) == (20, None, None)
    assert summary.known_cost_usd == Decimal("0.0001")


@pytest.mark.parametrize("call", [None, make_call()], ids=["no call", "nothing reported"])
def test_numbers_that_nobody_reported_are_not_zero(call: object) -> None:
    summary = summarize({"a": [True]}, call=call)
    assert (summary.input_tokens, summary.output_tokens) == (None, None)
    assert (summary.cost_usd, summary.known_cost_usd) == (None, None)


def test_a_reported_cost_of_zero_is_known() -> None:
    summary = summarize({"a": [True]}, call=make_call(cost_usd=Decimal(0)))
    assert (summary.cost_usd, summary.known_cost_usd) == (Decimal(0), Decimal(0))


def test_a_call_without_answer_does_not_make_the_cost_unknown() -> None:
    trials = [make_trial("a", call=make_call(cost_usd=Decimal("0.1"))), make_trial("b", None)]
    assert summarize_trials(make_plan(["a", "b"]), trials, 1).cost_usd == Decimal("0.1")


def test_an_empty_answer_costs_what_it_cost() -> None:
    empty = make_trial(
        "a", None, answer=Answer(None), call=make_call(usage=Usage(7, 0), cost_usd=Decimal("0.1"))
    )
    summary = summarize_trials(make_plan(["a"]), [empty], 1)
    assert (summary.input_tokens, summary.cost_usd) == (7, Decimal("0.1"))


def test_an_empty_answer_of_unknown_cost_makes_the_cost_unknown() -> None:
    trials = [
        make_trial("a", call=make_call(cost_usd=Decimal("0.1"))),
        make_trial("b", None, answer=Answer(None)),
    ]
    assert summarize_trials(make_plan(["a", "b"]), trials, 1).cost_usd is None


def test_yardsticks_stand_once_in_the_plans_order() -> None:
    trials = [
        make_trial(i, grade=Grade(True, Fraction(1), yardstick=yardstick))
        for i, yardstick in (("c", "judge b"), ("a", "judge b"), ("b", "judge a"))
    ]
    summary = summarize_trials(make_plan(["a", "b", "c"]), trials, 1)
    assert summary.yardsticks == ("judge b", "judge a")


def test_the_reported_model_is_the_calls_else_the_answers() -> None:
    trials = [
        make_trial("a", call=make_call(reported_model="m-2"), answer=Answer("x", model="other")),
        make_trial("b", call=None, answer=Answer("x", model="m-1")),
        make_trial("c", call=make_call(), answer=Answer("x")),
        make_trial("d", call=make_call(reported_model="m-2")),
    ]
    summary = summarize_trials(make_plan(["a", "b", "c", "d"]), trials, 1)
    assert summary.reported_models == ("m-2", "m-1")


def test_models_of_one_prompt_stand_in_the_order_of_its_trials() -> None:
    trials = [
        make_trial("a", trial=number, call=make_call(reported_model=f"m-{number}"))
        for number in (2, 0, 1)
    ]
    assert summarize_trials(make_plan(["a"]), trials, 3).reported_models == ("m-0", "m-1", "m-2")


@pytest.mark.parametrize("is_fallback", [True, False])
def test_a_fallback_is_noticed(is_fallback: bool) -> None:
    trials = [make_trial("a", call=make_call(is_fallback=is_fallback)), make_trial("b", call=None)]
    assert summarize_trials(make_plan(["a", "b"]), trials, 1).has_fallback is is_fallback


@pytest.mark.parametrize(
    "trials",
    [
        [make_trial("other")],
        [make_trial("a", trial=1)],
        [make_trial("a", trial=-1)],
        [make_trial("a"), make_trial("a")],
        [make_trial("a", grade=None)],
    ],
    ids=["unknown prompt", "number too high", "negative number", "twice", "graded without grade"],
)
def test_a_trial_that_cannot_be_is_a_bug(trials: list[Trial]) -> None:
    with pytest.raises(ValueError, match="trial"):
        summarize_trials(make_plan(["a"]), trials, 1)
