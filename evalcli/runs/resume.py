"""Whether a stored run can go on: it must still be the same run. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evalcli.errors import UsageError
from evalcli.records import PlannedPrompt, Run, RunStatus


def check_resumable(stored: Run, set_identifier: str, command: str) -> None:
    """Refuse a run of another set, or one that is complete.

    Raises:
        UsageError: it cannot be resumed, whatever is declared now.
    """
    if stored.set_identifier != set_identifier:
        raise UsageError(
            f"run {stored.run_id} is of the set {stored.set_identifier}",
            advice=f"write `evalcli eval {command} {stored.set_identifier} --resume "
            f"{stored.run_id}`",
        )
    if stored.regraded_from is not None:
        raise UsageError(
            f"run {stored.run_id} is a regrading of run {stored.regraded_from}",
            advice=f"regrade again: `{stored.resume_command}`",
        )
    if stored.status is RunStatus.COMPLETE:
        raise UsageError(
            f"run {stored.run_id} is complete: there is nothing to resume",
            advice="start a new run without --resume",
        )


def check_unchanged(stored: Run, now: Run) -> None:
    """Refuse to go on with a run whose declarations or options differ now.

    Raises:
        UsageError: names everything that differs.
    """
    differences = resume_differences(stored, now)
    if differences:
        raise UsageError(
            f"run {stored.run_id} cannot be resumed, since this differs now: "
            + "; ".join(differences),
            advice="put it back as it was, or start a new run without --resume",
        )


def resumed_run(stored: Run, now: Run) -> Run:
    """Make the run that goes on: what was measured is the stored run's, how it is judged is now's.

    `now` has the options of the first command, and in their place those that are given again.
    """
    return replace(
        stored,
        status=RunStatus.RUNNING,
        grader=now.grader_kind,
        is_draft=now.is_draft,
        limits=now.limits,
        workspace_limits=now.workspace_limits,
        baseline_source=now.baseline_source,
        options=now.options,
        is_interrupted=False,
    )


def resume_differences(stored: Run, now: Run) -> tuple[str, ...]:
    """Name what is not any more as it was when the stored run began."""
    differences = list(_plan_differences(stored.plan, now.plan))
    old, new = stored.treatment, now.treatment
    for name, was, current in (
        ("the configuration", stored.configuration, now.configuration),
        ("the provider", old.provider, new.provider),
        ("the model", old.model, new.model),
        ("the number of trials", stored.trials, now.trials),
        ("the grader", stored.grader_kind, now.grader_kind),
    ):
        if was != current:
            differences.append(f"{name} ({was} is now {current})")
    if old.system_fingerprint != new.system_fingerprint:
        differences.append("the system prompt")
    for name in sorted({*old.settings, *new.settings}):
        was, current = old.settings.get(name, "unset"), new.settings.get(name, "unset")
        if was != current:
            differences.append(f"{name} ({was} is now {current})")
    return tuple(differences)


def _plan_differences(
    stored: tuple[PlannedPrompt, ...], now: tuple[PlannedPrompt, ...]
) -> Iterator[str]:
    before = {p.prompt_id: p.fingerprints for p in stored}
    after = {p.prompt_id: p.fingerprints for p in now}
    asked = [i for i in before if i in after and before[i].asked != after[i].asked]
    graded = [
        i for i in before if i in after and i not in asked and before[i].graded != after[i].graded
    ]
    for what, ids in (
        ("changed", asked),
        ("graded otherwise", graded),
        ("removed", [i for i in before if i not in after]),
        ("added", [i for i in after if i not in before]),
    ):
        if ids:
            yield f"the set ({what}: {', '.join(ids)})"
