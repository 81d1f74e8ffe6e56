"""The log of a bug: the traceback, without what looks like a key."""

from __future__ import annotations

import os
import platform
import re
import tempfile
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from evalcli import __version__
from evalcli.reports.plain_text import plain_text

_MAX_MESSAGE = 300
_SECRET_NAMES = re.compile(r"(?i)(key|token|secret|password|passwd|credential)")
_SECRET_FORMS = re.compile(r"(?i)\b(bearer|basic)\s+[^\s'\"]+|(?<=://)[^/@\s]+(?=@)")
_MIN_SECRET = 6
_REMOVED = "[removed]"


def bug_lines(exc: BaseException, path: Path | None, environ: Mapping[str, str]) -> tuple[str, str]:
    """Say in two lines what happened and where the log is."""
    summary = _without_secrets(f"{type(exc).__name__}: {exc}", environ)
    where = f"the log is {path}" if path is not None else "no log could be written"
    return (
        f"bug: {plain_text(summary, limit=_MAX_MESSAGE)}",
        f"This is a fault of evalcli and says nothing about what was measured; {where}",
    )


def write_bug_log(exc: BaseException, environ: Mapping[str, str]) -> Path | None:
    """Write the traceback to a file of its own; None where that cannot be done.

    The file is in `.evalcli` where the current folder has one, else where temporary files are.
    """
    now = datetime.now(UTC)
    name = f"evalcli-bug-{now:%Y%m%dT%H%M%S}-{os.getpid()}-{time.monotonic_ns() % 10**6:06}.log"
    text = (
        f"evalcli {__version__} on Python {platform.python_version()} ({platform.platform()}), "
        f"{now.isoformat(timespec='seconds')}\n\n{''.join(traceback.format_exception(exc))}"
    )
    own = Path(".evalcli")
    for folder in ([own] if own.is_dir() else []) + [Path(tempfile.gettempdir())]:
        path = (folder / name).absolute()
        try:
            # Nobody else may read what a traceback holds, and nothing that stands there is used.
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as log:
                log.write(_without_secrets(text, environ))
        except OSError:
            continue
        return path
    return None


def _without_secrets(text: str, environ: Mapping[str, str]) -> str:
    for name, value in environ.items():
        if len(value) >= _MIN_SECRET and _SECRET_NAMES.search(name):
            text = text.replace(value, _REMOVED)
    return _SECRET_FORMS.sub(_REMOVED, text)
