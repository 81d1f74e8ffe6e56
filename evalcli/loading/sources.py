"""Where declarations come from: the workspace, evalcli itself, installed packages."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from evalcli.errors import Fault
from evalcli.loading.long_text import TextFolder, real_path
from evalcli.loading.nodes import Place
from evalcli.loading.reader import Reading, read_declaration
from evalcli.loading.source_text import MAX_FILE_BYTES, SourceTextError, read_bounded
from evalcli.reports.plain_text import plain_text

_SUFFIXES = (".yaml", ".yml")
_BUILTIN_PREFIX = "nr_"  # as in `nr.smoke`


@dataclass(frozen=True, slots=True)
class Source:
    """One file that should hold a declaration.

    `shown` is its name in messages; `origin` says in words where it comes from; long texts are
    read below `root`.
    """

    file: Traversable
    shown: str
    origin: str
    root: Traversable

    def identity(self) -> object:
        """Give what is the same for one real file, by whatever way it was found."""
        if isinstance(self.file, Path):
            with contextlib.suppress(OSError):
                status = self.file.stat()
                return status.st_dev, status.st_ino
        return str(self.file)

    def read(self, folder: str) -> Reading:
        """Read the declaration, or what is wrong with the file."""
        try:
            data = self._read_bytes()
        except SourceTextError as exc:
            return self._unreadable(exc.message, exc.advice)
        except OSError as exc:
            cause = exc.strerror or type(exc).__name__
            return self._unreadable(f"cannot be read: {cause}", "check the file")
        beside = self.file.parent if isinstance(self.file, Path) else None
        texts = TextFolder(self.root, beside=beside)
        return read_declaration(data, self.shown, folder=folder, read_text=texts.read_text)

    def _read_bytes(self) -> bytes:
        # A pipe or a device would never end.
        if isinstance(self.file, Path) and not stat.S_ISREG(self.file.stat().st_mode):
            raise SourceTextError(1, 1, "is no ordinary file", "write a file, or remove it")
        with self.file.open("rb") as stream:
            return read_bounded(stream, MAX_FILE_BYTES)

    def _unreadable(self, message: str, advice: str) -> Reading:
        fault = Fault(plain_text(self.shown), 1, 1, "", message, advice)
        return Reading(self.shown, Place(1, 1), faults=(fault,))


@dataclass(frozen=True, slots=True)
class FoundSources:
    """All files of one folder name, each once, and what could not be looked into."""

    sources: tuple[Source, ...]
    faults: tuple[Fault, ...]


def find_sources(folder: str, *, root: Path | None, cwd: Path) -> FoundSources:
    """Find the files of `sets` or `profiles`: workspace, built-ins, then packages by name."""
    sources: list[Source] = []
    faults: list[Fault] = []
    if root is not None:
        sources += _sources_in(root / folder, "workspace", root, cwd, faults)
    builtin = builtin_root()
    shipped = _sources_in(builtin.joinpath(folder), "built-in", builtin, cwd, faults)
    # In a clone the folder may hold declarations of whoever works there, too.
    sources += [source for source in shipped if source.file.name.startswith(_BUILTIN_PREFIX)]
    for point in _entry_points(folder):
        sources += _package_sources(point, folder, cwd, faults)
    unique: dict[object, Source] = {}
    for source in sources:
        unique.setdefault(source.identity(), source)
    return FoundSources(tuple(unique.values()), tuple(faults))


def named_sources(paths: Sequence[Path], *, root: Path | None, cwd: Path) -> tuple[Source, ...]:
    """Give the files a person names; a folder stands for the YAML files in it.

    Raises:
        FileNotFoundError: one of them does not exist.
    """
    sources: list[Source] = []
    for path in paths:
        full = cwd / path
        is_inside = root is not None and real_path(full).is_relative_to(real_path(root))
        text_root = root if root is not None and is_inside else _parent(full)
        if full.is_dir():
            sources += _sources_in(full, "named", text_root, cwd, [])
        elif full.exists() or full.is_symlink():
            sources.append(Source(full, shown_name(full, cwd), "named", text_root))
        else:
            raise FileNotFoundError(str(path))
    return tuple(sources)


def _parent(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def builtin_root() -> Traversable:
    """Find the folder of evalcli's own `sets` and `profiles`: in the wheel, or in the clone."""
    package = files("evalcli")
    shipped = package.joinpath("_builtin")
    if shipped.is_dir() or not isinstance(package, Path):
        return shipped
    clone = package.parent
    return clone if (clone / "pyproject.toml").is_file() else shipped


def shown_name(path: Path, cwd: Path) -> str:
    """Name a file as a person in `cwd` would: relative where that is short."""
    if path.is_relative_to(cwd):
        return str(path.relative_to(cwd))
    relative = os.path.relpath(path, cwd)
    return min(relative, str(path), key=len)


def _sources_in(
    folder: Traversable, origin: str, root: Traversable, cwd: Path, faults: list[Fault]
) -> list[Source]:
    """List the YAML files of a folder in order of names; each real folder is entered once."""
    sources: list[Source] = []
    waiting, entered = [folder], set[str]()
    while waiting:
        current = waiting.pop()
        real = str(real_path(current) if isinstance(current, Path) else current)
        if real in entered:
            continue
        entered.add(real)
        try:
            found, inner = _look_into(current)
        except OSError as exc:
            cause = exc.strerror or type(exc).__name__
            name = plain_text(_traversable_name(current, cwd))
            message = f"cannot be read: {cause}"
            faults.append(Fault(name, 0, 0, "", message, "check its permissions"))
            continue
        sources += [Source(file, _traversable_name(file, cwd), origin, root) for file in found]
        waiting += reversed(inner)
    return sources


def _look_into(folder: Traversable) -> tuple[list[Traversable], list[Traversable]]:
    """Give the YAML files and the folders in a folder; nothing where it does not exist."""
    if not folder.is_dir():
        return [], []
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    visible = [entry for entry in entries if not entry.name.startswith((".", "__"))]
    inner = [entry for entry in visible if entry.is_dir()]
    found = [entry for entry in visible if entry.name.endswith(_SUFFIXES) and entry not in inner]
    return found, inner


def _traversable_name(file: Traversable, cwd: Path) -> str:
    return shown_name(file, cwd) if isinstance(file, Path) else str(file)


def _entry_points(folder: str) -> list[EntryPoint]:
    """List the entry points of a folder name, in order of names, each once."""
    points = {(point.name, point.value): point for point in entry_points(group=f"evalcli.{folder}")}
    return [points[key] for key in sorted(points)]


def _package_sources(
    point: EntryPoint, folder: str, cwd: Path, faults: list[Fault]
) -> list[Source]:
    """Read what one installed package brings; one that cannot be loaded is set aside."""
    package = point.dist.name if point.dist is not None else point.value
    try:
        root = files(point.module)
        return _sources_in(root, f"package {package}", root, cwd, faults)
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - importing runs the package's code
        name = f"entry point {point.name} of evalcli.{folder} ({point.value})"
        message = f"cannot be loaded: {type(exc).__name__}: {exc}"
        faults.append(
            Fault(
                file=plain_text(name, limit=200),
                line=0,
                column=0,
                path="",
                message=plain_text(message, limit=200),
                advice=plain_text(f"repair or uninstall the package {package}", limit=200),
            )
        )
        return []
