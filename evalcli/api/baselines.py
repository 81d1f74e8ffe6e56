"""Baselines in the history: accept one, find the current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalcli.api.stored_runs import stored_outcome
from evalcli.api.workspaces import history_of, open_history, open_workspace, utc_now
from evalcli.comparison.baseline_move import accept_run
from evalcli.comparison.gate import compare_run, judge_run
from evalcli.errors import UsageError
from evalcli.records import Baseline, BaselineMove, GateLimits, RunOutcome
from evalcli.runs.retrieval_outcome import add_rank_changes


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A baseline set on purpose, and what was accepted with it."""

    baseline: Baseline
    outcome: RunOutcome
    previous: Baseline | None


def accept_baseline(run: str, *, workspace: Path | None = None) -> Acceptance:
    """Make a stored run the baseline of its series, whatever its drops.

    Raises:
        UsageError: the run is unknown, incomplete, mixed or partial.
    """
    with open_history(workspace) as history:
        stored = history.find_run(run)
        outcome = stored_outcome(history, stored)
        previous = history.find_baseline(stored.set_identifier, stored.target, stored.grader)
        baseline = accept_run(stored, outcome.summary, set_at=utc_now())
        saved = history.save_baseline(baseline, expected_id=..., how=BaselineMove.ACCEPTED)
        free = replace(stored, limits=GateLimits())
        comparison = compare_run(free, outcome.summary, previous)
        comparison = add_rank_changes(comparison, free, outcome.trials, previous, history)
        return Acceptance(
            baseline=saved if saved is not None else baseline,
            outcome=replace(
                outcome, comparison=comparison, verdict=judge_run(free, outcome.summary, comparison)
            ),
            previous=previous,
        )


def current_baseline(
    set_identifier: str,
    *,
    target: str | None = None,
    grader: str | None = None,
    workspace: Path | None = None,
) -> Baseline:
    """Find the current baseline of a set.

    `target` is the configuration's name, default `eval.configuration`; where that has no baseline
    and the set has exactly one, that one is meant. `grader` is a yardstick, or a kind of grader.

    Raises:
        UsageError: there is none, or more than one fits.
    """
    loaded = open_workspace(workspace)
    with history_of(loaded) as history:
        known = history.list_baselines(set_identifier)
    found = [
        baseline
        for baseline in known
        if (target is None or baseline.target == target)
        and grader in (None, baseline.grader, baseline.grader.partition(":")[0])
    ]
    if target is None and len(found) > 1:
        preferred = [b for b in found if b.target == loaded.file.eval.configuration]
        found = preferred or found
    if grader is None and len(found) > 1:
        found = [b for b in found if b.grader == "deterministic"] or found
    if len(found) == 1:
        return found[0]
    if not known:
        raise UsageError(
            f"{set_identifier} has no baseline in this history",
            advice="the first complete run makes one: "
            f"`evalcli eval run {set_identifier}`; `evalcli history list` shows what there is",
        )
    if not found:
        raise UsageError(
            f"{set_identifier} has no such baseline", advice=f"it has: {_series_names(known)}"
        )
    raise UsageError(
        f"{set_identifier} has {len(found)} baselines: {_series_names(found)}",
        advice="choose one with --configuration or --grader",
    )


def _series_names(baselines: Sequence[Baseline]) -> str:
    return ", ".join(f"{one.target} ({one.grader})" for one in baselines)
