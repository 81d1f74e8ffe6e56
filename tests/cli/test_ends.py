"""How the command line ends where streams, folders or words fail it: never with a 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.support.workspace import CliWorkspace

MAIN = (sys.executable, "-m", "evalcli")


def end_of(
    folder: Path, *words: str, stdout: int | IO[bytes], stderr: int | IO[bytes] = subprocess.PIPE
) -> tuple[int, str]:
    """Run a command with the streams given; gives its exit status and what it said on stderr."""
    done = subprocess.run(
        [*MAIN, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
        timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, (done.stderr or b"").decode("utf-8")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["eval", "run", "--help"], ["eval"]])
def test_full_disk_at_stdout_is_no_gate(tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        status, said = end_of(tmp_path, *words, stdout=full)

    assert status == 3
    assert said == "error: stdout cannot be written: No space left on device\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["eval", "run", "--help"]])
def test_reader_that_has_gone_changes_no_status(tmp_path: Path, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = end_of(tmp_path, *words, stdout=writer)
    finally:
        os.close(writer)

    assert ended == (0, "")


def test_help_is_shown_in_any_locale(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MAIN, "eval", "run", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii:strict", "COLUMNS": "50"},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"+- Arguments ---" in done.stdout
    assert b"..." in done.stdout  # what is cut, too


def test_signal_after_the_end_changes_no_status(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from evalcli.__main__ import main\n"
        "sys.argv = ['evalcli', '--version']\n"
        "main()\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_stdout_takes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *MAIN, "--version"],
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, b"")


def test_wrong_usage_stays_wrong_usage_where_stderr_is_full(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        status, _ = end_of(tmp_path, "eval", "run", stdout=subprocess.DEVNULL, stderr=full)

    assert status == 2


def test_folder_that_is_gone_is_no_bug(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD"; "$@"', "sh", *MAIN, "sets", "list"],
        cwd=gone, capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert b"current folder" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "run", "one.smoke", "--trials", "many", "--format", "json"],
        ["eval", "run", "one.smoke", "--nothing", "--format=json"],
        ["eval", "run", "--format", "json"],
        ["nothing", "--format", "json"],
    ],
)
def test_wrong_words_are_told_in_json_too(cli_workspace: CliWorkspace, words: list[str]) -> None:
    result = cli_workspace.run(*words)

    assert result.exit == 2
    assert result.json["error"]["code"] == "usage"
    assert result.json["error"]["exit_status"] == 2
    assert result.stderr != ""


def test_wrong_words_are_told_once_without_json(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("eval", "run", "one.smoke", "--trials", "many")

    assert result.exit == 2
    assert result.stdout == ""
    assert "--trials" in result.stderr


def test_full_disk_under_a_json_report_is_one_error(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.answer(right=["a"])
    with (
        Path("/dev/full").open("wb") as full,
        subprocess.Popen(
            [*MAIN, "eval", "run", "one.smoke", "--format", "json"],
            cwd=cli_workspace.folder,
            env={**os.environ, **cli_workspace.environ},
            stdout=full,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        said = process.communicate(timeout=60)[1].decode()

    assert process.returncode == 3
    assert said == "error: stdout cannot be written: No space left on device\n"


def test_report_file_that_fails_leaves_the_report_on_stdout(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["q1"])
    cli_workspace.answer(right=[], wrong=["q1"])

    result = cli_workspace.run(
        *("eval", "run", "one.smoke", "--min-pass-rate", "1"),
        *("--junit", "/dev/full", "--format", "json"),
    )

    assert result.exit == 3
    assert result.json["exit_status"] == 3
    assert result.json["verdict"]["word"] == "below_floor"
    assert "/dev/full cannot be written" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["history", "list", "--limit", "99999999999999999999"],
        ["history", "prune", "--older-than", "999999w"],
    ],
)
def test_numbers_beyond_all_bounds_are_no_bug(
    cli_workspace: CliWorkspace, words: list[str]
) -> None:
    assert cli_workspace.run(*words).exit in (0, 2)


def test_json_is_strict_after_a_bug(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.run("history", "list")
    database = cli_workspace.folder / ".evalcli" / "history.db"
    subprocess.run(
        [sys.executable, "-c", "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\n"
         "c.execute('alter table trials rename to trials_gone')\nc.commit()", str(database)],
        check=True,
    )  # fmt: skip

    result = cli_workspace.run("eval", "run", "one.smoke", "--format", "json")

    assert result.exit == 70
    assert json.loads(result.stdout)["error"]["code"] == "bug"
