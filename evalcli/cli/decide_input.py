"""The words of `evalcli decide`: texts, files and stdin, as a subject."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalcli.errors import UsageError

if TYPE_CHECKING:
    from evalcli.records import Subject

_STDIN = "-"


class WordReader:
    """Reads option values: a text, `@FILE`, or `-` for stdin, which can be read once."""

    def __init__(self) -> None:
        self._stdin_option: str | None = None

    def text(self, option: str, value: str) -> str:
        """Read one value; `@@` at its beginning stands for a text that begins with `@`.

        Raises:
            UsageError: the file cannot be read or is no UTF-8 text, or stdin is read twice.
        """
        if value.startswith("@@"):
            return value[1:]
        if value != _STDIN and not value.startswith("@"):
            return value
        raw = self.content(option, value[1:] if value.startswith("@") else value)
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise UsageError(
                f"{option} {value} is no UTF-8 text (byte {exc.start + 1})",
                advice="save it as UTF-8",
            ) from exc

    def content(self, option: str, name: str) -> bytes:
        """Read the file of this name, or stdin for `-`.

        Raises:
            UsageError: it cannot be read, or stdin is read twice.
        """
        if name == _STDIN:
            if self._stdin_option is not None:
                raise UsageError(
                    f"{self._stdin_option} and {option} both read stdin",
                    advice="give one of them as a file: @FILE",
                )
            self._stdin_option = option
            return sys.stdin.buffer.read()
        try:
            return Path(name).read_bytes()
        except (OSError, ValueError) as exc:
            cause = exc.strerror if isinstance(exc, OSError) else exc
            raise UsageError(
                f"{option}: {name} cannot be read: {cause}", advice="name a text file"
            ) from exc


def read_subject_words(
    task: str | None, candidate: str | None, evidence: Sequence[str], subject: str | None
) -> Subject:
    """Read the subject from its options, or from the JSON file that `--subject` names.

    Raises:
        UsageError: both are given, or a text or the file cannot be read.
    """
    from evalcli.decisions.subjects import SubjectFaultError, read_subject
    from evalcli.records import Subject

    reader = WordReader()
    if subject is None:
        return Subject(
            task=None if task is None else reader.text("--task", task),
            candidate=None if candidate is None else reader.text("--candidate", candidate),
            evidence=tuple(reader.text("--evidence", one) for one in evidence),
        )
    if task is not None or candidate is not None or evidence:
        raise UsageError(
            "--subject goes with none of --task, --candidate and --evidence",
            advice="put all of the subject into the file, or none of it",
        )
    name = subject[1:] if subject.startswith("@") else subject
    try:
        return read_subject(reader.content("--subject", name))
    except SubjectFaultError as exc:
        first, *others = exc.faults
        more = "".join(f"; {fault}" for fault in others)
        raise UsageError(f"--subject {name} {first}{more}") from exc
