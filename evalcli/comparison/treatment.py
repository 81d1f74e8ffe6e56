"""The treatment: what a user tries out. Its changes are put into words, never refused."""

from __future__ import annotations

from dataclasses import replace

from evalcli.comparison.fingerprint import system_fingerprint
from evalcli.records import Run, Summary, Treatment

_NOT_SET = "not set"


def treatment_of_run(run: Run, summary: Summary) -> Treatment:
    """Complete a run's treatment by what the run itself found out: models reported, trials."""
    return replace(run.treatment, reported_models=summary.reported_models, trials=run.trials)


def describe_treatment_changes(before: Treatment, after: Treatment) -> tuple[str, ...]:
    """Name everything that differs between two treatments, one short phrase each.

    Settings come in the order of their names. A model that was reported on one side only is
    named too, since nothing says that it is the same one.
    """
    names = sorted({*before.settings, *after.settings})
    pairs = [
        ("provider", before.provider, after.provider),
        ("model", before.model, after.model),
        ("model reported", _reported(before), _reported(after)),
        *((name, before.settings.get(name), after.settings.get(name)) for name in names),
        ("trials", str(before.trials), str(after.trials)),
    ]
    phrases = [
        f"{name} {was or _NOT_SET} → {is_now or _NOT_SET}"
        for name, was, is_now in pairs
        if was != is_now
    ]
    return (*_describe_system_change(before, after), *phrases)


def _describe_system_change(before: Treatment, after: Treatment) -> tuple[str, ...]:
    was, is_now = _system_key(before), _system_key(after)
    if was == is_now:
        return ()
    if was is None:
        return ("system prompt added",)
    if is_now is None:
        return ("system prompt removed",)
    return ("system prompt changed",)


def _system_key(treatment: Treatment) -> str | None:
    """Identify the system prompt; its fingerprint is there also where texts are not kept."""
    return treatment.system_fingerprint or system_fingerprint(treatment.system)


def _reported(treatment: Treatment) -> str:
    return ", ".join(treatment.reported_models) or "not known"
