"""Verdicts and exit statuses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from evalcli.comparison.gate import exit_status_of, judge_run
from evalcli.errors import ExitStatus
from evalcli.records import Baseline, Fingerprints, GateLimits, RunStatus, Verdict, VerdictWord
from tests.unit.comparison.run_builders import ARMED, Measured, measure, passing

_BEFORE = measure(passing(8, 10), run_id="5be0").baseline
_OTHER = {"p000": Fingerprints("other", "other")}


def judge(
    measured: Measured, limits: GateLimits = ARMED, baseline: Baseline | None = _BEFORE
) -> Verdict:
    run = replace(measured.run, limits=limits)
    return judge_run(run, measured.summary, Measured(run, measured.summary).compare(baseline))


def gates(verdict: Verdict) -> list[tuple[str, bool]]:
    return [(finding.gate, finding.is_armed) for finding in verdict.findings]


# --- drops ------------------------------------------------------------------------------------


def test_an_equal_run_passes() -> None:
    assert judge(measure(passing(8, 10))) == Verdict(VerdictWord.PASSED)


def test_a_better_run_passes() -> None:
    assert judge(measure(passing(10, 10))) == Verdict(VerdictWord.PASSED)


def test_a_drop_of_exactly_the_limit_passes() -> None:
    assert judge(measure(passing(7, 10))).word is VerdictWord.PASSED


def test_a_larger_drop_is_a_regression_of_both_rates() -> None:
    verdict = judge(measure(passing(6, 10)))
    assert verdict.word is VerdictWord.REGRESSED
    assert gates(verdict) == [("max_pass_rate_drop", True), ("max_mean_score_drop", True)]
    assert verdict.findings[0].message == (
        "the pass rate fell by 20.0 points, the limit is 10.0 (eval.max_pass_rate_drop)"
    )
    assert (verdict.findings[0].limit, verdict.findings[0].actual) == (
        Fraction(1, 10),
        Fraction(1, 5),
    )


def test_the_mean_score_may_fall_alone() -> None:
    low = (True, Fraction(1, 2))
    verdict = judge(measure({i: low if o else o for i, o in passing(8, 10).items()}))
    assert gates(verdict) == [("max_mean_score_drop", True)]
    assert verdict.findings[0].message == (
        "the mean score fell by 0.400, the limit is 0.100 (eval.max_mean_score_drop)"
    )


def test_the_pass_rate_may_fall_alone() -> None:
    almost = (False, Fraction(99, 100))
    outcomes = {i: almost if i < "p004" else o for i, o in passing(8, 10).items()}
    assert gates(judge(measure(outcomes))) == [("max_pass_rate_drop", True)]


def test_each_rate_has_its_own_limit() -> None:
    limits = GateLimits(Fraction(1, 2), Fraction(0), fail_on_regression=True)
    assert gates(judge(measure(passing(7, 10)), limits)) == [("max_mean_score_drop", True)]


def test_a_limit_from_the_command_line_is_named_as_the_option() -> None:
    limits = GateLimits(Fraction(0), Fraction(1), fail_on_regression=True)
    assert "(--max-pass-rate-drop)" in judge(measure(passing(7, 10)), limits).findings[0].message


def test_without_the_flag_a_regression_has_the_same_word_and_fails_nothing() -> None:
    verdict = judge(measure(passing(6, 10)), GateLimits())
    assert verdict.word is VerdictWord.REGRESSED
    assert gates(verdict) == [("max_pass_rate_drop", False), ("max_mean_score_drop", False)]
    assert not verdict.is_gate_failed


def test_the_drops_of_a_partial_run_decide() -> None:
    verdict = judge(measure({"p000": False}, is_partial=True))
    assert verdict.word is VerdictWord.REGRESSED


def test_an_added_prompt_that_fails_is_no_regression() -> None:
    verdict = judge(measure({**passing(8, 10), "new1": False, "new2": False}))
    assert verdict == Verdict(VerdictWord.PASSED)


# --- what could not be compared ---------------------------------------------------------------


@pytest.mark.parametrize(
    "measured",
    [
        measure(passing(8, 10), content=_OTHER),
        measure(passing(8, 9)),
        measure(passing(8, 10), content={"p000": Fingerprints("asked p000", None)}),
        measure(passing(8, 10), summary_changes={"has_fallback": True}),
        measure({"new": True}, is_partial=True),
    ],
    ids=["changed", "removed", "unknown", "mixed", "nothing chosen in common"],
)
@pytest.mark.parametrize("is_armed", [True, False])
def test_what_could_not_be_compared_fails_with_the_flag_only(
    measured: Measured, is_armed: bool
) -> None:
    verdict = judge(measured, GateLimits(fail_on_regression=is_armed))
    assert verdict.word is VerdictWord.NOT_COMPARABLE
    assert gates(verdict) == [("comparability", is_armed)]
    assert verdict.findings[0].message == measured.compare(_BEFORE).reason


def test_a_drop_over_the_rest_of_a_mismatch_is_no_regression() -> None:
    verdict = judge(measure(passing(0, 10), content=_OTHER))
    assert verdict.word is VerdictWord.NOT_COMPARABLE


def test_another_judge_is_not_comparable() -> None:
    measured = measure(passing(8, 10), grader="decision:a:b:v2", grader_kind="decision")
    kin = (replace(_BEFORE, grader="decision:a:b:v1"),)
    verdict = judge_run(measured.run, measured.summary, measured.compare(None, kin=kin))
    assert verdict.word is VerdictWord.NOT_COMPARABLE


# --- no baseline ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_partial", [True, False])
def test_a_first_run_passes_and_says_that_there_was_no_baseline(is_partial: bool) -> None:
    verdict = judge(measure({"a": False}, is_partial=is_partial), baseline=None)
    assert verdict == Verdict(VerdictWord.NO_BASELINE)


@pytest.mark.parametrize("is_armed", [True, False])
def test_a_required_baseline_that_is_missing_fails_with_and_without_the_flag(
    is_armed: bool,
) -> None:
    limits = GateLimits(require_baseline=True, fail_on_regression=is_armed)
    verdict = judge(measure({"a": True}), limits, baseline=None)
    assert verdict.word is VerdictWord.NO_BASELINE
    assert gates(verdict) == [("require_baseline", True)]
    assert verdict.findings[0].message == (
        "a baseline is required, and acme.faq on support-bot (deterministic) has none"
    )


def test_a_required_baseline_that_is_there_is_no_finding() -> None:
    assert judge(measure(passing(8, 10)), GateLimits(require_baseline=True)).findings == ()


def test_a_baseline_of_another_judge_is_not_the_required_one() -> None:
    run = replace(
        measure(passing(8, 10), grader="decision:a:b:v2").run,
        limits=GateLimits(require_baseline=True),
    )
    measured = Measured(run, measure(passing(8, 10)).summary)
    comparison = measured.compare(None, kin=(replace(_BEFORE, grader="decision:a:b:v1"),))
    verdict = judge_run(run, measured.summary, comparison)
    assert verdict.word is VerdictWord.NOT_COMPARABLE
    assert gates(verdict) == [("comparability", False), ("require_baseline", True)]


# --- floors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_armed", [True, False])
def test_a_pass_rate_below_its_floor_fails_with_and_without_the_flag(is_armed: bool) -> None:
    limits = GateLimits(min_pass_rate=Fraction(9, 10), fail_on_regression=is_armed)
    verdict = judge(measure(passing(8, 10)), limits)
    assert verdict.word is VerdictWord.BELOW_FLOOR
    assert gates(verdict) == [("min_pass_rate", True)]
    assert verdict.findings[0].message == (
        "the pass rate is 80.0 %, the floor is 90.0 % (--min-pass-rate)"
    )
    assert (verdict.findings[0].limit, verdict.findings[0].actual) == (
        Fraction(9, 10),
        Fraction(8, 10),
    )


def test_a_mean_score_below_its_floor_fails() -> None:
    verdict = judge(measure(passing(8, 10)), GateLimits(min_mean_score=Fraction(81, 100)))
    assert gates(verdict) == [("min_mean_score", True)]


def test_rates_that_equal_their_floors_pass() -> None:
    limits = GateLimits(min_pass_rate=Fraction(8, 10), min_mean_score=Fraction(8, 10))
    assert judge(measure(passing(8, 10)), limits).word is VerdictWord.PASSED


def test_a_floor_holds_without_a_baseline() -> None:
    verdict = judge(measure({"a": False}), GateLimits(min_pass_rate=Fraction(1)), baseline=None)
    assert verdict.word is VerdictWord.BELOW_FLOOR


def test_added_prompts_count_for_the_floor() -> None:
    limits = GateLimits(min_pass_rate=Fraction(8, 10))
    verdict = judge(measure({**passing(8, 10), "new": False}), limits)
    assert verdict.word is VerdictWord.BELOW_FLOOR


def test_the_floor_of_a_partial_run_is_over_its_chosen_prompts_and_says_so() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1))
    verdict = judge(measure({"p000": True, "p009": False}, is_partial=True), limits)
    assert "the pass rate over the 2 chosen prompts is 50.0 %" in verdict.findings[0].message


def test_a_floor_of_the_workspace_is_named_as_the_setting() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1))
    measured = measure(passing(8, 10), workspace_limits=limits)
    assert "(eval.min_pass_rate)" in judge(measured, limits).findings[0].message


def test_floors_hold_for_a_run_that_could_not_be_compared() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1))
    verdict = judge(measure(passing(8, 10), content=_OTHER), limits)
    assert verdict.word is VerdictWord.BELOW_FLOOR
    assert gates(verdict) == [("min_pass_rate", True), ("comparability", False)]


def test_a_regression_is_graver_than_a_floor() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1))
    verdict = judge(measure(passing(5, 10)), limits)
    assert verdict.word is VerdictWord.REGRESSED
    assert ("min_pass_rate", True) in gates(verdict)


def test_the_word_is_the_same_with_and_without_the_flag() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1))
    armed = replace(limits, fail_on_regression=True)
    for measured in (measure(passing(5, 10)), measure(passing(8, 10), content=_OTHER)):
        assert judge(measured, limits).word is judge(measured, armed).word


# --- incomplete runs --------------------------------------------------------------------------


def test_an_incomplete_run_is_not_judged() -> None:
    limits = GateLimits(min_pass_rate=Fraction(1), require_baseline=True, fail_on_regression=True)
    verdict = judge(measure({**passing(0, 9), "p009": None}), limits, baseline=None)
    assert verdict == Verdict(VerdictWord.INCOMPLETE)


# --- exit statuses ----------------------------------------------------------------------------


def exit_status(
    measured: Measured, limits: GateLimits = ARMED, *, is_interrupted: bool = False
) -> ExitStatus:
    verdict = judge(measured, limits)
    return exit_status_of(measured.run, verdict, is_interrupted=is_interrupted)


def test_a_passed_gate_exits_with_0() -> None:
    assert exit_status(measure(passing(8, 10))) is ExitStatus.OK


def test_a_failed_gate_exits_with_1() -> None:
    assert exit_status(measure(passing(5, 10))) is ExitStatus.GATE_FAILED


def test_a_finding_that_is_not_armed_exits_with_0() -> None:
    assert exit_status(measure(passing(5, 10)), GateLimits()) is ExitStatus.OK


def test_an_incomplete_run_exits_with_3() -> None:
    assert exit_status(measure({**passing(0, 9), "p009": None})) is ExitStatus.INCOMPLETE


def test_a_run_marked_incomplete_exits_with_3_whatever_was_stored() -> None:
    run = replace(measure(passing(8, 10)).run, status=RunStatus.INCOMPLETE)
    assert exit_status_of(run, Verdict(VerdictWord.PASSED)) is ExitStatus.INCOMPLETE


@pytest.mark.parametrize("count", [8, 5], ids=["passed", "regressed"])
def test_an_interruption_exits_with_130_before_all_else(count: int) -> None:
    measured = measure(passing(count, 10))
    assert exit_status(measured, is_interrupted=True) is ExitStatus.INTERRUPTED


def test_a_run_that_was_interrupted_exits_with_130() -> None:
    measured = measure({"p000": True, "p001": None}, is_interrupted=True)
    assert exit_status(measured) is ExitStatus.INTERRUPTED


# --- exactness --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "total",
    [
        total if total <= 50 or total == 200 else pytest.param(total, marks=pytest.mark.slow)
        for total in range(1, 201)
    ],
)
def test_a_drop_of_exactly_the_tolerance_passes_and_one_more_does_not(total: int) -> None:
    before = measure(passing(total, total)).baseline
    for lost in sorted({1, total // 10, total // 3, total // 2, total} - {0}):
        tolerance = Fraction(lost, total)
        limits = GateLimits(tolerance, tolerance, fail_on_regression=True)
        at_limit = judge(measure(passing(total - lost, total)), limits, before)
        assert at_limit.word is VerdictWord.PASSED
        if lost < total:
            beyond = judge(measure(passing(total - lost - 1, total)), limits, before)
            assert len(beyond.findings) == 2
