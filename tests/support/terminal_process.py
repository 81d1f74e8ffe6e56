"""evalcli on a real terminal: a process whose streams are a pseudo-terminal that the test reads."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_TIMEOUT_S = 60


class TerminalProcess:
    """One command on a terminal of so many columns; as a context manager it is gone at the end."""

    def __init__(
        self, words: Sequence[str], folder: Path, environ: Mapping[str, str], *, columns: int = 100
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evalcli", *words],
            cwd=folder,
            env={**environ, "TERM": "xterm"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def read_until(self, *wanted: str) -> str:
        """Read until each of these texts was written; gives all that was written so far.

        Raises:
            AssertionError: it ended or a minute passed before.
        """
        deadline = time.monotonic() + _TIMEOUT_S
        while missing := [text for text in wanted if text.encode() not in self._seen]:
            if not self._read_some(deadline):
                raise AssertionError(f"never saw {missing} in {self._seen!r}")
        return self._text()

    def read_to_end(self) -> tuple[int, str]:
        """Wait for the end; gives the exit status and all that was written."""
        deadline = time.monotonic() + _TIMEOUT_S
        while self._read_some(deadline):
            pass
        return self._process.wait(_TIMEOUT_S), self._text()

    def _text(self) -> str:
        return self._seen.decode("utf-8").replace("\r\n", "\n")

    def _read_some(self, deadline: float) -> bool:
        """Read what is there next; False where nothing comes any more."""
        ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError as exc:
            if exc.errno != errno.EIO:  # how Linux says that nobody holds the other side
                raise
            return False
        self._seen += part
        return bool(part)
