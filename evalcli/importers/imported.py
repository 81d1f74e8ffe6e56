"""What an importer gives, and how it is written: a set in `sets/`, a corpus in `corpora/`.

The set's YAML is written with every text in double quotes, so that it reads back as it was.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from evalcli.declarations.prompt_set import IDENTIFIER_PATTERN
from evalcli.declarations.question_set import MAX_GRADE, Form, GoldenQuestion
from evalcli.declarations.resolution import known_names
from evalcli.declarations.retriever import Language
from evalcli.declarations.scalars import cite
from evalcli.errors import DeclarationError, Fault, UsageError

if TYPE_CHECKING:
    from evalcli.retrieval.lexical import Analysis

QUESTIONS_IN_YAML = 200
"""Up to this many questions stand in the YAML itself; more go to a JSONL file beside it."""

MAX_FAULTS = 20
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """Labelled questions in our own form, with the corpus they speak of.

    `corpus` is a JSONL file (also gzipped) to copy, or its lines; None where the source has none.
    `notes` says what was left out or made up.
    """

    questions: tuple[GoldenQuestion, ...]
    corpus: Path | tuple[str, ...] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenImport:
    """What was written, from the workspace's folder on, and what to add to `evalcli.yaml`.

    `questions` counts those of the set, `notes` say what was left out or made up.
    """

    files: tuple[Path, ...]
    retriever: str
    identifier: str
    questions: int
    notes: tuple[str, ...] = ()


def write_import(
    imported: ImportedSet,
    root: Path,
    *,
    identifier: str,
    name: str,
    language: str = "none",
    is_overwriting: bool = False,
) -> WrittenImport:
    """Write set and corpus into a workspace.

    Raises:
        UsageError: the identifier has another form, there is no question, or a file is there
            already.
    """
    if not re.fullmatch(IDENTIFIER_PATTERN, identifier):
        raise UsageError(
            f'"{identifier}" is no identifier',
            advice="write lower-case letters, digits and _, with dots between, as acme.handbook",
        )
    stem, set_file = identifier.replace(".", "_"), set_file_of(identifier)
    rows_file = set_file.with_suffix(".jsonl")
    if not imported.questions:
        raise UsageError("the source holds no question", advice="look at its labels")
    is_large = len(imported.questions) > QUESTIONS_IN_YAML
    corpus_file = _corpus_file(imported, stem)
    planned = [
        set_file,
        *([rows_file] if is_large else []),
        *([corpus_file] if corpus_file else []),
    ]
    present = [path for path in planned if (root / path).exists()]
    if present and not is_overwriting:
        raise UsageError(
            f"{present[0]} is there already", advice="name another identifier, or overwrite it"
        )
    head = _render_head(identifier, name)
    if is_large:
        rows = "".join(f"{render_row(one)}\n" for one in imported.questions)
        texts = {rows_file: rows, set_file: f"{head}questions: {{file: {rows_file.as_posix()}}}\n"}
    else:
        rows = "".join(_render_question(one) for one in imported.questions)
        texts = {set_file: f"{head}questions:\n{rows}"}
    try:
        for path in planned:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            _write(root / path, text)
        if corpus_file is not None:
            _write_corpus(imported, root / corpus_file)
    except OSError as exc:
        raise UsageError(f"{exc.filename or root} cannot be written: {exc.strerror}") from exc
    return WrittenImport(
        tuple(planned),
        _render_retriever(stem, corpus_file, language),
        identifier,
        len(imported.questions),
        imported.notes,
    )


def set_file_of(identifier: str) -> Path:
    """Name the file a set is written to, from the workspace's folder on."""
    return Path("sets", f"{identifier.replace('.', '_')}.yaml")


def _corpus_file(imported: ImportedSet, stem: str) -> Path | None:
    if imported.corpus is None:
        return None
    is_packed = isinstance(imported.corpus, Path) and imported.corpus.suffix == ".gz"
    return Path("corpora", f"{stem}.jsonl{'.gz' if is_packed else ''}")


def _write_corpus(imported: ImportedSet, target: Path) -> None:
    if isinstance(imported.corpus, Path):
        if not (target.exists() and target.samefile(imported.corpus)):
            shutil.copyfile(imported.corpus, target)
    else:
        _write(target, "".join(f"{line}\n" for line in imported.corpus or ()))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _render_retriever(stem: str, corpus_file: Path | None, language: str) -> str:
    corpus = f"{{jsonl: {corpus_file.as_posix()}}}" if corpus_file else "{files: docs/**/*.md}"
    return f"retrievers:\n  {stem}: {{type: lexical, corpus: {corpus}, language: {language}}}\n"


# --- rendering ------------------------------------------------------------------------------------

# What the loader refuses raw, though JSON allows it.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def quote(text: str) -> str:
    """Write a text in double quotes, as JSON and YAML read it; lone surrogates are replaced."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    quoted = json.dumps(sound, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _render_head(identifier: str, name: str) -> str:
    return f"kind: questions\nidentifier: {identifier}\nname: {quote(name)}\n"


def _render_expected(question: GoldenQuestion) -> str:
    grades = question.grades
    if set(grades.values()) <= {1}:
        return f"[{', '.join(quote(one) for one in grades)}]"
    return f"{{{', '.join(f'{quote(one)}: {grade}' for one, grade in grades.items())}}}"


def _fields(question: GoldenQuestion) -> Iterable[tuple[str, str]]:
    yield "id", quote(question.id)
    yield "question", quote(question.question)
    yield "form", quote(question.form.value)
    yield "expected", _render_expected(question)
    if question.hard_class is not None:
        yield "hard_class", quote(question.hard_class)
    if question.gist is not None:
        yield "gist", quote(question.gist)


def _render_question(question: GoldenQuestion) -> str:
    lines = [f"{key}: {value}" for key, value in _fields(question)]
    return f"  - {lines[0]}\n" + "".join(f"    {line}\n" for line in lines[1:])


def render_row(question: GoldenQuestion) -> str:
    """Write a question as one line of JSON."""
    return f"{{{', '.join(f'{quote(key)}: {value}' for key, value in _fields(question))}}}"


# --- what sources lack ----------------------------------------------------------------------------


def guess_form(question: str, document: str, analysis: Analysis) -> Form:
    """Compute a form where the source has none, from the words question and document share.

    `match` when at least half of the question's terms of three letters or more are terms of the
    document, too.
    """
    known = set(analysis.distinct_terms(document))
    asked = [term for term in analysis.distinct_terms(question) if len(term) > 2]
    shared = sum(1 for term in asked if term in known)
    return Form.MATCH if asked and shared >= _HALF * len(asked) else Form.GAP


def check_language(language: str) -> None:
    """Refuse a language that has no stemmer.

    Raises:
        UsageError: it has none.
    """
    known = get_args(Language)
    if language not in known:
        raise UsageError(f'unknown language "{language}"', advice=known_names(known, language))


def form_analysis(language: str) -> Analysis:
    """Give the analysis that forms are guessed with: stop words dropped where there is a list.

    The library behind it is loaded here: every command loads this module, and few import.
    """
    analysis: type[Analysis] = import_module("evalcli.retrieval.lexical").Analysis
    try:
        return analysis(language, is_dropping_stop_words=language != "none")
    except ValueError:
        return analysis(language)


def refuse_faults(name: str, faults: Sequence[Fault]) -> None:
    """Raise the faults of a source file, if there are any.

    Raises:
        DeclarationError: there are.
    """
    if faults:
        raise DeclarationError(f"{name} cannot be imported", faults=faults[:MAX_FAULTS])


def read_grade(text: str) -> int:
    """Read how well a document answers, as a source writes it.

    Raises:
        ValueError: it is no grade; the message says why.
    """
    found = _GRADE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{cite(text)} is no whole number")
    if len(text.strip()) > len(f"-{MAX_GRADE}") or int(found[0]) > MAX_GRADE:
        raise ValueError(f"{cite(text)} is larger than a grade can be, {MAX_GRADE:,}")
    return int(found[0])


_GRADE = re.compile("-?[0-9]+")


def grades_of(rows: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """Gather grades by document, best first; what is graded 0 or less does not answer."""
    best: dict[str, int] = {}
    for identifier, grade in rows:
        if grade > 0:
            best[identifier] = max(grade, best.get(identifier, 0))
    return dict(sorted(best.items(), key=lambda item: -item[1]))
