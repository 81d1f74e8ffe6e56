"""Small runs, trials and baselines for the tests of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, cast

from evalcli.comparison.baseline_move import accept_run, baseline_of_run, plan_baseline_move
from evalcli.comparison.gate import compare_run, exit_status_of, judge_run
from evalcli.comparison.summary import summarize_trials
from evalcli.errors import ExitStatus
from evalcli.records import (
    Answer,
    Baseline,
    BaselineMove,
    CallRecord,
    Comparison,
    Fingerprints,
    GateLimits,
    Grade,
    Operation,
    PlannedPrompt,
    Run,
    RunStatus,
    Summary,
    Treatment,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
)

STARTED_AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
ARMED = GateLimits(fail_on_regression=True)

Outcome = bool | tuple[bool, Fraction] | None
"""Passed or not (score 1 or 0), with a score of its own, or None where it is unmeasured."""


_CALL = CallRecord(Operation.CHAT, provider="main", requested_model="model-a")
_ANSWER = Answer("text", model="model-a")
_ERROR = TrialError(UnmeasuredCause.PROVIDER, "503", status=503)


def make_call(**changes: object) -> CallRecord:
    return replace(_CALL, **cast("dict[str, Any]", changes))


def make_trial(prompt_id: str = "a", outcome: Outcome = True, **changes: object) -> Trial:
    values: dict[str, Any] = {"trial": 0, "call": _CALL}
    if outcome is None:
        values |= {"state": TrialState.UNMEASURED, "error": _ERROR}
    else:
        passed, score = outcome if isinstance(outcome, tuple) else (outcome, Fraction(outcome))
        values |= {"state": TrialState.GRADED, "answer": _ANSWER, "grade": Grade(passed, score)}
    return Trial(prompt_id, **(values | changes))


def make_plan(prompt_ids: Sequence[str]) -> tuple[PlannedPrompt, ...]:
    return tuple(
        PlannedPrompt(i, Fingerprints(asked=f"asked {i}", graded=f"graded {i}")) for i in prompt_ids
    )


@dataclass(frozen=True)
class Measured:
    """A run with its summary."""

    run: Run
    summary: Summary

    @property
    def baseline(self) -> Baseline:
        return baseline_of_run(self.run, self.summary)

    def compare(
        self,
        baseline: Baseline | None,
        *,
        kin: Sequence[Baseline] = (),
        other_targets: Sequence[str] = (),
    ) -> Comparison:
        return compare_run(self.run, self.summary, baseline, kin=kin, other_targets=other_targets)


def measure(
    outcomes: Mapping[str, Outcome | Sequence[Outcome]],
    *,
    content: object = None,
    summary_changes: object = None,
    **run_changes: object,
) -> Measured:
    """Make a run and its summary; a list of outcomes stands for several trials.

    `content` maps prompt ids to other `Fingerprints`, `summary_changes` and `run_changes` fields
    to other values. They are objects so that a test can hand on what it was parametrized with.
    """
    by_prompt = {i: o if isinstance(o, list) else [o] for i, o in outcomes.items()}
    other_content = cast("Mapping[str, Fingerprints]", content or {})
    plan = tuple(
        replace(p, fingerprints=other_content.get(p.prompt_id, p.fingerprints))
        for p in make_plan(list(by_prompt))
    )
    trial_count = max((len(series) for series in by_prompt.values()), default=1)
    trials = [
        make_trial(prompt_id, outcome, trial=number)
        for prompt_id, series in by_prompt.items()
        for number, outcome in enumerate(series)
    ]
    summary = replace(
        summarize_trials(plan, trials, trial_count),
        **cast("dict[str, Any]", summary_changes or {}),
    )
    run = Run(
        run_id="run1",
        kind="prompts",
        set_identifier="acme.faq",
        set_name="FAQ answers",
        target="support-bot",
        grader="deterministic",
        grader_kind="deterministic",
        status=RunStatus.COMPLETE if summary.is_complete else RunStatus.INCOMPLETE,
        started_at=STARTED_AT,
        plan=plan,
        trials=trial_count,
        treatment=Treatment(provider="main", model="model-a"),
    )
    return Measured(replace(run, **cast("dict[str, Any]", run_changes)), summary)


def passing(count: int, total: int) -> dict[str, Outcome | Sequence[Outcome]]:
    """Outcomes of `total` prompts, of which the first `count` pass."""
    return {f"p{number:03}": number < count for number in range(total)}


@dataclass
class Series:
    """One series in CI: every run is compared with the baseline of the moment and may move it."""

    limits: GateLimits = ARMED
    baseline: Baseline | None = None
    move: BaselineMove = BaselineMove.NONE
    note: str = ""
    last: Measured | None = None

    def perform(self, measured: Measured, *, baseline_branch: str | None = None) -> ExitStatus:
        """Judge a run, let it move the baseline, and give the command's exit status."""
        run = replace(measured.run, limits=self.limits, workspace_limits=self.limits)
        summary = measured.summary
        comparison = compare_run(run, summary, self.baseline)
        verdict = judge_run(run, summary, comparison)
        self.move, planned, self.note = plan_baseline_move(
            run, summary, comparison, verdict, self.baseline, baseline_branch=baseline_branch
        )
        self.baseline = planned or self.baseline
        self.last = measured
        return exit_status_of(run, verdict)

    def accept_last(self) -> None:
        """Set the baseline on purpose to the newest run."""
        if self.last is None:
            raise ValueError("there is no run to accept")
        self.baseline = accept_run(self.last.run, self.last.summary)
