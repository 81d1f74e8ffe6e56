"""evalcli history: what was measured, and how two runs differ."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import (
    FormatOption,
    OutputFormat,
    WorkspaceOption,
    state_of,
)
from evalcli.errors import UsageError

history_app = typer.Typer(no_args_is_help=True, help="List, show, compare, prune, export runs.")

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run id, a unique prefix of one, or `latest`.")
]


@history_app.command("list")
def list_command(
    ctx: typer.Context,
    identifier: Annotated[
        str | None, typer.Argument(metavar="SET", help="Only runs of this set.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """List stored runs, newest first."""
    from evalcli.api import stored_runs

    state = state_of(ctx)
    runs = stored_runs.list_runs(set_identifier=identifier, limit=limit, workspace=state.workspace)
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document, run_list_document

        console.out(dump_document(run_list_document(runs)))
        return
    from evalcli.reports.history_report import render_run_list

    console.show(render_run_list(runs, identifier))


@history_app.command("show")
def show_command(
    ctx: typer.Context,
    run: RunArgument,
    answers: Annotated[
        bool, typer.Option("--answers", metavar="", help="Show every answer, whole.")
    ] = False,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Show a stored run: its numbers, its comparison, and the answers that did not pass."""
    from evalcli.api import stored_runs

    state = state_of(ctx)
    outcome = stored_runs.show_run(run, workspace=state.workspace)
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document, run_document

        console.out(dump_document(run_document(outcome)))
        return
    from evalcli.reports.history_report import render_stored_run

    console.show(render_stored_run(outcome, show_answers=answers))


@history_app.command("compare")
def compare_command(
    ctx: typer.Context,
    before: RunArgument,
    after: RunArgument,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Compare two runs of one set, with both answers where they differ."""
    from evalcli.api import stored_runs

    state = state_of(ctx)
    old, new = stored_runs.compare_stored_runs(before, after, workspace=state.workspace)
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import comparison_document, dump_document

        console.out(dump_document(comparison_document(old, new)))
        return
    from evalcli.reports.history_report import render_comparison

    console.show(render_comparison(old, new))


@history_app.command("prune")
def prune_command(
    ctx: typer.Context,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Such as 90d, 12w, 36h.", show_default=False)
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Only say what would be removed.")
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Remove old runs; never one that a baseline rests on."""
    from evalcli.api import stored_runs
    from evalcli.reports.number_words import count

    age = read_age(older_than)
    report = stored_runs.prune_history(age, is_dry_run=dry_run, workspace=state_of(ctx).workspace)
    verb = "would be removed" if dry_run else "removed"
    removed, kept = count(report.removed, "run"), count(report.kept, "older run")
    console.out(f"{removed} {verb}; {kept} kept for a baseline.")
    if report.decisions:
        console.out(f"{count(report.decisions, 'decision')} outside of runs {verb}.")


@history_app.command("export")
def export_command(ctx: typer.Context, run: RunArgument, workspace: WorkspaceOption = None) -> None:
    """Write a run as JSON lines: the run, then its trials (what `type: replay` reads)."""
    from evalcli.api import stored_runs

    for row in stored_runs.export_run(run, workspace=state_of(ctx).workspace):
        console.out(json.dumps(row, ensure_ascii=True, allow_nan=False))


_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_AGE = re.compile(r"([0-9]{1,6})([hdw])")


def read_age(text: str) -> timedelta:
    """Read an age such as `90d`.

    Raises:
        UsageError: not a number with h, d or w.
    """
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f'--older-than "{text}" is not an age', advice="write 90d, 12w or 36h")
    return int(match[1]) * _UNITS[match[2]]
