"""How every command that runs a golden set ends: reports written, the verdict's status given."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evalcli.cli import console
from evalcli.cli.context import OutputFormat, State
from evalcli.errors import OutputError, UsageError, strongest_status

if TYPE_CHECKING:
    from evalcli.records import RunOutcome


def check_writable(junit: Path | None) -> None:
    """Find out before anything is spent that a report has no place to go.

    Raises:
        UsageError: it has none.
    """
    if junit is not None and (junit.is_dir() or not junit.absolute().parent.is_dir()):
        raise UsageError(
            f"--junit {junit} cannot be written", advice="name a file in a folder that exists"
        )


def end_with(
    outcome: RunOutcome, state: State, junit: Path | None, *, told: Collection[str] = ()
) -> None:
    """Report a run and end the command with the exit status of its verdict.

    `told` holds notes that were told before the run started.
    """
    from evalcli.comparison.gate import exit_status_of

    status = exit_status_of(outcome.run, outcome.verdict)
    lost = None if junit is None else _write_junit(junit, outcome)
    if lost is not None:
        status = strongest_status((status, lost.exit_status))
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document, run_document

        console.out(dump_document(run_document(outcome, exit_status=status)))
    else:
        from evalcli.reports.terminal_report import render_run

        console.show(render_run(outcome, verbose=state.verbosity > 0, told=told))
    if lost is not None:
        console.render_error(lost)
    raise typer.Exit(int(status))


def _write_junit(path: Path, outcome: RunOutcome) -> OutputError | None:
    """Write the JUnit report; where that fails, the other report is still there to be shown."""
    from evalcli.reports.junit_report import render_junit

    try:
        console.write_file(path, render_junit(outcome))
    except OutputError as error:
        return error
    return None
