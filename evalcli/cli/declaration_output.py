"""What the commands about sets, profiles and evalcli.yaml print in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from evalcli.cli import console
from evalcli.cli.context import OutputFormat, state_of
from evalcli.errors import ExitStatus

if TYPE_CHECKING:
    from evalcli.loading.catalog import ValidationReport


def is_json(ctx: typer.Context) -> bool:
    """Whether stdout is to be one JSON document."""
    return state_of(ctx).output_format is OutputFormat.JSON


def print_document(document: dict[str, object]) -> None:
    """Print a JSON document with its version."""
    from evalcli.reports.json_report import SCHEMA_VERSION, dump_document

    console.out(dump_document({"schema_version": SCHEMA_VERSION, **document}))


def print_schema(name: str) -> None:
    """Print the JSON Schema of one kind of declaration."""
    from evalcli.api import workspaces
    from evalcli.reports.json_report import dump_document

    console.out(dump_document(workspaces.declaration_schema(name)))


def print_validation(ctx: typer.Context, report: ValidationReport) -> None:
    """Print all faults; ends the command with 2 where there are any."""
    from evalcli.cli.workspace_text import fault_document, report_lines

    if is_json(ctx):
        faults = [fault_document(fault) for fault in report.faults]
        print_document({"files": report.files, "faulty": report.faulty, "faults": faults})
    else:
        console.out(*report_lines(report))
    if report.faults:
        raise typer.Exit(int(ExitStatus.USAGE))
