"""The subjects of a batch: a JSONL file, one a line, read twice and never held as a whole."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evalcli.decisions.subjects import SubjectFaultError, missing_fields, read_subject
from evalcli.declarations.profile import Profile
from evalcli.errors import DeclarationError, ExitStatus, Fault, UsageError
from evalcli.records import Subject

MAX_LINE = 16 * 2**20
"""Bytes that one line may have."""

_MAX_FAULTS = 10_000
_LINES_AT_ONCE = 500
_TOO_LONG = SubjectFaultError((f"is longer than {MAX_LINE // 2**20} MB; split the subject",))


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """A file whose every line is a subject: how many there are, and its content by hash."""

    path: Path
    lines: int
    sha256: str


async def check_input(path: Path, profile: Profile) -> CheckedInput:
    """Check every line of a file before anything is sent.

    Raises:
        DeclarationError: lines are no subject, or lack what the profile requires; carries all
            faults, of which a very long list is cut.
        UsageError: the file cannot be read, or has no line.
    """
    digest = hashlib.sha256()
    faults: list[Fault] = []
    lines = faulty = 0
    with _open(path) as handle:
        for lines, raw in enumerate(_lines(handle), start=1):
            digest.update(raw)
            said = _line_faults(raw, profile)
            faulty += bool(said)
            if len(faults) < _MAX_FAULTS:
                faults += [Fault(str(path), lines, 1, "", text) for text in said]
            if lines % _LINES_AT_ONCE == 0:
                await asyncio.sleep(0)  # A signal is heard in a large file, too.
    if faulty:
        raise DeclarationError(
            f"{path}: {faulty:,} of {lines:,} lines cannot be used, and nothing was sent",
            faults=faults,
        )
    if not lines:
        raise UsageError(f"{path} is empty", advice="write one subject a line, as a JSON object")
    return CheckedInput(path, lines, digest.hexdigest())


def read_subjects(checked: CheckedInput, *, after: int) -> Iterator[tuple[int, Subject]]:
    """Read the subjects again, with their line numbers from 1, those `after` that line.

    Raises:
        UsageError: the file is not what was checked any more; what was decided stays.
    """
    digest = hashlib.sha256()
    with _open(checked.path) as handle:
        for number, raw in enumerate(_lines(handle), start=1):
            digest.update(raw)
            if number > checked.lines:
                break
            if number > after:
                try:
                    subject = read_subject(raw)
                except SubjectFaultError as exc:
                    raise _changed(checked) from exc
                yield number, subject
    if digest.hexdigest() != checked.sha256:
        raise _changed(checked)


def _changed(checked: CheckedInput) -> UsageError:
    error = UsageError(
        f"{checked.path} was changed while it was read",
        advice="start again with another --output, and leave the file alone",
    )
    error.exit_status = ExitStatus.INCOMPLETE
    return error


def _open(path: Path) -> BinaryIO:
    try:
        # A pipe has no second reading, and to open one could wait for ever.
        if path.exists() and not path.is_file():
            raise UsageError(f"--batch {path} is no file", advice="name a file; it is read twice")
        return path.open("rb")
    except (OSError, ValueError) as exc:
        cause = exc.strerror if isinstance(exc, OSError) else exc
        raise UsageError(
            f"--batch {path} cannot be read: {cause}", advice="name a file; it is read twice"
        ) from exc


def _lines(handle: BinaryIO) -> Iterator[bytes]:
    """Give the lines with their ends; one that is too long comes in part, and longer than that."""
    while raw := handle.readline(MAX_LINE + 1):
        rest = raw
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = handle.readline(MAX_LINE + 1)
        yield raw


def _line_faults(raw: bytes, profile: Profile) -> tuple[str, ...]:
    try:
        if len(raw) > MAX_LINE:
            raise _TOO_LONG
        if not raw.strip():
            return ("is blank; take the line out",)
        missing = missing_fields(profile, read_subject(raw))
    except SubjectFaultError as exc:
        return exc.faults
    if missing:
        return (f'lacks {" and ".join(missing)}, which "{profile.identifier}" requires',)
    return ()
