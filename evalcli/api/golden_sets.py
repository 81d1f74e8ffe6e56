"""Golden sets: look, check, import."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalcli.api.workspaces import current_folder
from evalcli.errors import UsageError
from evalcli.importers.imported import WrittenImport, set_file_of
from evalcli.importers.importing import ImportForm, ImportOptions, identifier_of, import_source
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
        UsageError: an option cannot work, a file is missing, one to be written is there, or the
            identifier is that of another set.
        DeclarationError: the source has faults.
    """
    options = options or ImportOptions()
    root = find_workspace(workspace, os.environ, current_folder()) or current_folder()
    _refuse_another(identifier_of(source, options), root, workspace)
    return import_source(form, source, options, root)


def _refuse_another(identifier: str, root: Path, workspace: Path | None) -> None:
    """Refuse an identifier of another file's set: declared twice, both would be withheld."""
    own = root / set_file_of(identifier)
    for listing in open_sets(workspace).listings:
        file = current_folder() / listing.file
        if listing.identifier == identifier and not (
            own.exists() and file.exists() and file.samefile(own)
        ):
            raise UsageError(
                f'"{identifier}" is declared already, in {listing.file}',
                advice="name another one with --identifier",
            )


def validate_sets(files: Sequence[Path] = (), *, workspace: Path | None = None) -> ValidationReport:
    """Check all golden sets, or the named files and folders; raises no faults, returns them.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        UsageError: a named file does not exist.
    """
    cwd = current_folder()
    root = find_workspace(workspace, os.environ, cwd)
    return validate_declarations("sets", files, root=root, cwd=cwd)
