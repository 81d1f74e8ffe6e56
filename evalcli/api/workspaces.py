"""The workspace, its history and its declarations' schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from evalcli.errors import DeclarationError, UsageError
from evalcli.history.store import History
from evalcli.loading.catalog import Catalog, LoadedWorkspace, ValidationReport, load_workspace
from evalcli.loading.schema import declaration_schema as build_schema
from evalcli.loading.starter import write_starter
from evalcli.plugins import BUILTIN, plugin_names


def open_workspace(workspace: Path | None = None) -> LoadedWorkspace:
    """Find and read the workspace.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        DeclarationError: `evalcli.yaml` has faults.
    """
    return load_workspace(workspace, os.environ, current_folder())


def open_catalog(workspace: Path | None = None) -> Catalog:
    """Read all declarations the workspace can see; broken ones are set aside, not raised."""
    return Catalog(open_workspace(workspace))


def workspace_root(loaded: LoadedWorkspace) -> Path:
    """Find the folder that paths are relative to: the workspace, else the current one."""
    return loaded.root if loaded.root is not None else current_folder()


@contextmanager
def open_history(workspace: Path | None = None) -> Iterator[History]:
    """Open the history of a workspace, making it where there is none.

    Raises:
        HistoryError: it cannot be opened, or is from a newer evalcli.
    """
    loaded = open_workspace(workspace)
    with history_of(loaded) as history:
        yield history


def history_of(loaded: LoadedWorkspace) -> History:
    """Open the history of a workspace that is read already; as `open_history`."""
    settings = loaded.file.history
    return History.open(workspace_root(loaded) / settings.path, content=settings.content)


def validate_workspace(workspace: Path | None = None) -> ValidationReport:
    """Check `evalcli.yaml`; of 0 files where there is none.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`, or it cannot be read.
    """
    try:
        loaded = open_workspace(workspace)
    except DeclarationError as error:
        return ValidationReport(files=1, faulty=1, faults=error.faults)
    return ValidationReport(files=0 if loaded.path is None else 1, faulty=0, faults=())


def declaration_schema(name: str) -> dict[str, object]:
    """Give the JSON Schema of `prompt_set`, `question_set`, `profile` or `workspace`."""
    others = set(plugin_names("assertions")) - set(BUILTIN["assertions"])
    return build_schema(name, other_assertions=tuple(sorted(others)))


def init_workspace(folder: Path | None = None) -> tuple[str, ...]:
    """Write a commented workspace; gives the names of the files, relative to the folder.

    Raises:
        UsageError: one of the files exists; nothing was written.
        ConfigurationError: the folder cannot be written.
    """
    return write_starter(folder or current_folder())


def current_folder() -> Path:
    """Find the current folder.

    Raises:
        UsageError: it is gone, or may not be entered.
    """
    try:
        return Path.cwd()
    except OSError as exc:
        raise UsageError(
            f"the current folder cannot be used ({exc.strerror or exc})",
            advice="change to a folder that exists",
        ) from exc


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)
