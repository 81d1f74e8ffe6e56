"""Stored runs: list, show, compare, prune, export."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evalcli.api.workspaces import open_history, utc_now
from evalcli.comparison.gate import compare_run, judge_run
from evalcli.comparison.summary import summarize_trials
from evalcli.errors import UsageError
from evalcli.history.store import History
from evalcli.records import PruneReport, Run, RunListing, RunOutcome, RunStatus
from evalcli.runs.finish import baseline_of_stored_run
from evalcli.runs.retrieval_outcome import add_rank_changes, summarize_questions

_MAX_LISTED = 1_000_000


def list_runs(
    *, set_identifier: str | None = None, limit: int = 20, workspace: Path | None = None
) -> tuple[RunListing, ...]:
    """List stored runs, newest first.

    Raises:
        UsageError: `limit` is not a number from 1 to a million.
    """
    if not 1 <= limit <= _MAX_LISTED:
        raise UsageError(f"limit {limit} is out of range", advice=f"give 1 to {_MAX_LISTED}")
    with open_history(workspace) as history:
        return history.list_runs(set_identifier=set_identifier, limit=limit)


def show_run(run: str, *, workspace: Path | None = None) -> RunOutcome:
    """Read a stored run with its answers, comparison and verdict.

    `run` is an id, a unique prefix, or `latest`.

    Raises:
        UsageError: no such run, or more than one.
    """
    with open_history(workspace) as history:
        return stored_outcome(history, history.find_run(run))


def stored_outcome(history: History, run: Run) -> RunOutcome:
    """Put a stored run together as its report showed it."""
    trials = history.load_trials(run.run_id)
    summary = summarize_trials(run.plan, trials, run.trials)
    stored = history.load_outcome(run.run_id)
    baseline = history.load_baseline(run.baseline_id) if run.baseline_id is not None else None
    if stored is None:
        comparison = compare_run(run, summary, None)
        return RunOutcome(
            run,
            trials,
            summary,
            comparison,
            judge_run(run, summary, comparison),
            baseline,
            retrieval=summarize_questions(run, trials),
        )
    return RunOutcome(
        run=run,
        trials=trials,
        summary=summary,
        comparison=stored.comparison,
        verdict=stored.verdict,
        baseline=baseline,
        baseline_move=stored.baseline_move,
        baseline_note=stored.baseline_note,
        notes=stored.notes,
        retrieval=summarize_questions(run, trials),
    )


def compare_stored_runs(
    before: str, after: str, *, workspace: Path | None = None
) -> tuple[RunOutcome, RunOutcome]:
    """Compare two stored runs of one set; the second outcome's comparison is against the first.

    Raises:
        UsageError: a run is unknown or incomplete, or they are of different sets.
    """
    with open_history(workspace) as history:
        old, new = history.find_run(before), history.find_run(after)
        if old.set_identifier != new.set_identifier:
            raise UsageError(
                f"run {old.run_id} is of {old.set_identifier}, run {new.run_id} of "
                f"{new.set_identifier}",
                advice="compare two runs of one set",
            )
        baseline = baseline_of_stored_run(old, history, source=old.run_id)
        if new.status is not RunStatus.COMPLETE:
            raise UsageError(
                f"run {new.run_id} is incomplete", advice="finish it with --resume first"
            )
        outcome = stored_outcome(history, new)
        run = replace(new, limits=replace(new.limits, fail_on_regression=False))
        comparison = compare_run(run, outcome.summary, baseline)
        comparison = add_rank_changes(comparison, run, outcome.trials, baseline, history)
        compared = RunOutcome(
            run=run,
            trials=outcome.trials,
            summary=outcome.summary,
            comparison=comparison,
            verdict=judge_run(run, outcome.summary, comparison),
            baseline=baseline,
            retrieval=outcome.retrieval,
        )
        return stored_outcome(history, old), compared


def prune_history(
    older_than: timedelta, *, is_dry_run: bool = False, workspace: Path | None = None
) -> PruneReport:
    """Remove runs that are older; never one that a baseline rests on.

    Raises:
        UsageError: the age is negative.
    """
    if older_than < timedelta(0):
        raise UsageError("an age cannot be negative", advice="give timedelta(days=90), say")
    now = utc_now()
    # Older than all time there is: nothing is.
    before = now - min(older_than, now - datetime.min.replace(tzinfo=UTC))
    with open_history(workspace) as history:
        return history.prune(older_than=before, dry_run=is_dry_run)


def export_run(run: str, *, workspace: Path | None = None) -> Iterator[dict[str, object]]:
    """Give a stored run as JSON-able rows: the run first, then its trials."""
    with open_history(workspace) as history:
        yield from history.export_run(history.find_run(run).run_id)
