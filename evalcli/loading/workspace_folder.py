"""The workspace: which folder it is, and what its `evalcli.yaml` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import ConfigurationError, Fault
from evalcli.loading.long_text import TextFolder
from evalcli.loading.reader import declaration_error, read_workspace_file
from evalcli.loading.source_text import MAX_FILE_BYTES, SourceTextError, read_bounded
from evalcli.loading.sources import shown_name
from evalcli.loading.workspace_rules import DEFAULTS, with_defaults
from evalcli.reports.plain_text import plain_text

WORKSPACE_FILE = "evalcli.yaml"
WORKSPACE_VARIABLE = "EVALCLI_WORKSPACE"


@dataclass(frozen=True, slots=True)
class LoadedWorkspace:
    """What a command works in.

    `root` is the workspace folder and `path` its `evalcli.yaml`; both are None where the built-in
    defaults serve. `cwd` is the folder that file names in messages begin at.
    """

    root: Path | None
    file: WorkspaceFile
    path: Path | None = None
    cwd: Path = Path()


def find_workspace(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """Find the workspace folder; None where there is none.

    Raises:
        ConfigurationError: the folder that was named is none, or has no `evalcli.yaml`.
    """
    named = environ.get(WORKSPACE_VARIABLE)
    if explicit is not None:
        return _named_folder(cwd / explicit, "--workspace")
    if named:
        return _named_folder(cwd / named, WORKSPACE_VARIABLE)
    for folder in (cwd, *cwd.parents):
        if _has_workspace_file(folder):
            return folder
    return None


def _has_workspace_file(folder: Path) -> bool:
    try:
        return (folder / WORKSPACE_FILE).is_file()
    except OSError:  # a folder above that nobody may look into
        return False


def _named_folder(folder: Path, by: str) -> Path:
    if _has_workspace_file(folder):
        return folder
    shown = plain_text(str(folder))
    cause = f"has no {WORKSPACE_FILE}" if folder.is_dir() else "is no folder"
    raise ConfigurationError(
        f"{shown} {cause} ({by})", advice="name a folder made by `evalcli init`, or run it there"
    )


def load_workspace(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> LoadedWorkspace:
    """Find and read the workspace; without one, the built-in defaults serve.

    Raises:
        ConfigurationError: the folder that was named is none, or has no `evalcli.yaml`.
        DeclarationError: `evalcli.yaml` has faults; all of them.
    """
    root = find_workspace(explicit, environ, cwd)
    if root is None:
        return LoadedWorkspace(None, DEFAULTS, None, cwd)
    path = root / WORKSPACE_FILE
    shown = shown_name(path, cwd)
    try:
        with path.open("rb") as stream:
            data = read_bounded(stream, MAX_FILE_BYTES)
    except SourceTextError as exc:
        fault = Fault(plain_text(shown), 1, 1, "", exc.message, exc.advice)
        raise declaration_error(f"{plain_text(shown)} cannot be used", (fault,)) from None
    except OSError as exc:
        raise ConfigurationError(
            f"{plain_text(shown)} cannot be read: {exc.strerror or type(exc).__name__}",
            advice="check its permissions",
        ) from exc
    texts = TextFolder(root)
    file = read_workspace_file(data, shown, read_text=texts.read_text)
    return LoadedWorkspace(root, with_defaults(file), path, cwd)
