"""Long texts in files of their own: `{file: prompts/long.md}`, inside one folder only.

The folder is the workspace, or the package that a declaration came with.
"""

from __future__ import annotations

import os
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from evalcli.declarations.scalars import ValueFaultError, cite
from evalcli.loading.source_text import (
    MAX_ROWS_BYTES,
    MAX_TEXT_BYTES,
    SourceTextError,
    decode_source,
    read_bounded,
)

_AT = ("file",)


def real_path(path: Path) -> Path:
    """Follow all links of a path; one that ends nowhere or in a loop is followed as far as it goes.

    Unlike `Path.resolve`, which raises RuntimeError on a loop before Python 3.13.
    """
    return Path(os.path.realpath(path))


class TextFolder:
    """The folder that the long texts of a declaration are read from.

    `beside` is the folder of the declaration, for advice: paths begin at `root`, not there.
    """

    def __init__(self, root: Traversable, *, beside: Path | None = None) -> None:
        self._root = root
        self._beside = beside

    def read_text(self, name: str) -> str:
        """Read the text a declaration names; line ends become LF.

        Raises:
            ValueFaultError: it is outside, missing, too large or no UTF-8 text.
        """
        parts = PurePosixPath(name).parts
        if "\\" in name or "\0" in name:
            raise ValueFaultError(
                f"{cite(name)} is no path", advice='write "/" between folders', path=_AT
            )
        if not parts or name.startswith("/") or ".." in parts:
            raise self._outside(name)
        try:
            return self._read(name, parts)
        except SourceTextError as exc:
            raise ValueFaultError(
                f"{cite(name)}, line {exc.line}, column {exc.column}: {exc.message}",
                advice=exc.advice,
                path=_AT,
            ) from None
        except OSError as exc:
            raise ValueFaultError(
                f"{cite(name)} cannot be read: {exc.strerror or type(exc).__name__}",
                advice="check the file's name and permissions",
                path=_AT,
            ) from exc

    def _read(self, name: str, parts: tuple[str, ...]) -> str:
        file = self._root.joinpath(*parts)
        if isinstance(file, Path) and isinstance(self._root, Path):
            # A link may lead anywhere; what counts is where it ends.
            file = real_path(file)
            if not file.is_relative_to(real_path(self._root)):
                raise self._outside(name)
        if not file.is_file():
            raise self._missing(name, file)
        with file.open("rb") as stream:
            limit = MAX_ROWS_BYTES if name.endswith(".jsonl") else MAX_TEXT_BYTES
            return decode_source(read_bounded(stream, limit))

    def _outside(self, name: str) -> ValueFaultError:
        return ValueFaultError(
            f"{cite(name)} is outside {self._describe()}",
            advice="name a file inside it, by a path that begins there",
            path=_AT,
        )

    def _missing(self, name: str, file: Traversable) -> ValueFaultError:
        if isinstance(file, Path) and file.exists():
            return ValueFaultError(
                f"{cite(name)} is no ordinary file", advice="name a text file", path=_AT
            )
        advice = f"paths begin at {self._describe()}"
        if self._beside is not None and isinstance(self._root, Path):
            beside = self._beside / name
            if beside.is_file() and beside.is_relative_to(self._root):
                advice = f'write "{beside.relative_to(self._root).as_posix()}": {advice}'
        return ValueFaultError(f"there is no file {cite(name)}", advice=advice, path=_AT)

    def _describe(self) -> str:
        if not isinstance(self._root, Path):
            return "its package"
        return f"the folder {real_path(self._root)}"
