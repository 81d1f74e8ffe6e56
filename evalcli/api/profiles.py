"""Decision profiles: look, check, compare with what was used, forget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalcli.api.workspaces import current_folder, history_of, open_history, open_workspace
from evalcli.decisions.profile_memory import (
    ProfileComparison,
    compare_with_stored,
    split_profile_name,
)
from evalcli.errors import UsageError
from evalcli.loading.catalog import (
    Catalog,
    Listing,
    Shelf,
    ValidationReport,
    find_workspace,
    validate_declarations,
)
from evalcli.records import StoredProfile


def open_profiles(workspace: Path | None = None) -> Shelf:
    """Read all decision profiles; as `open_sets`.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
    """
    cwd = current_folder()
    return Shelf("profiles", root=find_workspace(workspace, os.environ, cwd), cwd=cwd)


def find_profile(identifier: str, *, workspace: Path | None = None) -> Listing:
    """Find one decision profile, and where it comes from.

    Raises:
        DeclarationError: it was set aside or withheld; says where and why.
        UsageError: nothing of that name is declared.
    """
    return open_profiles(workspace).find_listing(identifier)


def validate_profiles(
    files: Sequence[Path] = (), *, workspace: Path | None = None
) -> ValidationReport:
    """Check all decision profiles, or the named files and folders; as `validate_sets`.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        UsageError: a named file does not exist.
    """
    cwd = current_folder()
    root = find_workspace(workspace, os.environ, cwd)
    return validate_declarations("profiles", files, root=root, cwd=cwd)


def compare_profile(name: str, *, workspace: Path | None = None) -> ProfileComparison:
    """Compare a profile as it is declared with what a version of it was at its first stored use.

    `name` is an identifier, or `identifier@version`; without a version it is the declared one
    where that was used, else the newest that was.

    Raises:
        DeclarationError, UsageError: there is no such profile, or that version was never used.
    """
    identifier, version = split_profile_name(name)
    loaded = open_workspace(workspace)
    declared = Catalog(loaded).find_profile(identifier)
    with history_of(loaded) as history:
        versions = history.list_profiles(identifier)
    wanted = declared.version if version is None else version
    stored = next((one for one in versions if one.version == wanted), None)
    if stored is None and version is not None:
        raise _never_used(identifier, version, versions)
    if stored is None:
        stored = next(iter(versions), None)
    return compare_with_stored(declared, stored)


def forget_profile(name: str, *, workspace: Path | None = None) -> StoredProfile:
    """Forget what a version of a profile was at its first stored use; gives what it was.

    `name` is `identifier@version`; the profile need not be declared any more.

    Raises:
        UsageError: no version is named, or it was never used.
    """
    identifier, version = split_profile_name(name)
    if version is None:
        raise UsageError(f'"{name}" names no version', advice=f"write {name}@1, for version 1")
    with open_history(workspace) as history:
        stored = history.find_profile(identifier, version)
        if stored is None or not history.forget_profile(identifier, version):
            raise _never_used(identifier, version, history.list_profiles(identifier))
    return stored


def _never_used(identifier: str, version: int, versions: Sequence[StoredProfile]) -> UsageError:
    known = ", ".join(f"{identifier}@{one.version}" for one in versions)
    return UsageError(
        f"the history knows no use of {identifier}@{version}",
        advice=f"known: {known}" if known else "no version of this profile was used yet",
    )
