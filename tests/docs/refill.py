"""Refills the parts of README and docs that come from the code: `make docs`.

    python -m tests.docs.refill [--check]

A part stands between `<!-- from the code: NAME -->` and `<!-- end -->`. With `--check` nothing is
written, and the exit status is 1 where a part is not what the code says.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from evalcli.cli.app import app
from evalcli.errors import EXIT_STATUS_MEANINGS, DecisionCode

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(r"(<!-- from the code: (?P<name>[^>]+?) -->\n)(?P<text>.*?)(<!-- end -->)", re.S)
_TERMINAL = {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "96"}


def exit_status_table() -> str:
    """Write the table of exit statuses."""
    rows = [f"| {int(status)} | {text} |" for status, text in EXIT_STATUS_MEANINGS.items()]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows])


def decision_failure_table() -> str:
    """Write the table of the codes of a decision that failed."""
    rows = []
    for code in DecisionCode:
        status = "–" if code.exit_status is None else str(int(code.exit_status))
        rows.append(f"| `{code}` | {code.meaning} | {status} |")
    return "\n".join(["| code | meaning | exit |", "| --- | --- | --- |", *rows])


def command_help() -> str:
    """Write the help of every command, in the order of `evalcli --help`."""
    parts = []
    for words in command_words():
        name = " ".join(["evalcli", *words])
        parts.append(f"## `{name}`\n\n```text\n{help_text(words)}\n```")
    return "\n\n".join(parts)


def command_words() -> Iterator[tuple[str, ...]]:
    """Give the words of every command, groups before what is in them."""
    for words, _ in commands():
        yield words


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every command with its words, groups before what is in them."""
    yield from _commands_below(typer.main.get_command(app), ())


def _commands_below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name in getattr(command, "commands", {}):
        _, inner, _ = command.resolve_command(typer.Context(command), [name])
        yield from _commands_below(inner, (*words, name))


def help_text(words: tuple[str, ...]) -> str:
    """Ask a command for its help, on the same terminal whatever the machine."""
    result = CliRunner(env=_TERMINAL).invoke(app, [*words, "--help"], prog_name="evalcli")
    if result.exit_code != 0:
        raise RuntimeError(f"evalcli {' '.join(words)} --help: {result.output}")
    return "\n".join(line.rstrip() for line in result.stdout.strip("\n").splitlines()).strip()


PARTS: dict[str, Callable[[], str]] = {
    "exit statuses": exit_status_table,
    "decision failures": decision_failure_table,
    "commands": command_help,
}


def refilled(text: str) -> str:
    """Give a page with its parts as the code says."""

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}{PARTS[match['name']]()}\n{match[4]}"

    return _PART.sub(fill, text)


def pages() -> list[Path]:
    """List the pages that may have parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    """Refill all pages, or check them."""
    parser = argparse.ArgumentParser(description="Refill the parts that come from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; 1 where one is old")
    only_check = parser.parse_args().check
    stale = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        fresh = refilled(text)
        if fresh != text:
            stale.append(page.relative_to(ROOT))
            if not only_check:
                page.write_text(fresh, encoding="utf-8")
    for page in stale:
        print(f"{page}: {'not what the code says; run `make docs`' if only_check else 'refilled'}")
    return 1 if stale and only_check else 0


if __name__ == "__main__":
    sys.exit(main())
