"""The end of every run: numbers, comparison, verdict, baseline, all stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from evalcli.comparison.baseline_move import CURRENT, baseline_of_run, plan_baseline_move
from evalcli.comparison.gate import compare_run, judge_run
from evalcli.comparison.reason_text import describe_mixture
from evalcli.comparison.summary import summarize_trials
from evalcli.errors import UsageError
from evalcli.history.baselines import read_baseline_file
from evalcli.history.store import History
from evalcli.records import (
    Baseline,
    BaselineMove,
    Run,
    RunOutcome,
    RunStatus,
    Summary,
    Trial,
)
from evalcli.runs.retrieval_outcome import add_rank_changes, summarize_questions


@dataclass(frozen=True, slots=True)
class ChosenBaseline:
    """What a run is compared with, and baselines of the same kind of grader beside it."""

    baseline: Baseline | None
    kin: tuple[Baseline, ...] = ()


def finish_run(
    run: Run,
    trials: Sequence[Trial],
    history: History,
    *,
    finished_at: datetime,
    branch: str | None,
    named: ChosenBaseline | None = None,
    is_interrupted: bool = False,
    notes: Sequence[str] = (),
    align: Callable[[Baseline], Baseline] | None = None,
) -> RunOutcome:
    """Sum up, compare, judge, store, and move the baseline where the rules say so.

    `branch` is the only branch that may move a baseline, None for any. `named` is what
    `find_named_baseline` found before the run. `notes` say what a person should know of the run.
    `align` writes fingerprints of a baseline as this run writes them, where they mean the same.
    """
    summary = summarize_trials(run.plan, trials, run.trials)
    run = _as_measured(run, summary, finished_at, is_interrupted)
    chosen = ChosenBaseline(None)
    if run.status is RunStatus.COMPLETE:
        chosen = named if named is not None else _find_current_baseline(run, history)
    baseline = chosen.baseline
    if baseline is not None and align is not None:
        baseline = align(baseline)
    run = replace(run, baseline_id=baseline.baseline_id if baseline is not None else None)
    comparison = compare_run(
        run,
        summary,
        baseline,
        kin=chosen.kin,
        other_targets=history.other_targets(run.set_identifier, run.target),
    )
    comparison = add_rank_changes(comparison, run, trials, baseline, history)
    verdict = judge_run(run, summary, comparison)
    move, planned, note = plan_baseline_move(
        run, summary, comparison, verdict, baseline, baseline_branch=branch
    )
    # The run is stored before the baseline moves: should the process die in between, the next
    # run finds a complete run and no baseline, never a baseline that rests on nothing.
    history.finish_run(run, summary, comparison, verdict, notes=notes)
    if planned is not None:
        expected = baseline.baseline_id if baseline is not None else None
        if history.save_baseline(planned, expected_id=expected, how=move) is None:
            move = BaselineMove.NONE
            note = "The baseline was changed by another run meanwhile and stays as it is."
    history.note_baseline_move(run.run_id, move, note)
    return RunOutcome(
        run=run,
        trials=tuple(trials),
        summary=summary,
        comparison=comparison,
        verdict=verdict,
        baseline=baseline,
        baseline_move=move,
        baseline_note=note,
        notes=tuple(notes),
        retrieval=summarize_questions(run, trials),
    )


def find_named_baseline(run: Run, history: History) -> ChosenBaseline | None:
    """Find the baseline that a run names, before it starts; None where it takes the current one.

    It is read once, then: a pipe gives its content only once, and what becomes of a file or a run
    meanwhile is no longer the baseline that was meant.

    Raises:
        UsageError: a named run is unknown, incomplete, mixed, partial, or of another set.
        DeclarationError: a baseline file cannot be read or is of another set.
    """
    source = run.baseline_source
    if source == CURRENT:
        return None
    if run.has_baseline_file:
        baseline = read_baseline_file(Path(source))
        _check_set(run, baseline.set_identifier, f"baseline file {source}")
        return ChosenBaseline(baseline)
    if source == "previous":
        previous = history.latest_run(run.set_identifier, run.target, before_run_id=run.run_id)
        if previous is None:
            raise UsageError(
                f"--baseline previous: no earlier complete run of {run.set_identifier} on "
                f"{run.target}",
                advice="leave --baseline out for the first run",
            )
        return ChosenBaseline(baseline_of_stored_run(previous, history, source="previous"))
    chosen = history.find_run(source)
    _check_set(run, chosen.set_identifier, f"run {chosen.run_id}")
    if chosen.is_partial and not run.is_partial:
        # What it left out would count as added, and so pass without ever being compared.
        raise UsageError(
            f"run {chosen.run_id} asked only chosen {chosen.kind} and cannot be the baseline of a "
            "whole run",
            advice="name a run of the whole set, or choose the same with --only",
        )
    baseline = baseline_of_stored_run(chosen, history, source=chosen.run_id)
    _check_unmixed(chosen, history)
    return ChosenBaseline(baseline)


def _check_unmixed(run: Run, history: History) -> None:
    """Refuse to measure against numbers that no single model or yardstick stands behind."""
    trials = history.load_trials(run.run_id)
    mixture = describe_mixture(run, summarize_trials(run.plan, trials, run.trials))
    if mixture:
        raise UsageError(
            f"run {run.run_id} cannot be a baseline: {mixture}", advice="name another run"
        )


def _find_current_baseline(run: Run, history: History) -> ChosenBaseline:
    """Find what was the baseline of the run's series when it started."""
    current = history.find_baseline(
        run.set_identifier, run.target, run.grader, as_of=run.baseline_as_of
    )
    kin = history.find_baselines_of_kind(
        run.set_identifier, run.target, run.grader_kind, as_of=run.baseline_as_of
    )
    return ChosenBaseline(current, tuple(b for b in kin if b.grader != run.grader))


def baseline_of_stored_run(run: Run, history: History, *, source: str) -> Baseline:
    """Make a baseline of one stored run, for a comparison only.

    Raises:
        UsageError: the run is incomplete.
    """
    if run.status is not RunStatus.COMPLETE:
        raise UsageError(
            f"run {run.run_id} is incomplete and cannot be a baseline",
            advice=f"finish it with --resume {run.run_id}, or name another run",
        )
    summary = summarize_trials(run.plan, history.load_trials(run.run_id), run.trials)
    return replace(baseline_of_run(run, summary), source=source)


def _as_measured(run: Run, summary: Summary, finished_at: datetime, is_interrupted: bool) -> Run:
    return replace(
        run,
        status=RunStatus.COMPLETE if summary.is_complete else RunStatus.INCOMPLETE,
        finished_at=finished_at,
        grader=stored_grader(run.grader_kind, summary),
        treatment=replace(run.treatment, reported_models=summary.reported_models),
        is_interrupted=is_interrupted and not summary.is_complete,
    )


def stored_grader(kind: str, summary: Summary) -> str:
    """Choose what a run is stored under: its one yardstick, else the kind of grader.

    A run of which every grading failed is `<kind>:failed`.
    """
    if len(summary.yardsticks) == 1 and not summary.not_graded:
        return summary.yardsticks[0]
    if summary.not_graded and not summary.yardsticks:
        return f"{kind}:failed"
    return kind


def _check_set(run: Run, other: str, what: str) -> None:
    if other != run.set_identifier:
        raise UsageError(
            f"{what} is of the set {other}, not of {run.set_identifier}",
            advice="name a baseline of the same set",
        )
