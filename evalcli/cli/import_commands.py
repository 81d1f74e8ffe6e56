"""evalcli sets import: foreign collections of labelled questions become a set and a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import WorkspaceOption, state_of
from evalcli.errors import UsageError
from evalcli.reports.plain_text import plain_text

if TYPE_CHECKING:
    from evalcli.importers.imported import WrittenImport

import_app = typer.Typer(
    no_args_is_help=True, help="Import labelled questions: a set, and a corpus where there is one."
)

IdentifierOption = Annotated[
    str | None,
    typer.Option(
        "--identifier",
        metavar="ID",
        help="Identifier of the set. (default: imported.NAME, after the source)",
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", metavar="TEXT", help="Name of the set. (default: the source's)"),
]
LanguageOption = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="NAME",
        help="Stemmer of the proposed retriever; also computes a missing `form`.",
    ),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", metavar="", help="Replace files that are there already.")
]


@import_app.command("beir")
def import_beir_command(
    ctx: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder with corpus.jsonl, queries.jsonl and qrels/, or corpus.jsonl and "
            "questions.jsonl.",
        ),
    ],
    identifier: IdentifierOption = None,
    name: NameOption = None,
    split: Annotated[
        str, typer.Option(metavar="NAME", help="Labels to take: qrels/NAME.tsv.")
    ] = "test",
    language: LanguageOption = "none",
    overwrite: OverwriteOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Import a folder of corpus, queries and qrels, as the BEIR collections are."""
    from evalcli.api import golden_sets
    from evalcli.importers.importing import ImportOptions

    options = ImportOptions(
        identifier=identifier,
        name=name,
        language=language,
        split=split,
        is_overwriting=overwrite,
    )
    _tell(golden_sets.import_set("beir", folder, options, workspace=state_of(ctx).workspace))


@import_app.command("csv")
def import_csv_command(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV file in UTF-8 with a header line.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=COLUMN",
            help="Which column holds what: question, expected, id, form, hard_class, gist, grade, "
            "title or text; may be repeated. (default: the column of that name)",
        ),
    ] = None,
    identifier: IdentifierOption = None,
    name: NameOption = None,
    language: LanguageOption = "none",
    delimiter: Annotated[
        str, typer.Option(metavar="CHAR", help="What stands between columns; \\t is a tab.")
    ] = ",",
    separator: Annotated[
        str, typer.Option(metavar="TEXT", help="What stands between several expected ids.")
    ] = ";",
    overwrite: OverwriteOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Import a CSV file with one labelled question a row; with title or text also a corpus."""
    from evalcli.api import golden_sets
    from evalcli.importers.importing import ImportOptions

    options = ImportOptions(
        identifier=identifier,
        name=name,
        language=language,
        columns=read_columns(column or ()),
        delimiter="\t" if delimiter == "\\t" else delimiter,
        separator=separator,
        is_overwriting=overwrite,
    )
    _tell(golden_sets.import_set("csv", file, options, workspace=state_of(ctx).workspace))


def read_columns(given: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Read the values of --column, such as `question=Frage`.

    Raises:
        UsageError: one is something else, or the same thing is named twice.
    """
    columns: dict[str, str] = {}
    for text in given:
        what, sign, column = text.partition("=")
        if not sign or not what or not column:
            raise UsageError(
                f'--column "{text}" names no column', advice="write question=Frage, for instance"
            )
        if what in columns:
            raise UsageError(f"--column {what} is given twice", advice="leave one out")
        columns[what] = column
    return columns


def _tell(written: WrittenImport) -> None:
    """Say what was written, and what is to be done next."""
    questions = "1 question" if written.questions == 1 else f"{written.questions:,} questions"
    console.out(f"{written.identifier}: {questions}. Wrote", *(f"  {p}" for p in written.files))
    console.out(*(f"{plain_text(note)}." for note in written.notes))
    console.out("Add to evalcli.yaml:", "", written.retriever.rstrip("\n"), "")
    name = written.retriever.split("\n")[1].strip().partition(":")[0]
    console.out(f"Then: `evalcli eval retrieval {written.identifier} {name}`")
