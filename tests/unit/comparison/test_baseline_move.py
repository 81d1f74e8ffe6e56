"""Which run moves the baseline of its series, and which is accepted on purpose."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from evalcli.comparison.baseline_move import (
    accept_run,
    baseline_of_run,
    plan_baseline_move,
)
from evalcli.comparison.gate import judge_run
from evalcli.errors import ExitStatus, UsageError
from evalcli.records import (
    Baseline,
    BaselineMove,
    Fingerprints,
    GateLimits,
    GitState,
    RunStatus,
    Treatment,
)
from tests.unit.comparison.run_builders import (
    ARMED,
    STARTED_AT,
    Measured,
    Outcome,
    Series,
    measure,
    passing,
)

_BEFORE = replace(measure(passing(8, 10), run_id="5be0").baseline, baseline_id=7)


def plan(
    measured: Measured,
    current: Baseline | None = _BEFORE,
    *,
    baseline_branch: str | None = None,
) -> tuple[BaselineMove, Baseline | None, str]:
    comparison = measured.compare(current)
    verdict = judge_run(measured.run, measured.summary, comparison)
    return plan_baseline_move(
        measured.run,
        measured.summary,
        comparison,
        verdict,
        current,
        baseline_branch=baseline_branch,
    )


# --- a baseline's content ---------------------------------------------------------------------


def test_a_baseline_has_what_its_run_measured() -> None:
    measured = measure(
        {"a": [True, False], "b": [True, (True, Fraction(1, 2))]},
        run_id="91c2",
        finished_at=STARTED_AT + timedelta(minutes=1),
        git=GitState("a41f3c2", "main", False),
        evalcli_version="1.0",
        scoring_version=3,
        treatment=Treatment(provider="main", model="model-a"),
    )
    baseline = baseline_of_run(measured.run, measured.summary)
    assert (baseline.set_identifier, baseline.target) == ("acme.faq", "support-bot")
    assert (baseline.grader, baseline.kind) == ("deterministic", "prompts")
    assert (baseline.run_id, baseline.scoring_version) == ("91c2", 3)
    assert (baseline.git.commit, baseline.evalcli_version) == ("a41f3c2", "1.0")
    assert (baseline.treatment.trials, baseline.treatment.reported_models) == (2, ("model-a",))
    assert baseline.set_at == STARTED_AT + timedelta(minutes=1)
    prompt = baseline.prompts["b"]
    assert (prompt.pass_share, prompt.score, prompt.run_id) == (Fraction(1), Fraction(3, 4), "91c2")
    assert prompt.fingerprints == Fingerprints("asked b", "graded b")
    assert baseline.prompts["a"].pass_share == Fraction(1, 2)


def test_a_baseline_can_be_dated() -> None:
    measured = measure({"a": True})
    later = STARTED_AT + timedelta(days=1)
    assert baseline_of_run(measured.run, measured.summary, set_at=later).set_at == later


def test_an_incomplete_run_is_never_a_baseline() -> None:
    measured = measure({"a": None})
    with pytest.raises(ValueError, match="incomplete"):
        baseline_of_run(measured.run, measured.summary)


# --- which runs are eligible ------------------------------------------------------------------


def test_the_first_run_becomes_the_baseline() -> None:
    measured = measure({"a": False})
    assert plan(measured, None) == (BaselineMove.SET, measured.baseline, "It is now the baseline.")


@pytest.mark.parametrize(
    ("outcomes", "changes", "reason"),
    [
        ({"a": None}, {}, "the run is incomplete"),
        ({"a": True}, {"is_draft": True}, "the run is a draft"),
        ({"a": True}, {"baseline_source": "previous"}, "the run has a --baseline of its own"),
        ({"a": True}, {"is_partial": True}, "only chosen prompts were asked"),
        ({"a": True}, {"grader": "decision"}, "nothing was compared"),
        ({"a": True}, {"content": {"a": Fingerprints("x", None)}}, "nothing was compared"),
        (
            {"a": True},
            {"limits": GateLimits(require_baseline=True)},
            "a baseline is required here, so only `evalcli baseline accept` sets one",
        ),
        (
            {"a": True},
            {"workspace_limits": GateLimits(require_baseline=True)},
            "a baseline is required here, so only `evalcli baseline accept` sets one",
        ),
        ({"a": False}, {"limits": GateLimits(min_pass_rate=Fraction(1))}, "a gate said no"),
    ],
    ids=[
        "incomplete",
        "draft",
        "own baseline",
        "partial",
        "mixed",
        "unknown",
        "required by the option",
        "required by the workspace",
        "below floor",
    ],
)
def test_a_first_run_that_is_not_eligible_sets_none(
    outcomes: dict[str, Outcome], changes: dict[str, object], reason: str
) -> None:
    measured = measure({**outcomes}, **changes)
    assert plan(measured, None) == (BaselineMove.NONE, None, f"No baseline changed: {reason}.")


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"is_draft": True}, "The baseline stays 5be0: the run is a draft."),
        (
            {"baseline_source": "5be0"},
            "No baseline changed: the run has a --baseline of its own.",
        ),
        ({"is_partial": True}, "The baseline stays 5be0: only chosen prompts were asked."),
        ({"scoring_version": 2}, "The baseline stays 5be0: nothing was compared."),
    ],
    ids=["draft", "own baseline", "partial", "mismatch"],
)
def test_an_equal_run_that_is_not_eligible_replaces_nothing(
    changes: dict[str, object], note: str
) -> None:
    assert plan(measure(passing(8, 10), **changes)) == (BaselineMove.NONE, None, note)


@pytest.mark.parametrize("limits", [ARMED, GateLimits()], ids=["armed", "not armed"])
def test_a_regression_does_not_move_the_baseline_with_or_without_the_flag(
    limits: GateLimits,
) -> None:
    measured = measure({**passing(5, 10), "new": True}, limits=limits)
    assert plan(measured)[2] == "The baseline stays 5be0: a gate said no."


@pytest.mark.parametrize(
    ("limits", "usual", "name"),
    [
        (GateLimits(Fraction(2, 10)), GateLimits(), "max_pass_rate_drop"),
        (
            GateLimits(max_mean_score_drop=Fraction(2, 10)),
            GateLimits(),
            "max_mean_score_drop",
        ),
        (
            GateLimits(min_pass_rate=Fraction(1, 10)),
            GateLimits(min_pass_rate=Fraction(2, 10)),
            "min_pass_rate",
        ),
        (GateLimits(), GateLimits(min_pass_rate=Fraction(2, 10)), "min_pass_rate"),
        (GateLimits(), GateLimits(min_mean_score=Fraction(2, 10)), "min_mean_score"),
    ],
    ids=["pass rate", "mean score", "lower floor", "no floor", "no score floor"],
)
def test_a_run_with_a_looser_limit_moves_nothing(
    limits: GateLimits, usual: GateLimits, name: str
) -> None:
    measured = measure(passing(8, 10), limits=limits, workspace_limits=usual)
    note = f"The baseline stays 5be0: looser than the workspace's: {name}."
    assert plan(measured) == (BaselineMove.NONE, None, note)


@pytest.mark.parametrize(
    "limits",
    [
        GateLimits(Fraction(0), Fraction(0)),
        GateLimits(min_pass_rate=Fraction(1, 2), min_mean_score=Fraction(1, 2)),
        GateLimits(fail_on_regression=True),
    ],
    ids=["smaller drops", "floors", "flag"],
)
def test_stricter_limits_do_not_hold_a_run_back(limits: GateLimits) -> None:
    assert plan(measure(passing(8, 10), limits=limits))[0] is BaselineMove.REPLACED


@pytest.mark.parametrize(
    ("branch", "move"),
    [("main", BaselineMove.SET), ("feature", BaselineMove.NONE), (None, BaselineMove.NONE)],
)
def test_only_the_baseline_branch_moves_it(branch: str | None, move: BaselineMove) -> None:
    measured = measure({"a": True}, git=GitState(branch=branch))
    assert plan(measured, None, baseline_branch="main")[0] is move


def test_the_branch_is_named_when_it_is_the_obstacle() -> None:
    measured = measure({"a": True}, git=GitState(branch="feature"))
    assert plan(measured, None, baseline_branch="main")[2] == (
        "No baseline changed: only runs on the branch main move it."
    )


def test_without_a_baseline_branch_every_branch_moves_it() -> None:
    measured = measure({"a": True}, git=GitState(branch="feature"))
    assert plan(measured, None)[0] is BaselineMove.SET


# --- what a later run does --------------------------------------------------------------------


def test_an_equal_run_replaces_the_baseline_with_all_its_prompts() -> None:
    measured = measure({**passing(8, 10), "new": False})
    move, baseline, note = plan(measured)
    assert (move, note) == (BaselineMove.REPLACED, "It is now the baseline: as good as 5be0.")
    assert baseline == measured.baseline
    assert baseline.baseline_id is None


def test_equal_means_both_rates() -> None:
    outcomes = {**passing(8, 10), "p009": (False, Fraction(1, 2))}
    move, _, note = plan(measure(outcomes))
    assert move is BaselineMove.NONE
    assert note == "The baseline stays 5be0: a gain within the limits does not move it."


@pytest.mark.parametrize(
    ("count", "move", "words"),
    [
        (10, BaselineMove.REPLACED, "better by more than the limits than"),
        (9, BaselineMove.NONE, "a gain within the limits does not move it"),
        (7, BaselineMove.NONE, "a tolerated drop does not move it"),
    ],
    ids=["gain beyond", "gain of exactly the limit", "drop of exactly the limit"],
)
def test_only_a_clear_gain_raises_the_baseline(count: int, move: BaselineMove, words: str) -> None:
    planned = plan(measure(passing(count, 10)))
    assert planned[0] is move
    assert words in planned[2]


def test_a_drop_of_one_rate_alone_is_a_drop() -> None:
    measured = measure({**passing(8, 10), "p000": (True, Fraction(1, 2))})
    assert plan(measured)[2] == "The baseline stays 5be0: a tolerated drop does not move it."


@pytest.mark.parametrize("gaining", ["pass rate", "mean score"])
def test_one_clear_gain_is_enough_where_the_other_rate_is_not_lower(gaining: str) -> None:
    zero, half = Fraction(0), Fraction(1, 2)
    if gaining == "pass rate":
        before, after = {"a": (False, half)}, {"a": (True, half)}
    else:
        before, after = {"a": (False, zero)}, {"a": (False, half)}
    current = measure({**before}, run_id="5be0").baseline
    assert plan(measure({**after}), current)[0] is BaselineMove.REPLACED


def test_a_clear_gain_does_not_pay_for_a_drop_of_the_other_rate() -> None:
    before = measure({"a": (False, Fraction(1, 2))}, run_id="5be0").baseline
    measured = measure({"a": (True, Fraction(9, 20))})
    assert plan(measured, before) == (
        BaselineMove.NONE,
        None,
        "The baseline stays 5be0: one rate rose and the other fell.",
    )


def test_each_rate_is_held_against_its_own_tolerance_of_the_workspace() -> None:
    usual = GateLimits(max_pass_rate_drop=Fraction(1, 2), max_mean_score_drop=Fraction(0))
    before = measure({"a": True, "b": (False, Fraction(0))}, run_id="5be0").baseline
    fewer = measure({"a": True, "b": (True, Fraction(0))}, limits=usual, workspace_limits=usual)
    better = measure(
        {"a": True, "b": (False, Fraction(1, 9))}, limits=usual, workspace_limits=usual
    )
    assert plan(fewer, before)[0] is BaselineMove.NONE
    assert plan(better, before)[0] is BaselineMove.REPLACED


def test_a_stricter_limit_of_the_run_does_not_make_a_gain_count() -> None:
    strict = GateLimits(Fraction(0), Fraction(0))
    assert plan(measure(passing(9, 10), limits=strict))[0] is BaselineMove.NONE


def test_a_run_within_the_limits_adds_its_added_prompts_only() -> None:
    move, baseline, note = plan(measure({**passing(7, 10), "new": True}, run_id="91c2"))
    assert move is BaselineMove.EXTENDED
    assert baseline is not None
    assert {i: p for i, p in baseline.prompts.items() if i != "new"} == _BEFORE.prompts
    added = baseline.prompts["new"]
    assert (added.run_id, added.pass_share, added.score) == ("91c2", Fraction(1), Fraction(1))
    assert (baseline.run_id, baseline.set_at, baseline.baseline_id) == ("5be0", STARTED_AT, None)
    assert note == (
        "The baseline stays 5be0 (a tolerated drop does not move it) and now also covers "
        "1 prompt added since: new."
    )


# --- on purpose -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "changes", "reason"),
    [
        ({"a": True, "b": None}, {}, "is incomplete and cannot be a baseline: 1 of 2 prompts"),
        ({"a": True}, {"status": RunStatus.INCOMPLETE}, "is incomplete"),
        ({"a": True}, {"grader": "decision"}, "cannot be a baseline: the run is mixed"),
        ({"a": True}, {"is_partial": True}, "asked only chosen prompts"),
    ],
    ids=["incomplete", "marked incomplete", "mixed", "partial"],
)
def test_some_runs_cannot_be_accepted(
    outcomes: dict[str, Outcome], changes: dict[str, object], reason: str
) -> None:
    measured = measure({**outcomes}, **changes)
    with pytest.raises(UsageError, match=reason) as raised:
        accept_run(measured.run, measured.summary)
    assert raised.value.exit_status is ExitStatus.USAGE
    assert raised.value.advice


@pytest.mark.parametrize(
    "changes",
    [
        {"is_draft": True},
        {"limits": GateLimits(Fraction(1), require_baseline=True)},
        {"baseline_source": "previous"},
    ],
    ids=["draft", "looser", "own baseline"],
)
def test_every_other_complete_run_can_be_accepted(changes: dict[str, object]) -> None:
    measured = measure({"a": False}, **changes)
    later = STARTED_AT + timedelta(days=1)
    accepted = accept_run(measured.run, measured.summary, set_at=later)
    assert accepted == replace(measured.baseline, set_at=later)


def test_an_accepted_run_is_what_the_next_one_is_compared_with() -> None:
    series = Series()
    series.perform(measure(passing(10, 10)))
    assert series.perform(measure(passing(5, 10))) is ExitStatus.GATE_FAILED
    series.accept_last()
    assert series.perform(measure(passing(5, 10))) is ExitStatus.OK
