"""Golden sets: look, check, import."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalcli.api.workspaces import current_folder
from evalcli.importers.imported import WrittenImport
from evalcli.importers.importing import ImportForm, ImportOptions, import_source
from evalcli.loading.catalog import (
    Listing,
    Shelf,
    ValidationReport,
    find_workspace,
    validate_declarations,
)


def open_sets(workspace: Path | None = None) -> Shelf:
    """Read all golden sets; what is set aside is in `faults`. `evalcli.yaml` is not read.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
    """
    cwd = current_folder()
    return Shelf("sets", root=find_workspace(workspace, os.environ, cwd), cwd=cwd)


def find_set(identifier: str, *, workspace: Path | None = None) -> Listing:
    """Find one golden set of any kind, and where it comes from.

    Raises:
        DeclarationError: it was set aside or withheld; says where and why.
        UsageError: nothing of that name is declared.
    """
    return open_sets(workspace).find_listing(identifier)


def import_set(
    form: ImportForm,
    source: Path,
    options: ImportOptions | None = None,
    *,
    workspace: Path | None = None,
) -> WrittenImport:
    """Write a foreign collection of labelled questions into the workspace, as a set and a corpus.

    `form` is `beir` for a folder with corpus, queries and qrels (or corpus and questions), `csv`
    for a CSV file. Nothing is added to `evalcli.yaml`; what to add is in the result.

    Raises:
        UsageError: an option cannot work, a file is missing, or one to be written is there.
        DeclarationError: the source has faults.
    """
    root = find_workspace(workspace, os.environ, current_folder()) or current_folder()
    return import_source(form, source, options or ImportOptions(), root)


def validate_sets(files: Sequence[Path] = (), *, workspace: Path | None = None) -> ValidationReport:
    """Check all golden sets, or the named files and folders; raises no faults, returns them.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        UsageError: a named file does not exist.
    """
    cwd = current_folder()
    root = find_workspace(workspace, os.environ, cwd)
    return validate_declarations("sets", files, root=root, cwd=cwd)
