"""stdout, stderr, errors and logging: the only place that writes to either stream.

stdout is for results, stderr for progress, logs and errors. Texts without a style are written as
they are: never wrapped, never coloured, so JSON passes through untouched. A reader that has gone
(`| head`) ends the output and changes no exit status.

Rich is imported when a style is first needed: `--help` and JSON come this way too.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple, TextIO

from evalcli.errors import DeclarationError, EvalcliError, InterruptedRunError, OutputError
from evalcli.reports.plain_text import plain_text

if TYPE_CHECKING:
    from pathlib import Path

    from rich.text import Text

    from evalcli.reports.text_layout import Report

_DEFAULT_WIDTH = 80
_MAX_FAULTS = 50
_MAX_MESSAGE = 2000


# --- what the streams are attached to ---------------------------------------------------------


class Streams(NamedTuple):
    """Both streams and what they are attached to.

    Units: `width` in cells of the terminal at stdout, None where there is none; then nothing is
    wrapped or cut. `is_live` says that a line on stderr can be redrawn.
    """

    stdout: TextIO | None
    stderr: TextIO | None
    width: int | None
    has_color: bool
    is_live: bool


def read_streams(
    stdout: TextIO | None, stderr: TextIO | None, environ: Mapping[str, str]
) -> Streams:
    """Find out what two streams are attached to, and what the environment wants of them.

    `NO_COLOR` goes before `FORCE_COLOR`; `COLUMNS` counts only where there is a terminal.
    """
    is_terminal = _is_terminal(stdout)
    is_dumb = environ.get("TERM") in ("dumb", "unknown")
    forced = environ.get("FORCE_COLOR", "").lower() not in ("", "0", "false")
    return Streams(
        stdout=stdout,
        stderr=stderr,
        width=_terminal_width(stdout, environ) if is_terminal else None,
        has_color=not environ.get("NO_COLOR") and (forced or (is_terminal and not is_dumb)),
        is_live=_is_terminal(stderr) and not is_dumb,
    )


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream is closed
        return False


def _terminal_width(stream: TextIO | None, environ: Mapping[str, str]) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        # A terminal that was never told its size reports 0.
        found = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, io.UnsupportedOperation):
        found = 0
    return found or _DEFAULT_WIDTH


def current_streams() -> Streams:
    """Look at the streams of this moment; a test or a caller may have replaced them."""
    return read_streams(sys.stdout, sys.stderr, os.environ)


def foreign_prints_aside() -> AbstractContextManager[object]:
    """Send to stderr what code that is not ours prints meanwhile: stdout is for results."""
    return redirect_stdout(sys.stderr)


# --- writing ----------------------------------------------------------------------------------


def out(*lines: str) -> None:
    """Write lines to stdout as they are: results for programs, and plain sentences.

    Raises:
        OutputError: stdout cannot take them (a full disk).
    """
    _write(sys.stdout, "".join(f"{line}\n" for line in lines))


def show(report: Report) -> None:
    """Write a report to stdout, laid out for the terminal there is, or for none.

    Raises:
        OutputError: stdout cannot take it (a full disk).
    """
    streams = current_streams()
    lines = report.lines(streams.width)
    if streams.has_color:
        _write(streams.stdout, _paint(lines))
    else:
        _write(streams.stdout, "".join(f"{line.plain}\n" for line in lines))


_print_above: Callable[[Sequence[str]], None] | None = None
"""How to write to stderr while something is drawn there."""


def set_live(print_above: Callable[[Sequence[str]], None] | None) -> None:
    """Say how lines get above what is being drawn on stderr; None when nothing is any more."""
    global _print_above
    _print_above = print_above


def err(*lines: str) -> None:
    """Write lines to stderr, above the progress bar where one is drawn."""
    if _print_above is not None:
        _print_above(lines)
        return
    # Where stderr cannot be written either, nothing is left to tell; the exit status still does.
    with contextlib.suppress(OutputError):
        _write(sys.stderr, "".join(f"{line}\n" for line in lines))


def write_file(path: Path, text: str) -> None:
    """Write a report to a file of its own, as UTF-8.

    Raises:
        OutputError: the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as exc:
        raise OutputError(
            f"{path} cannot be written: {exc.strerror or exc}", advice="name another file"
        ) from exc


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed by the caller (`>&-`)
        return
    try:
        stream.write(_encodable(text, stream))
        stream.flush()
    except BrokenPipeError:
        _let_go(stream)
    except OSError as exc:
        raise _give_up(stream, exc) from exc


def give_up_stdout(exc: OSError) -> OutputError:
    """Write no more to stdout, since another writer (the help) failed there; give the error."""
    return OutputError(_failure("stdout", exc)) if sys.stdout is None else _give_up(sys.stdout, exc)


def _give_up(stream: TextIO, exc: OSError) -> OutputError:
    name = "stderr" if stream is sys.stderr else "stdout"
    _let_go(stream)
    return OutputError(_failure(name, exc))


def _failure(name: str, exc: OSError) -> str:
    return f"{name} cannot be written: {exc.strerror or exc}"


def _let_go(stream: TextIO) -> None:
    """Point a stream nobody reads at nothing, so that neither we nor Python's end complain."""
    # A stream that is no file has no later flush to fear.
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


_ASCII_SIGNS = {
    "▇": "#",
    "…": "...",
    "→": "->",
    "·": "-",
    "–": "-",
    "│": "|",
    "’": "'",
    "“": '"',
    "”": '"',
}
_SPELLED_OUT = "evalcli.spelled_out"


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    """Replace what a stream's encoding lacks: our signs by ASCII ones, all else by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        _ASCII_SIGNS.get(sign) or sign.encode("ascii", "backslashreplace").decode("ascii")
        for sign in error.object[error.start : error.end]
    ), error.end


codecs.register_error(_SPELLED_OUT, _spell_out)


def spell_out_signs() -> None:
    """Let others who write to our streams (the help) write what the encoding lacks, as we do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELLED_OUT)


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if text.isascii():
        return text
    return text.encode(encoding, _SPELLED_OUT).decode(encoding)


def _paint(lines: Sequence[Text]) -> str:
    """Turn styles into escape sequences; the text itself holds none."""
    from rich.console import Console

    canvas = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    with canvas.capture() as capture:
        for line in lines:
            canvas.print(line, soft_wrap=True)
    return capture.get()


# --- errors -----------------------------------------------------------------------------------


def render_error(error: EvalcliError) -> None:
    """Say on stderr what is wrong, every fault on a line of its own, and what to do."""
    err(*error_lines(error))


def error_lines(error: EvalcliError) -> list[str]:
    """Put an error into harmless lines of bounded length and number."""
    lead = "" if isinstance(error, InterruptedRunError) else "error: "
    lines = [lead + plain_text(error.message, limit=_MAX_MESSAGE)]
    faults = error.faults if isinstance(error, DeclarationError) else ()
    lines += [plain_text(str(fault), limit=_MAX_MESSAGE) for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append(f"… and {len(faults) - _MAX_FAULTS:,} more faults")
    if error.advice:
        lines.append(plain_text(error.advice, limit=_MAX_MESSAGE))
    return lines


def report_bug(exc: BaseException) -> Path | None:
    """Say in two lines that evalcli has a bug, and where the log is; give the log's path.

    None where the log cannot be written.
    """
    from evalcli.cli.bug_log import bug_lines, write_bug_log

    path = write_bug_log(exc, os.environ)
    err(*bug_lines(exc, path, os.environ))
    return path


# --- logging ----------------------------------------------------------------------------------

_HANDLER_NAME = "evalcli.stderr"
_QUIET_LIBRARIES = ("httpx", "httpcore", "aiohttp", "asyncio")
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


class _StderrHandler(logging.Handler):
    """Writes each record as one line to the stderr of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            err(self.format(record))
        except Exception:  # noqa: BLE001 - a log call never fails its caller
            self.handleError(record)


class _OneLine(logging.Formatter):
    """Formats a record, its traceback included, as one harmless line."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_text(super().format(record), limit=_MAX_MESSAGE)


def setup_logging(verbosity: int) -> None:
    """Send log lines to stderr: warnings, from 1 on information, from 2 on all details."""
    root = logging.getLogger()
    if not any(handler.name == _HANDLER_NAME for handler in root.handlers):
        handler = _StderrHandler()
        handler.set_name(_HANDLER_NAME)
        handler.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)
    logging.getLogger("evalcli").setLevel(_LEVELS[min(max(verbosity, 0), 2)])
    for name in _QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
