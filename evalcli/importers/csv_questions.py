"""CSV files with one labelled question a row → question sets.

A question with several documents may name them in one cell or stand in several rows.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from evalcli.declarations.question_set import Form, GoldenQuestion
from evalcli.declarations.resolution import known_names
from evalcli.declarations.scalars import cite
from evalcli.errors import DeclarationError, Fault, UsageError
from evalcli.importers.imported import (
    ImportedSet,
    form_analysis,
    grades_of,
    guess_form,
    read_grade,
    refuse_faults,
)

if TYPE_CHECKING:
    from evalcli.retrieval.lexical import Analysis


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """Which column holds what; None where there is none.

    `expected` holds document ids, `separator` between them. With `title` or `text` the corpus is
    in the CSV, too: each row has the one document that answers it, numbered where `expected` is
    None. Without `id` questions are numbered; rows with the same question text are one question.
    """

    question: str
    expected: str | None = None
    id: str | None = None
    form: str | None = None
    hard_class: str | None = None
    gist: str | None = None
    grade: str | None = None
    title: str | None = None
    text: str | None = None
    separator: str = ";"

    def named(self) -> Mapping[str, str]:
        """Give the columns that are named, by what they hold."""
        pairs = {
            "question": self.question,
            "expected": self.expected,
            "id": self.id,
            "form": self.form,
            "hard_class": self.hard_class,
            "gist": self.gist,
            "grade": self.grade,
            "title": self.title,
            "text": self.text,
        }
        return {what: column for what, column in pairs.items() if column is not None}


@dataclass(slots=True)
class _Gathered:
    """What the rows say of one question."""

    id: str
    question: str
    form: str
    hard_class: str
    gist: str
    labels: list[tuple[str, int]] = field(default_factory=list)


def import_csv(
    path: Path, columns: CsvColumns, *, delimiter: str = ",", language: str = "none"
) -> ImportedSet:
    """Read a CSV file with a header line, in UTF-8.

    Raises:
        UsageError: a column is not in the file, or the mapping cannot work.
        DeclarationError: rows have faults.
    """
    if columns.expected is None and columns.title is None and columns.text is None:
        raise UsageError(
            "no column says which documents are expected",
            advice="name a column for expected, or columns for the document's title or text",
        )
    if not columns.separator:
        raise UsageError("the separator is empty", advice="write what stands between expected ids")
    reader = _Reader(path, columns)
    for number, row in _read_rows(path, columns, delimiter, reader.faults):
        reader.take(number, row)
    refuse_faults(path.name, reader.faults)
    return reader.finish(form_analysis(language))


def choose_columns(
    path: Path, named: Mapping[str, str], *, delimiter: str = ",", separator: str = ";"
) -> CsvColumns:
    """Choose the columns of a CSV file: those that are named, else those that bear the name.

    Raises:
        UsageError: the file cannot be read, or something is named that no column can hold.
        DeclarationError: it is not UTF-8.
    """
    known = [one.name for one in fields(CsvColumns) if one.name != "separator"]
    for what in named:
        if what not in known:
            raise UsageError(f"a column cannot hold {cite(what)}", advice=known_names(known, what))
    header = _open_rows(path, delimiter).fieldnames or ()
    if len(header) == 1 and (other := next((one for one in ";\t|," if one in header[0]), None)):
        shown = "\\t" if other == "\t" else other
        raise UsageError(
            f"{path.name} has one column, {cite(header[0])}",
            advice=f'name what stands between its columns: --delimiter "{shown}"',
        )
    found = {what: what for what in known if what in header}
    return CsvColumns(**{"question": "question", **found, **named}, separator=separator)


def _open_rows(path: Path, delimiter: str) -> csv.DictReader[str]:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UsageError("a delimiter is one character", advice='write "," or ";" or a tab')
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as exc:
        raise UsageError(f"{path.name} cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        fault = Fault(path.name, line, 1, "", "is not UTF-8", _SAVE)
        raise DeclarationError(f"{path.name} cannot be imported", faults=[fault]) from None
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        _ = rows.fieldnames
    except csv.Error as exc:
        refuse_faults(path.name, [Fault(path.name, 1, 1, "", f"is no CSV: {exc}")])
    return rows


def _read_rows(
    path: Path, columns: CsvColumns, delimiter: str, faults: list[Fault]
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Read rows; one of more or fewer cells than the header becomes a fault.

    A comma without quotes moves what follows it to other columns, and labels would be wrong.
    """
    rows = _open_rows(path, delimiter)
    header = rows.fieldnames or ()
    _check_header(path, columns, header)
    try:
        for cells in rows.reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                message = f"has {_cells(len(cells))}, and the header has {len(header)}"
                advice = "put texts that hold the delimiter in double quotes"
                faults.append(Fault(path.name, rows.reader.line_num, 1, "", message, advice))
            else:
                yield rows.reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as exc:
        line = rows.reader.line_num
        refuse_faults(path.name, [Fault(path.name, line, 1, "", f"is no CSV: {exc}")])


_SAVE = "save it as UTF-8"


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def _check_header(path: Path, columns: CsvColumns, header: object) -> None:
    names = [str(name) for name in header] if isinstance(header, list | tuple) else []
    for what, column in columns.named().items():
        if column not in names:
            near = get_close_matches(column, names, n=1)
            known = f'write "{near[0]}"' if near else f"it has: {', '.join(names) or 'none'}"
            raise UsageError(
                f"{path.name} has no column {cite(column)} for the {what}", advice=known
            )
        if names.count(column) > 1:
            raise UsageError(
                f"{path.name} has the column {cite(column)} twice", advice="rename one of them"
            )


class _Reader:
    """Takes rows, gathers questions and documents."""

    def __init__(self, path: Path, columns: CsvColumns) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._columns = columns
        self._has_corpus = columns.title is not None or columns.text is not None
        self._questions: dict[str, _Gathered] = {}
        self._documents: dict[str, tuple[str, str]] = {}
        self._id_by_document: dict[tuple[str, str], str] = {}

    def take(self, number: int, row: Mapping[str, str]) -> None:
        """Take one row."""
        named = self._columns.named()
        cells = {what: row.get(column, "").strip() for what, column in named.items()}
        if not any(cells.values()):
            return
        question = self._question_of(number, cells)
        try:
            grade = read_grade(cells.get("grade") or "1")
        except ValueError as exc:
            self._fault(number, "grade", str(exc))
            return
        if question is not None:
            for identifier in self._documents_of(number, cells):
                question.labels.append((identifier, grade))

    def finish(self, analysis: Analysis) -> ImportedSet:
        """Make the set."""
        questions, is_guessed = [], False
        for gathered in self._questions.values():
            grades = dict(grades_of(gathered.labels))
            best = self._documents.get(next(iter(grades), ""), ("", ""))
            is_guessed = is_guessed or not gathered.form
            form = gathered.form or guess_form(gathered.question, " ".join(best), analysis)
            questions.append(
                GoldenQuestion(
                    id=gathered.id,
                    question=gathered.question,
                    form=Form(form),
                    expected=grades,
                    hard_class=gathered.hard_class or None,
                    gist=gathered.gist or None,
                )
            )
        corpus = tuple(
            json.dumps({"id": identifier, "title": title, "text": text}, ensure_ascii=False)
            for identifier, (title, text) in self._documents.items()
        )
        note = "form was computed from the words that question and best document share"
        if not self._has_corpus:
            note = (
                "form is gap where no column says it: without the texts of the documents it cannot "
                "be computed; name a column with --column form=NAME"
            )
        notes = (note,) if is_guessed else ()
        return ImportedSet(tuple(questions), corpus if self._has_corpus else None, notes)

    def _question_of(self, number: int, cells: Mapping[str, str]) -> _Gathered | None:
        text, form = cells["question"], cells.get("form", "").lower()
        if not text:
            self._fault(number, "question", "is empty")
            return None
        if form not in ("", *(one.value for one in Form)):
            self._fault(number, "form", f"{cite(form)} is neither match nor gap")
            return None
        key = cells.get("id", text)
        if not key:
            self._fault(number, "id", "is empty")
            return None
        found = self._questions.get(key)
        if found is None:
            identifier = key if "id" in cells else f"q{len(self._questions) + 1:04d}"
            found = _Gathered(
                identifier, text, form, cells.get("hard_class", ""), cells.get("gist", "")
            )
            self._questions[key] = found
        elif found.question != text:
            self._fault(number, "id", f"{cite(key)} has two questions")
        return found

    def _documents_of(self, number: int, cells: Mapping[str, str]) -> list[str]:
        named = cells.get("expected", "")
        identifiers = [one.strip() for one in named.split(self._columns.separator)]
        identifiers = [one for one in identifiers if one]
        if not self._has_corpus:
            return identifiers
        document = (cells.get("title", ""), cells.get("text", ""))
        if not any(document):
            return identifiers
        if self._columns.expected is None:
            fresh = f"doc-{len(self._documents) + 1:04d}"
            identifiers = [self._id_by_document.setdefault(document, fresh)]
        if len(identifiers) != 1:
            self._fault(number, "expected", "must name the one document whose text stands here")
            return []
        known = self._documents.setdefault(identifiers[0], document)
        if known != document:
            self._fault(number, "expected", f"{cite(identifiers[0])} has two texts")
        return identifiers

    def _fault(self, number: int, what: str, message: str) -> None:
        column = self._columns.named().get(what, what)
        self.faults.append(Fault(self._path.name, number, 1, column, message))
