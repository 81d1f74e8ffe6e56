"""evalcli baseline: what runs are compared with."""

from __future__ import annotations

from typing import Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import (
    FormatOption,
    OutputFormat,
    WorkspaceOption,
    state_of,
)
from evalcli.cli.history_commands import RunArgument

baseline_app = typer.Typer(no_args_is_help=True, help="Show, accept and export baselines.")

SetArgument = Annotated[str, typer.Argument(metavar="SET", help="The golden set.")]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--configuration",
        metavar="NAME",
        help="Configuration, provider/model or retriever. (default: eval.configuration)",
    ),
]
GraderOption = Annotated[
    str | None, typer.Option("--grader", metavar="NAME", help="Grader or yardstick of the series.")
]


@baseline_app.command("show")
def show_command(
    ctx: typer.Context,
    identifier: SetArgument,
    configuration: TargetOption = None,
    grader: GraderOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Show the current baseline of a set, prompt by prompt."""
    from evalcli.api import baselines

    state = state_of(ctx)
    baseline = baselines.current_baseline(
        identifier, target=configuration, grader=grader, workspace=state.workspace
    )
    if state.output_format is OutputFormat.JSON:
        from evalcli.history.baselines import dump_baseline

        console.out(dump_baseline(baseline).rstrip("\n"))
        return
    from evalcli.reports.history_report import render_baseline

    console.show(render_baseline(baseline))


@baseline_app.command("accept")
def accept_command(
    ctx: typer.Context,
    run: RunArgument,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Make a complete run the baseline on purpose, drops and changes included."""
    from evalcli.api import baselines

    state = state_of(ctx)
    acceptance = baselines.accept_baseline(run, workspace=state.workspace)
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document, run_document

        console.out(dump_document(run_document(acceptance.outcome)))
        return
    from evalcli.reports.history_report import render_acceptance

    console.show(render_acceptance(acceptance.outcome, acceptance.baseline, acceptance.previous))


@baseline_app.command("export")
def export_command(
    ctx: typer.Context,
    identifier: SetArgument,
    configuration: TargetOption = None,
    grader: GraderOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the current baseline as a small reviewable JSON file to stdout."""
    from evalcli.api import baselines
    from evalcli.history.baselines import dump_baseline

    baseline = baselines.current_baseline(
        identifier, target=configuration, grader=grader, workspace=state_of(ctx).workspace
    )
    console.out(dump_baseline(baseline).rstrip("\n"))
