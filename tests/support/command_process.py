"""evalcli in processes of their own, for tests that kill, interrupt and race them.

They are forked from one process that has loaded evalcli, since to load it takes longer than what
most such tests are about. A test about the start or the end of a process uses `subprocess`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from evalcli.__main__ import main

forked = multiprocessing.get_context("forkserver")
"""Fresh processes; whoever is first starts the server for all, so all preloads stand here."""
forked.set_forkserver_preload(
    [
        "evalcli.api.baselines",
        "evalcli.api.decisions",
        "evalcli.api.prompt_runs",
        "evalcli.api.question_runs",
        "evalcli.cli.app",
        "evalcli.cli.progress",
        "evalcli.http_client",
        "evalcli.providers.openai",
        "evalcli.reports.terminal_report",
        "tests.support.command_process",
        "tests.support.history_workers",
    ]
)


def wait_until(condition: Callable[[], bool], timeout_s: float = 30) -> None:
    """Look every few milliseconds until something holds that another process does."""
    pause = threading.Event()
    for _ in range(int(timeout_s / 0.01)):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it did not happen in time")


class CommandProcess:
    """One command under way; used as a context manager it is gone at the end."""

    def __init__(self, words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self._output = tempfile.TemporaryDirectory()
        self._streams = [Path(self._output.name) / name for name in ("stdout", "stderr")]
        self._process = forked.Process(
            target=_perform, args=(list(words), folder, dict(environ), self._streams)
        )
        self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._output.cleanup()

    @property
    def returncode(self) -> int:
        """Its exit status, negative where a signal ended it."""
        if self._process.exitcode is None:
            raise ValueError("it is still running")
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal.

        Raises:
            ProcessLookupError: it has ended.
        """
        if self._process.pid is None or self._process.exitcode is not None:
            raise ProcessLookupError(f"{number.name} comes too late")
        os.kill(self._process.pid, number)

    def communicate(self, *, timeout: float) -> tuple[str, str]:
        """Wait for its end; gives what it wrote to stdout and stderr.

        Raises:
            TimeoutError: it was still running after `timeout` seconds.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(f"still running after {timeout} seconds")
        stdout, stderr = (
            path.read_text(encoding="utf-8") if path.exists() else "" for path in self._streams
        )
        return stdout, stderr


def _perform(
    words: list[str], folder: Path, environ: dict[str, str], streams: Sequence[Path]
) -> None:
    """Be what `python -m evalcli WORDS` is."""
    for descriptor, path in enumerate(streams, start=1):
        opened = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["evalcli", *words]
    main()
