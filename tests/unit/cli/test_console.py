"""stdout and stderr: harmless, whole, in any locale, and quiet when nobody reads."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcli.cli import console
from evalcli.errors import (
    DeclarationError,
    Fault,
    InterruptedRunError,
    OutputError,
    UsageError,
)
from evalcli.reports.text_layout import Page, Report


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _run(
    code: str, *, environ: dict[str, str] | None = None, redirect: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run a piece of Python that uses the console; `redirect` follows it on the command line."""
    return subprocess.run(  # noqa: S602 - our own code
        f'"{sys.executable}" -c "$CODE" {redirect}',
        shell=True,
        capture_output=True,
        check=False,
        env={**os.environ, "CODE": f"from evalcli.cli import console\n{code}", **(environ or {})},
    )


def _report(*lines: str, style: str = "") -> Report:
    def write(page: Page) -> None:
        for line in lines:
            page.say(line, style=style)

    return Report(write)


# --- what the streams are attached to ---------------------------------------------------------


def test_pipe_has_no_width_and_no_colour() -> None:
    environ = {"COLUMNS": "40", "TERM": "xterm"}
    streams = console.read_streams(io.StringIO(), io.StringIO(), environ)
    assert (streams.width, streams.has_color, streams.is_live) == (None, False, False)


@pytest.mark.parametrize(
    ("environ", "has_color"),
    [
        ({}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_terminal_has_colour_unless_told_otherwise(
    environ: dict[str, str], has_color: bool
) -> None:
    assert console.read_streams(FakeTerminal(), None, environ).has_color is has_color


@pytest.mark.parametrize(("value", "has_color"), [("1", True), ("0", False), ("", False)])
def test_colour_can_be_forced_into_a_pipe(value: str, has_color: bool) -> None:
    streams = console.read_streams(io.StringIO(), None, {"FORCE_COLOR": value})
    assert streams.has_color is has_color
    assert streams.width is None


@pytest.mark.parametrize(
    ("columns", "width"),
    [("120", 120), ("0", 80), ("-5", 80), ("wide", 80), ("", 80), ("²", 80)],
)
def test_width_of_a_terminal_comes_from_columns_where_that_is_a_number(
    columns: str, width: int
) -> None:
    assert console.read_streams(FakeTerminal(), None, {"COLUMNS": columns}).width == width


def test_bar_is_drawn_only_where_a_line_can_be_redrawn() -> None:
    assert console.read_streams(None, FakeTerminal(), {}).is_live
    assert not console.read_streams(None, FakeTerminal(), {"TERM": "dumb"}).is_live
    assert not console.read_streams(FakeTerminal(), io.StringIO(), {}).is_live


def test_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert console.read_streams(stream, None, {}).width is None


# --- writing ----------------------------------------------------------------------------------


def test_lines_are_written_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps({"answer": "[bold]no[/bold] " + "word " * 200})
    console.out(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_report_in_a_pipe_is_plain_and_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    console.show(_report("word " * 100 + "[red]x", style="red"))
    assert capsys.readouterr().out == "word " * 100 + "[red]x\n"


def test_forced_colour_reaches_reports_but_not_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.show(_report("[red]x", style="bold red"))
    console.out('{"a": 1}')
    assert capsys.readouterr().out == '\x1b[1;31m[red]x\x1b[0m\n{"a": 1}\n'


def test_report_on_a_terminal_is_wrapped_and_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = FakeTerminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    console.show(_report("word " * 10, style="red"))
    assert terminal.getvalue().splitlines() == [
        "\x1b[31mword word word word word word word word\x1b[0m",
        "\x1b[31mword word\x1b[0m",
    ]


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", b"92 % -> 93 % - \\u65e5 \\xe9 \\ud800 ...\n"),
        ("latin-1", b"92 % -> 93 % \xb7 \\u65e5 \xe9 \\ud800 ...\n"),
        ("utf-8", "92 % → 93 % · 日 é \\ud800 …\n".encode()),
    ],
)
def test_what_an_encoding_lacks_is_spelled_out(encoding: str, shown: bytes) -> None:
    done = _run(
        r'console.out("92 % \u2192 93 % \xb7 \u65e5 \xe9 \ud800 \u2026")',
        environ={"PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, b"")


def test_c_locale_without_utf8_mode_is_no_crash() -> None:
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = _run(r'console.out("\u65e5 \ud800"); console.err("\u65e5")', environ=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\\u65e5 \\ud800\n", b"\\u65e5\n")


def test_reader_that_takes_one_line_hears_no_complaint() -> None:
    code = "for _ in range(20000): console.out('x' * 100)"
    done = _run(code, redirect="| head -n 1")
    assert (done.stdout, done.stderr) == (b"x" * 100 + b"\n", b"")


def test_reader_that_has_gone_changes_no_exit_status() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    code = "import sys\nfor _ in range(3): console.out('x' * 100_000)\nsys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-c", f"from evalcli.cli import console\n{code}"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (7, b"")


def test_closed_stdout_is_no_crash() -> None:
    done = _run("console.out('x'); console.err('y')", redirect=">&- 2>&-")
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_full_disk_is_an_error_of_its_own() -> None:
    code = (
        "from evalcli.errors import OutputError\n"
        "try: console.out('x')\n"
        "except OutputError as error: console.render_error(error); raise SystemExit(3)"
    )
    done = _run(code, redirect="> /dev/full")
    assert done.returncode == 3
    assert done.stderr == b"error: stdout cannot be written: No space left on device\n"


def test_full_stderr_is_silent() -> None:
    done = _run("console.err('x')", redirect="2> /dev/full")
    assert done.returncode == 0


def test_report_file_is_utf8(tmp_path: Path) -> None:
    console.write_file(tmp_path / "junit.xml", "日\ud800\n")
    assert (tmp_path / "junit.xml").read_text(encoding="utf-8") == "日\\ud800\n"


def test_report_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file"):
        console.write_file(tmp_path / "no" / "junit.xml", "x")


# --- errors -----------------------------------------------------------------------------------


def test_error_says_what_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    console.render_error(UsageError('unknown set "a"', advice='write "b"'))
    captured = capsys.readouterr()
    assert captured.err == 'error: unknown set "a"\nwrite "b"\n'
    assert captured.out == ""


def test_each_fault_has_a_line_with_its_place() -> None:
    faults = [Fault("sets/a.yaml", n, 3, "prompts[0].id", "is odd", "write b") for n in (1, 2)]
    assert console.error_lines(DeclarationError("2 faults", faults=faults)) == [
        "error: 2 faults",
        "sets/a.yaml:1:3: prompts[0].id: is odd; write b",
        "sets/a.yaml:2:3: prompts[0].id: is odd; write b",
    ]


def test_errors_are_bounded() -> None:
    faults = [Fault("a.yaml", n, 1, "", "x" * 10_000) for n in range(1000)]
    lines = console.error_lines(DeclarationError("y" * 10_000, faults=faults))
    assert len(lines) == 52
    assert lines[-1] == "… and 950 more faults"
    assert all(len(line) <= 2010 for line in lines)


def test_errors_obey_nothing() -> None:
    (line,) = console.error_lines(UsageError("[red]\x1b[31m\n\u202e"))
    assert line == r"error: [red]\x1b[31m\n\u202e"


def test_interruption_is_no_error() -> None:
    error = InterruptedRunError("interrupted: 3 of 9 measured", run_id="91c2")
    assert console.error_lines(error) == ["interrupted: 3 of 9 measured"]


# --- logging ----------------------------------------------------------------------------------


@pytest.fixture
def own_logging() -> Iterator[None]:
    """Put the process's logging back as it was."""
    root, own = logging.getLogger(), logging.getLogger("evalcli")
    handlers, level = root.handlers[:], own.level
    yield
    root.handlers[:] = handlers
    own.setLevel(level)


@pytest.mark.usefixtures("own_logging")
def test_log_line_is_one_harmless_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.setup_logging(0)
    logging.getLogger("evalcli.calls").warning("a\nb %s", "\x1b[31m")
    assert capsys.readouterr().err == "WARNING evalcli.calls: a\\nb \\x1b[31m\n"


@pytest.mark.usefixtures("own_logging")
def test_logged_exception_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.setup_logging(0)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("evalcli.calls").exception("failed")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR evalcli.calls: failed\\nTraceback")


@pytest.mark.usefixtures("own_logging")
@pytest.mark.parametrize(
    ("verbosity", "levels"),
    [(0, ["WARNING"]), (1, ["WARNING", "INFO"]), (2, ["WARNING", "INFO", "DEBUG"])],
)
def test_verbosity_chooses_what_is_logged(
    verbosity: int, levels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    console.setup_logging(verbosity)
    for level in ("WARNING", "INFO", "DEBUG"):
        logging.getLogger("evalcli.x").log(getattr(logging, level), "hello")
        logging.getLogger("httpx").info("a request, with its headers")
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[0] for line in lines] == levels


@pytest.mark.usefixtures("own_logging")
def test_handler_is_set_once(capsys: pytest.CaptureFixture[str]) -> None:
    console.setup_logging(0)
    console.setup_logging(0)
    logging.getLogger("evalcli.x").warning("hello")
    assert len(capsys.readouterr().err.splitlines()) == 1


# --- bugs -------------------------------------------------------------------------------------


def test_bug_is_two_lines_and_a_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".evalcli").mkdir()
    path = console.report_bug(TypeError("odd\nvalue"))
    assert path is not None
    assert path.parent == tmp_path / ".evalcli"
    assert capsys.readouterr().err.splitlines() == [
        r"bug: TypeError: odd\nvalue",
        f"This is a fault of evalcli and says nothing about what was measured; the log is {path}",
    ]
