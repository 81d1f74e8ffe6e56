"""From a foreign file or folder to files in a workspace: read, then written under an identifier."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evalcli.importers.beir import import_beir
from evalcli.importers.csv_questions import choose_columns, import_csv
from evalcli.importers.imported import ImportedSet, WrittenImport, check_language, write_import

ImportForm = Literal["beir", "csv"]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a source is read and what it becomes; None means: by the source's own name.

    `language` is the stemmer that computes a missing `form`, and that of the retriever proposed.
    `split` names the labels of a BEIR folder. `columns` maps what a CSV file holds to its columns
    (`{"question": "Frage"}`); what is not named is looked for under its own name. `separator`
    stands between several expected ids in one cell.
    """

    identifier: str | None = None
    name: str | None = None
    language: str = "none"
    split: str = "test"
    columns: Mapping[str, str] = field(default_factory=dict)
    delimiter: str = ","
    separator: str = ";"
    is_overwriting: bool = False


def import_source(
    form: ImportForm, source: Path, options: ImportOptions, root: Path
) -> WrittenImport:
    """Read a source and write what it holds into the workspace `root`.

    Raises:
        UsageError: an option cannot work, a file is missing, or one to be written is there.
        DeclarationError: the source has faults.
    """
    check_language(options.language)
    imported = _read(form, source, options)
    return write_import(
        imported,
        root,
        identifier=identifier_of(source, options),
        name=options.name or _own_name(source),
        language=options.language,
        is_overwriting=options.is_overwriting,
    )


def _read(form: ImportForm, source: Path, options: ImportOptions) -> ImportedSet:
    if form == "beir":
        return import_beir(source, split=options.split, language=options.language)
    columns = choose_columns(
        source, options.columns, delimiter=options.delimiter, separator=options.separator
    )
    return import_csv(source, columns, delimiter=options.delimiter, language=options.language)


def identifier_of(source: Path, options: ImportOptions) -> str:
    """Say what identifier the set will have: as the options say, else after the source."""
    return options.identifier or f"imported.{_slug(_own_name(source))}"


def _own_name(source: Path) -> str:
    return source.resolve().name if source.is_dir() else source.stem


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "set"
