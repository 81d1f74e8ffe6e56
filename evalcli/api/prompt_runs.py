"""Runs of golden prompt sets, and new gradings of stored ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalcli.api.event_loop import run_async
from evalcli.api.run_surroundings import run_setting
from evalcli.api.workspaces import history_of, open_workspace
from evalcli.loading.catalog import Catalog
from evalcli.records import RunOutcome
from evalcli.runs.options import RunOptions
from evalcli.runs.prompt_run import run_prompt_set
from evalcli.runs.regrade import regrade_stored_run
from evalcli.runs.run import Listener


def run_prompts(
    set_identifier: str,
    options: RunOptions | None = None,
    *,
    workspace: Path | None = None,
    listeners: Sequence[Listener] = (),
) -> RunOutcome:
    """Run a golden prompt set, grade it, store it and compare it with its baseline.

    Every graded answer is committed before a listener hears of it. `exit_status_of(outcome)`
    gives what the command line would end with.

    Raises:
        UsageError, ConfigurationError, DeclarationError, TrustZoneError: nothing was sent.
        HistoryError: `exit_status` says whether something was sent.
        InterruptedRunError: SIGINT or SIGTERM; what was measured is kept.
    """
    loaded = open_workspace(workspace)
    catalog = Catalog(loaded)
    prompt_set = catalog.find_prompt_set(set_identifier)
    with history_of(loaded) as history:
        setting = run_setting(loaded, catalog, history, listeners)
        return run_async(run_prompt_set(prompt_set, options or RunOptions(), setting))


def regrade_run(
    run: str,
    options: RunOptions | None = None,
    *,
    workspace: Path | None = None,
    listeners: Sequence[Listener] = (),
) -> RunOutcome:
    """Grade the stored answers of a run again, asking no model for an answer; store a new run.

    `run` is an id, a unique prefix, or `latest`. Of `options`, the grader, its configuration and
    the gate count; without a grader it is the stored run's.

    Raises:
        UsageError: no such run, no texts of it, or its prompts are not declared any more.
        DecisionError, ConfigurationError: the judge cannot be asked; nothing was sent.
    """
    loaded = open_workspace(workspace)
    catalog = Catalog(loaded)
    with history_of(loaded) as history:
        source = history.find_run(run)
        prompt_set = catalog.find_prompt_set(source.set_identifier)
        setting = run_setting(loaded, catalog, history, listeners)
        return run_async(regrade_stored_run(source, prompt_set, options or RunOptions(), setting))
