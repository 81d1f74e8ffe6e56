"""The root command, whose groups are built when they are named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from evalcli import __version__
from tests.support.workspace import CliWorkspace


def test_mistyped_group_is_wrong_usage_and_the_near_one_is_named(
    cli_workspace: CliWorkspace,
) -> None:
    result = cli_workspace.run("evl")
    assert result.exit == 2
    assert "Did you mean 'eval'?" in result.output


def test_no_words_at_all_show_what_there_is(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run()
    assert result.exit == 2
    assert "Run golden sets" in result.output
    assert "Traceback" not in result.output


def test_package_that_is_broken_is_no_gate_that_said_no(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ImportError('half of it is missing')")
    done = subprocess.run(
        [sys.executable, "-m", "evalcli", "sets", "list"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 70
    assert done.stderr.startswith("error: evalcli cannot start: ImportError: half of it is missing")
    assert "Traceback" not in done.stderr


def test_group_without_a_command_says_what_there_is(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("baseline")
    assert result.exit == 2
    assert "accept" in result.output


def test_help_names_groups_and_commands_with_what_they_do(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("--help", columns=120)
    assert result.exit == 0
    for words in ("eval", "Run golden sets", "init", "Write a commented workspace", "--workspace"):
        assert words in result.stdout


def test_help_of_a_command_keeps_its_defaults(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("eval", "run", "--help", columns=160)
    assert "Ask each prompt N times. (default: 1)" in result.stdout


def test_version_alone_and_among_others_is_the_same() -> None:
    for words in (["--version"], ["--version", "sets"]):
        done = subprocess.run(
            [sys.executable, "-m", "evalcli", *words], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"evalcli {__version__}\n"
