"""A workspace in a temporary folder, with a scripted provider, and the CLI run inside it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer.main
from typer.testing import CliRunner

from tests.support.command_process import CommandProcess
from tests.support.server import ScriptedServer

KEY = "key-main-0000"

CONFIG = """\
providers:
  main:
    type: openai
    base_url: {url}/v1
    api_key: env:MAIN_KEY
    timeout_s: 20
    retry: {{tries: 3, delay_s: 0, total_s: 60}}
models:
  model-a: {{provider: main, capabilities: [chat]}}
configurations:
  bot: {{model: model-a}}
eval: {{configuration: bot}}
"""


@dataclass(frozen=True, slots=True)
class CliResult:
    """How one command ended."""

    exit: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Both streams together."""
        return self.stdout + self.stderr

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)


def run_command(
    words: Sequence[str],
    folder: Path,
    *,
    environ: Mapping[str, str] | None = None,
    columns: int | None = None,
) -> CliResult:
    """Run `evalcli WORDS` in a folder, in this process."""
    from evalcli.cli.app import app

    added: dict[str, str | None] = {**(environ or {})}
    if columns is not None:
        added["COLUMNS"] = str(columns)
    status: int | str | None = 0
    with chdir(folder), CliRunner().isolation(env=added) as (stdout, stderr, _):
        try:
            _built(app).main(list(words), prog_name="evalcli")
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [stream.getvalue().decode("utf-8", "replace") for stream in (stdout, stderr)]
    if not isinstance(status, int | None):
        raise TypeError(f"no exit status: {status!r}")
    return CliResult(status or 0, *texts)


_built = cache(typer.main.get_command)
"""Builds the commands of an app, once for all tests; `CliRunner.invoke` would do so each time."""


class CliWorkspace:
    """A folder with `evalcli.yaml`, sets and a history; commands run in it."""

    def __init__(self, folder: Path, server: ScriptedServer) -> None:
        self.folder = folder
        self.server = server
        self.environ: dict[str, str] = {"MAIN_KEY": KEY}
        self.write("evalcli.yaml", CONFIG.format(url=server.url))

    def write(self, path: str, text: str) -> Path:
        """Write a UTF-8 file below the workspace."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def configure(self, before: str, after: str) -> None:
        """Change one piece of `evalcli.yaml`."""
        path = self.folder / "evalcli.yaml"
        text = path.read_text(encoding="utf-8")
        if before not in text:
            raise ValueError(f"evalcli.yaml has no {before!r}")
        path.write_text(text.replace(before, after), encoding="utf-8")

    def write_set(
        self,
        identifier: str,
        prompts: Mapping[str, str] | Iterable[str],
        *,
        extra: str = "",
    ) -> None:
        """Write a set whose prompt `x` asks "Answer with x." and must contain `x`.

        A mapping gives each prompt its own text.
        """
        texts = (
            dict(prompts)
            if isinstance(prompts, Mapping)
            else {i: f"Answer with {i}." for i in prompts}
        )
        lines = ["kind: prompts", f"identifier: {identifier}", "name: Example", "prompts:"]
        for prompt_id, text in texts.items():
            lines += [
                f"  - id: {prompt_id}",
                f"    prompt: {json.dumps(text)}",
                f"    assertions: [{{contains: {json.dumps(prompt_id)}}}]",
            ]
        self.write(f"sets/{identifier}.yaml", "\n".join(lines) + "\n" + extra)

    def answer(self, right: Iterable[str], wrong: Iterable[str] = ()) -> None:
        """Script one answer for each prompt of `write_set`, right or wrong."""
        for prompt_id in right:
            self.server.reply(to=f"Answer with {prompt_id}.", text=prompt_id)
        for prompt_id in wrong:
            self.server.reply(to=f"Answer with {prompt_id}.", text="no idea")

    def run(self, *words: str, columns: int | None = None) -> CliResult:
        """Run one command in this process."""
        return run_command(words, self.folder, environ=self.environ, columns=columns)

    def start(self, *words: str, environ: Mapping[str, str] | None = None) -> CommandProcess:
        """Start one command in a forked process, in little time; see `CommandProcess`."""
        return CommandProcess(words, self.folder, {**os.environ, **self.environ, **(environ or {})})

    def popen(self, *words: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start one command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "evalcli", *words],
            cwd=self.folder,
            env={**os.environ, **self.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def process(self, *words: str, environ: Mapping[str, str] | None = None) -> CliResult:
        """Run one command as a process of its own, to its end."""
        with self.popen(*words, environ=environ) as process:
            stdout, stderr = process.communicate(timeout=60)
        return CliResult(process.returncode, stdout, stderr)

    def graded_count(self) -> int:
        """How many trials are graded so far, seen from outside of the run."""
        path = self.folder / ".evalcli" / "history.db"
        if not path.exists():
            return 0
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            query = "SELECT count(*) FROM trials WHERE state = 'graded'"
            return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:
            return 0
        finally:
            connection.close()

    def last_run(self) -> Any:
        """The newest run as `history show --format json` gives it."""
        result = self.run("history", "show", "latest", "--format", "json")
        if result.exit != 0:
            raise AssertionError(result.output)
        return result.json

    def run_count(self) -> int:
        """How many runs the history holds."""
        return len(self.run("history", "list", "--format", "json", "--limit", "1000").json["runs"])
