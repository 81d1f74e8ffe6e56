"""The results of a batch: a JSONL file that a killed batch goes on with.

Beside it stands `<file>.batch.json`, which says what the results are made from.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from evalcli.errors import OutputError, UsageError
from evalcli.history.locks import hold_lock

Line = Mapping[str, object]

_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)
_LOCK_WAIT_S = 0.5
_FORM: Mapping[str, object] = {"schema_version": 1}
_WORDS = {
    "schema_version": "version of evalcli",
    "input_sha256": "input file",
    "profile": "profile",
    "version": "version of the profile",
    "fingerprint": "content of the profile",
    "configuration": "configuration",
    "provider": "provider",
    "model": "model",
    "data_class": "class of data",
}


class BatchOutput:
    """An open output: lines that are there already, and lines to add.

    `batch` names the batch in the history, the same one after it was resumed.
    """

    def __init__(self, path: Path, handle: int, batch: str) -> None:
        self._path = path
        self._handle = handle
        self.batch = batch

    def add(self, lines: Iterable[Line]) -> None:
        """Add lines; they are in the file when this returns.

        Raises:
            OutputError: it cannot be written (a full disk).
        """
        rest = "".join(f"{_ENCODER.encode(line)}\n" for line in lines).encode("ascii")
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError as exc:
            raise OutputError(
                f"{self._path} cannot be written: {exc.strerror or exc}",
                advice="make room; then the same command goes on where it stopped",
            ) from exc


@contextmanager
def open_output(
    path: Path, identity: Mapping[str, object], *, keep: Callable[[Line], None]
) -> Iterator[BatchOutput]:
    """Open the output of a batch; `keep` is called with each line that is complete already.

    A torn last line is cut off. `identity` is what the results are made from.

    Raises:
        UsageError: the file was made from something else, was changed by hand, cannot be written,
            is none (a folder, a pipe, a device), or another process writes it.
    """
    with ExitStack() as stack:
        try:
            if path.exists() and not path.is_file():
                raise UsageError(
                    f"--output {path} is no file", advice="name a file; a batch goes on with it"
                )
            lock = hold_lock(path.with_name(f"{path.name}.batch.lock"), wait_s=_LOCK_WAIT_S)
            stack.enter_context(lock)
            batch = _check_identity(path, identity)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            stack.callback(os.close, handle)
            end = _read_complete(path, keep)
            os.ftruncate(handle, end)
            os.lseek(handle, end, os.SEEK_SET)
        except BlockingIOError as exc:
            raise UsageError(
                f"--output {path} is being written by another process",
                advice="wait until it is done, or name another file",
            ) from exc
        except OSError as exc:
            raise UsageError(
                f"--output {path} cannot be written: {exc.strerror or exc}",
                advice="name a file in a folder that can be written to",
            ) from exc
        yield BatchOutput(path, handle, batch)


def _check_identity(path: Path, identity: Mapping[str, object]) -> str:
    """Compare what is there with what is to be made; give the batch's name."""
    state = path.with_name(f"{path.name}.batch.json")
    stored = _read_state(state)
    if not path.exists() or path.stat().st_size == 0:
        if stored is None and state.exists() and state.stat().st_size > 0:
            raise UsageError(
                f"{state} is there, and is not what a batch writes beside its output",
                advice="name another --output, or take that file away",
            )
        return _write_state(state, identity)
    if stored is None:
        raise UsageError(
            f"--output {path} exists, and nothing beside it says that it is the output of a batch",
            advice="name another file, or take this one away",
        )
    different = [
        word for key, word in _WORDS.items() if stored.get(key) != {**_FORM, **identity}.get(key)
    ]
    if different:
        raise UsageError(
            f"--output {path} was made with another {', another '.join(different)}",
            advice="name another file, or take this one away",
        )
    return str(stored["batch"])


def _read_state(state: Path) -> Mapping[str, object] | None:
    """Read what an output is made from; None where it is nothing that a batch wrote."""
    try:
        stored = json.loads(state.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return stored if isinstance(stored, dict) and "batch" in stored else None


def _write_state(state: Path, identity: Mapping[str, object]) -> str:
    """Write what an output is made from, whole or not at all; give the batch's name."""
    batch = secrets.token_hex(4)
    text = json.dumps({**_FORM, "batch": batch, **identity}, indent=2)
    unnamed = state.with_name(f"{state.name}.new")
    unnamed.write_text(f"{text}\n", encoding="utf-8")
    unnamed.replace(state)
    return batch


def _read_complete(path: Path, keep: Callable[[Line], None]) -> int:
    """Read the complete lines; give where the last one ends."""
    end = 0
    with path.open("rb") as handle:
        for number, raw in enumerate(handle, start=1):
            if not raw.endswith(b"\n"):
                break
            try:
                line = json.loads(raw)
                keep(line)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
                raise UsageError(
                    f"--output {path}: line {number} is no line of this batch",
                    advice="take the file away, or take the lines from there on out",
                ) from exc
            end += len(raw)
    return end
