"""A page of the manual as a list of blocks that can be run.

A comment above a fenced block says what the block is:

    <!-- file: PATH -->             its text is written to a file
    <!-- run -->, <!-- run: exit N -->  it is run, and ends with 0 or N
    <!-- run with the local model -->   it is run where the model is
    <!-- output -->                 what the block before printed
    <!-- not run: REASON -->        nothing is done
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.workspace import CliResult, run_command

ROOT = Path(__file__).resolve().parents[2]
WITH_MODEL = "run with the local model"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
# What differs from run to run: ids, seconds, dates.
_VARYING = (
    (r"\b[0-9a-f]{8}\b", "ID"),
    (r"\d+\.\d s\b", "N s"),
    (r"\(\d+ [A-Z][a-z]{2}\)", "(DAY)"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `mark` is the comment above it, empty where there is none."""

    mark: str
    language: str
    text: str

    @property
    def is_command(self) -> bool:
        """Whether it is meant to be typed."""
        return self.language in {"sh", "python"}


def read_blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page, in order."""
    return [
        Block(match["mark"] or "", match["language"], match["text"])
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def page_names() -> list[str]:
    """Name all pages, relative to the clone."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in pages]


def run_blocks(
    blocks: Sequence[Block], folder: Path, *, with_model: bool = False, in_shell: bool = False
) -> None:
    """Do what the blocks of a page say, one after the other, in one folder.

    Lines that only call evalcli are run in this process, for speed; with `in_shell` every block
    is handed to a shell as it stands.
    """
    printed = ""
    for block in blocks:
        kind, _, value = block.mark.partition(": ")
        if kind == "file":
            path = folder / value
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif kind == "run" or (kind == WITH_MODEL and with_model):
            printed = _run(
                block,
                folder,
                expected=int(value.partition(" ")[2] or 0),
                in_shell=in_shell or kind == WITH_MODEL,
            )
        elif kind == WITH_MODEL:
            printed = ""
        elif kind == "output" and printed:
            assert steady(printed) == steady(block.text), f"printed:\n{printed}\nnot:\n{block.text}"


def _run(block: Block, folder: Path, *, expected: int, in_shell: bool) -> str:
    if block.language == "python":
        done = _run_process([sys.executable, "-c", block.text], folder)
    elif in_shell or "\\\n" in block.text:
        done = _run_in_shell(block.text, folder)
    else:
        done = _run_lines(block.text.splitlines(), folder)
    assert done.exit == expected, f"{block.text}{done.stdout}{done.stderr}"
    return done.stdout


def _run_lines(lines: Sequence[str], folder: Path) -> CliResult:
    """Run line by line, up to the first that fails, as `bash -e` does."""
    stdout = ""
    for line in lines:
        done = _run_line(line, folder)
        stdout += done.stdout
        if done.exit != 0:
            return CliResult(done.exit, stdout, done.stderr)
    return CliResult(0, stdout, "")


def _run_line(line: str, folder: Path) -> CliResult:
    """Run `evalcli WORDS` or `evalcli WORDS > FILE` here, anything else in a shell."""
    words = shlex.split(line, comments=True)
    target = folder / words[-1] if words[-2:-1] == [">"] else None
    command = words if target is None else words[:-2]
    if command[:1] != ["evalcli"] or re.search(r"[|&;<>$`*?]", " ".join(command)):
        return _run_in_shell(line, folder)
    done = run_command(command[1:], folder)
    if target is None:
        return done
    target.write_text(done.stdout, encoding="utf-8")
    return CliResult(done.exit, "", done.stderr)


def _run_in_shell(text: str, folder: Path) -> CliResult:
    return _run_process(["bash", "-euo", "pipefail", "-c", text], folder)


def _run_process(command: list[str], folder: Path) -> CliResult:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return CliResult(done.returncode, done.stdout, done.stderr)


def steady(text: str) -> list[list[str]]:
    """Split a text into the words of its lines, with what differs from run to run left out."""
    for pattern, name in _VARYING:
        text = re.sub(pattern, name, text)
    return [line.split() for line in text.strip().splitlines()]
