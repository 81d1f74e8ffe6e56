"""The one error boundary: every exception becomes output and an exit status here.

Python ends with 1 on an uncaught exception, and so do Typer and Rich where a stream fails them;
1 means that a gate said no.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import typer
from typer.exceptions import TyperException

from evalcli.cli import console
from evalcli.cli.bug_log import bug_lines
from evalcli.cli.context import OutputFormat, state_of
from evalcli.cli.lazy_group import LazyGroup
from evalcli.errors import EvalcliError, ExitStatus, InterruptedRunError, UsageError

_WRITERS = ("rich", "typer")


class ErrorBoundary(LazyGroup):
    """The root group: runs a command and turns what it raises into text and a status."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **named: Any) -> Any:
        """Run the command line and end the process; the words themselves may be wrong."""
        words = sys.argv[1:] if args is None else list(args)
        is_json = _wants_json(words)
        try:
            console.spell_out_signs()
            return super().main(words, *others, **named)
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):
                raise SystemExit(int(ExitStatus.OK)) from None
            if is_json and isinstance(end.__context__, TyperException):
                _show_in_json(UsageError(end.__context__.format_message()))
            raise
        except BaseException as exc:  # noqa: BLE001 - the last one there is
            if isinstance(exc.__context__, TyperException):  # stderr could not take its text
                raise SystemExit(int(ExitStatus.USAGE)) from None
            raise SystemExit(int(_end_with(exc, is_json=is_json))) from None

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except SystemExit:
            raise
        except BaseException as exc:  # also what no `except Exception` sees, a cancelled task say
            if _is_typers_own(exc):
                raise
            is_json = state_of(ctx).output_format is OutputFormat.JSON
            status = _end_with(exc, is_json=is_json)
        raise typer.Exit(int(status)) from None


def _end_with(exc: BaseException, *, is_json: bool) -> ExitStatus:
    """Say what happened; give the exit status."""
    if isinstance(exc, KeyboardInterrupt | typer.Abort):
        exc = InterruptedRunError("interrupted", run_id="")
    elif isinstance(exc, OSError) and _is_from_writing(exc):
        if isinstance(exc, BrokenPipeError):
            return ExitStatus.OK
        exc = console.give_up_stdout(exc)
    if not isinstance(exc, EvalcliError):
        return _end_with_bug(exc, is_json=is_json)
    if is_json:
        _show_in_json(exc)
    console.render_error(exc)
    return exc.exit_status


def _end_with_bug(exc: BaseException, *, is_json: bool) -> ExitStatus:
    path = console.report_bug(exc)
    if is_json:
        what, advice = bug_lines(exc, path, os.environ)
        bug = EvalcliError(what, advice=advice)
        bug.code, bug.exit_status = "bug", ExitStatus.BUG
        _show_in_json(bug)
    return ExitStatus.BUG


def _show_in_json(error: EvalcliError) -> None:
    from evalcli.reports.json_report import dump_document, error_document

    console.out(dump_document(error_document(error)))


def _wants_json(words: Sequence[str]) -> bool:
    """Whether JSON was asked for, by words that may be too wrong to be parsed."""
    return "--format=json" in words or ("--format", "json") in pairwise(words)


def _is_from_writing(exc: OSError) -> bool:
    """Whether Rich or Typer raised it: of all they do here, only writing can."""
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in _WRITERS


def _is_typers_own(exc: BaseException) -> bool:
    """Whether an exception is Typer's way to end: usage errors (2) and exits."""
    if isinstance(exc, typer.Abort) or type(exc).__module__.partition(".")[0] != "typer":
        return False
    if getattr(exc, "exit_code", None) == 1 and not isinstance(exc, typer.Exit):
        # Typer's remaining errors are about files and values given: wrong usage, not a gate.
        exc.exit_code = int(ExitStatus.USAGE)  # type: ignore[attr-defined]
    return True
