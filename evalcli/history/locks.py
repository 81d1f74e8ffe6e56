"""Locks between processes, as files beside the history; the system frees them, even after kill -9.

A child that was forked while its parent held a lock holds it too, until it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL_S = 0.02


@contextmanager
def hold_lock(path: Path, *, wait_s: float, is_kept: bool = False) -> Iterator[None]:
    """Hold the lock of this file; the file goes with the lock unless `is_kept`.

    Raises:
        BlockingIOError: another holder kept it for longer than `wait_s` seconds.
        OSError: the file cannot be made.
    """
    handle = _take(path, time.monotonic() + wait_s)
    try:
        yield
    finally:
        if not is_kept:
            # Removed while it is still locked: `_take` looks for that.
            with suppress(FileNotFoundError):
                path.unlink()
        os.close(handle)


def is_lock_held(path: Path) -> bool:
    """Whether anyone, this process included, holds the lock of this file at this moment."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _take(path: Path, deadline: float) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_S)
            continue
        if _is_still_there(path, handle):
            return handle
        os.close(handle)


def _is_still_there(path: Path, handle: int) -> bool:
    """Whether the locked file still has its name; the holder before may have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
