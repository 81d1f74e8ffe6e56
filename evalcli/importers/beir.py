"""Folders of corpus, questions and labels → question sets.

Two layouts. BEIR (Thakur et al. 2021): `corpus.jsonl` and `queries.jsonl` with `_id`, `title`,
`text`, and `qrels/SPLIT.tsv` with query id, document id and grade. The plain one: `corpus.jsonl`
and `questions.jsonl` with `id`, `question`, `form`, `hard_class`, `expected` and `grades`. Any
JSONL file may be gzipped.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from evalcli.declarations.question_set import GoldenQuestion
from evalcli.declarations.retriever import JsonlCorpus
from evalcli.declarations.scalars import cite
from evalcli.errors import Fault, UsageError
from evalcli.importers.imported import (
    ImportedSet,
    form_analysis,
    grades_of,
    guess_form,
    read_grade,
    refuse_faults,
)
from evalcli.retrieval.corpus import open_corpus


def import_beir(folder: Path, *, split: str = "test", language: str = "none") -> ImportedSet:
    """Read a folder of either layout.

    Of BEIR's queries those are taken that the split has labels for. Where the source has no
    `form`, it is computed from the words that question and best document share, with the stemmer
    of `language`.

    Raises:
        UsageError: a file of the layout is missing.
        DeclarationError: a file has faults.
    """
    corpus = _find_file(folder, "corpus.jsonl")
    plain = _look_for(folder, "questions.jsonl")
    if plain is not None:
        return _import_plain(plain, corpus)
    queries = _find_file(folder, "queries.jsonl")
    labels = folder / "qrels" / f"{split}.tsv"
    if not labels.is_file():
        known = ", ".join(sorted(path.stem for path in labels.parent.glob("*.tsv")))
        raise UsageError(
            f"{folder} has no labels qrels/{split}.tsv",
            advice=f"name a split that is there: {known}" if known else "",
        )
    return _import_labelled(corpus, queries, labels, language)


def _find_file(folder: Path, name: str) -> Path:
    found = _look_for(folder, name)
    if found is None:
        raise UsageError(
            f"{folder} has no {name}",
            advice="it needs corpus.jsonl, queries.jsonl and qrels/, or corpus.jsonl and "
            "questions.jsonl",
        )
    return found


def _look_for(folder: Path, name: str) -> Path | None:
    candidates = (folder / name, folder / f"{name}.gz")
    return next((path for path in candidates if path.is_file()), None)


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    fields: Mapping[str, object]


def _read_rows(path: Path, faults: list[Fault]) -> Iterator[_Row]:
    """Read a JSONL file; lines that are no JSON objects become faults."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line.decode("utf-8-sig"))
                except UnicodeDecodeError:
                    faults.append(_fault(path, number, "is not UTF-8"))
                    continue
                except (ValueError, RecursionError) as exc:  # also a number of thousands of digits
                    faults.append(_fault(path, number, f"is no JSON: {exc}"))
                    continue
                if isinstance(row, dict):
                    yield _Row(number, row)
                else:
                    faults.append(_fault(path, number, "must be an object"))
    except (OSError, EOFError, zlib.error) as exc:
        faults.append(_fault(path, 1, f"cannot be read: {exc}"))


def _fault(path: Path, number: int, message: str, field: str = "") -> Fault:
    return Fault(path.name, number, 1, field, message)


# --- the plain layout -----------------------------------------------------------------------------


def _import_plain(path: Path, corpus: Path) -> ImportedSet:
    faults: list[Fault] = []
    questions: list[GoldenQuestion] = []
    first_by_id: dict[str, int] = {}
    for row in _read_rows(path, faults):
        question = _plain_question(path, row, faults)
        if question is None:
            continue
        first = first_by_id.setdefault(question.id, row.number)
        if first != row.number:
            message = f"{cite(question.id)} is used twice, first at line {first}"
            faults.append(_fault(path, row.number, message, "id"))
        questions.append(question)
    refuse_faults(path.name, faults)
    return ImportedSet(tuple(questions), corpus)


def _plain_question(path: Path, row: _Row, faults: list[Fault]) -> GoldenQuestion | None:
    fields = row.fields
    form, grades = fields.get("form"), fields.get("grades")
    kept = {key: fields.get(key) for key in ("id", "question", "hard_class", "gist")}
    try:
        return GoldenQuestion.model_validate(
            {
                **kept,
                "form": form.lower() if isinstance(form, str) else form,
                "expected": grades if grades else fields.get("expected"),
            }
        )
    except ValidationError as exc:
        for error in exc.errors(include_url=False, include_input=False):
            field = ".".join(str(part) for part in error["loc"] if not str(part).startswith("("))
            faults.append(_fault(path, row.number, error["msg"], field))
        return None


# --- BEIR -----------------------------------------------------------------------------------------


def _import_labelled(corpus: Path, queries: Path, labels: Path, language: str) -> ImportedSet:
    faults: list[Fault] = []
    grades = _read_labels(labels, faults)
    texts = _read_queries(queries, grades, faults)
    refuse_faults(f"{queries.name} with {labels.name}", faults)
    best = {identifier: next(iter(found)) for identifier, found in grades.items() if found}
    bodies = _find_bodies(corpus, frozenset(best.values()))
    analysis = form_analysis(language)
    questions = tuple(
        GoldenQuestion(
            id=identifier,
            question=text,
            form=guess_form(text, bodies.get(best[identifier], ""), analysis),
            expected=dict(grades[identifier]),
        )
        for identifier, text in texts.items()
        if identifier in best
    )
    notes = ["form was computed from the words that question and best document share"]
    left_out = len(grades) - len(questions)
    if left_out:
        notes.append(f"{left_out} labelled questions were left out: no text, or no grade above 0")
    return ImportedSet(questions, corpus, tuple(notes))


def _read_labels(path: Path, faults: list[Fault]) -> dict[str, Mapping[str, int]]:
    rows: dict[str, list[tuple[str, int]]] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as exc:
        faults.append(_fault(path, 1, f"cannot be read: {exc.strerror}"))
        return {}
    for number, line in enumerate(lines, start=1):
        try:
            columns = line.decode("utf-8-sig").strip("\r").split("\t")
        except UnicodeDecodeError:
            faults.append(_fault(path, number, "is not UTF-8"))
            continue
        if columns == [""] or (number == 1 and _is_header(columns)):
            continue
        if len(columns) == 4:  # TREC's own form, with an iteration between
            columns = [columns[0], *columns[2:]]
        if len(columns) != 3 or not columns[0].strip() or not columns[1].strip():
            faults.append(_fault(path, number, "is not `query-id<TAB>corpus-id<TAB>grade`"))
            continue
        try:
            rows.setdefault(columns[0], []).append((columns[1], read_grade(columns[2])))
        except ValueError as exc:
            faults.append(_fault(path, number, str(exc), "grade"))
    return {identifier: grades_of(found) for identifier, found in rows.items()}


def _is_header(columns: Sequence[str]) -> bool:
    """Whether the first line names the columns: a word stands where a grade would."""
    return len(columns) > 2 and any(sign.isalpha() for sign in columns[-1])


def _read_queries(path: Path, wanted: Mapping[str, object], faults: list[Fault]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for row in _read_rows(path, faults):
        identifier, text = row.fields.get("_id", row.fields.get("id")), row.fields.get("text")
        if not isinstance(identifier, str) or not identifier:
            faults.append(_fault(path, row.number, "must be a text that is not empty", "_id"))
        elif identifier in texts:
            faults.append(_fault(path, row.number, f"{cite(identifier)} is used twice", "_id"))
        elif identifier in wanted:
            if isinstance(text, str) and text.strip():
                texts[identifier] = text
            else:
                faults.append(_fault(path, row.number, "must be a text that is not empty", "text"))
    return texts


def _find_bodies(corpus: Path, wanted: frozenset[str]) -> dict[str, str]:
    opened = open_corpus(JsonlCorpus(jsonl=corpus.name), corpus.parent)
    return {
        one.document_id: one.body for one in opened.read_passages() if one.document_id in wanted
    }
