"""Folders of corpus, questions and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from evalcli.declarations.question_set import Form
from evalcli.errors import DeclarationError, UsageError
from evalcli.importers.beir import import_beir
from tests.support.retrieval import write_jsonl

CORPUS = [
    {"_id": "d1", "title": "Opening hours", "text": "The office opens at nine."},
    {"_id": "d2", "title": "", "text": "Parking permits cost nothing."},
]
QUERIES = [
    {"_id": "q1", "text": "When does the office open?"},
    {"_id": "q2", "text": "Where can I leave my car for free?"},
    {"_id": "q3", "text": "Only in the training split?"},
]
LABELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\n"


def write_beir(root: Path, *, labels: str = LABELS, suffix: str = "") -> Path:
    write_jsonl(root / f"corpus.jsonl{suffix}", CORPUS)
    write_jsonl(root / f"queries.jsonl{suffix}", QUERIES)
    (root / "qrels").mkdir()
    (root / "qrels" / "test.tsv").write_text(labels, encoding="utf-8")
    return root


def write_plain(root: Path, *rows: Mapping[str, object]) -> Path:
    write_jsonl(root / "corpus.jsonl", [{"id": "d1", "title": "", "text": "x"}])
    write_jsonl(root / "questions.jsonl", rows)
    return root


def faults_of(folder: Path) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        import_beir(folder)
    return [str(fault) for fault in caught.value.faults]


# --- BEIR ---


def test_a_number_of_thousands_of_digits_is_a_fault_of_its_line(tmp_path: Path) -> None:
    root = write_beir(tmp_path)
    queries = root / "queries.jsonl"
    text = queries.read_text(encoding="utf-8")
    queries.write_text(text + '{"_id": ' + "1" * 5_000 + "}\n", encoding="utf-8")

    assert any("queries.jsonl:4:1" in fault for fault in faults_of(root))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_questions_with_labels_are_taken(tmp_path: Path, suffix: str) -> None:
    imported = import_beir(write_beir(tmp_path, suffix=suffix), language="english")

    assert [(one.id, one.grades) for one in imported.questions] == [
        ("q1", {"d1": 2}),
        ("q2", {"d2": 1}),
    ]
    assert imported.corpus == tmp_path / f"corpus.jsonl{suffix}"


def test_the_form_is_computed_from_shared_words_and_that_is_said(tmp_path: Path) -> None:
    imported = import_beir(write_beir(tmp_path), language="english")

    assert [one.form for one in imported.questions] == [Form.MATCH, Form.GAP]
    assert "form was computed" in imported.notes[0]


def test_labels_without_a_header_are_read_too(tmp_path: Path) -> None:
    imported = import_beir(write_beir(tmp_path, labels="q1\td1\t1\n"))

    assert [one.id for one in imported.questions] == ["q1"]


def test_labels_in_the_form_of_trec_are_read_too(tmp_path: Path) -> None:
    imported = import_beir(write_beir(tmp_path, labels="q1\t0\td1\t3\n"))

    assert imported.questions[0].grades == {"d1": 3}


def test_questions_without_a_grade_above_zero_are_left_out_and_counted(tmp_path: Path) -> None:
    imported = import_beir(write_beir(tmp_path, labels="q1\td1\t1\nq2\td2\t0\nq9\td2\t1\n"))

    assert [one.id for one in imported.questions] == ["q1"]
    assert "2 labelled questions were left out" in imported.notes[1]


def test_a_broken_label_is_named_with_its_line(tmp_path: Path) -> None:
    folder = write_beir(tmp_path, labels="q1\td1\t1\nq1 d1 1\n")

    assert faults_of(folder)[0].startswith("test.tsv:2:1: is not `query-id")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1\td1\t--1", '"--1" is no whole number'),
        ("q1\td1\t1.0", '"1.0" is no whole number'),
        ("q1\td1\t99999999999", "is larger than a grade can be"),
        ("q1\td1\t" + "9" * 5000, "is larger than a grade can be"),
        ("q1\t\t1", "is not `query-id"),
        ("\td1\t1", "is not `query-id"),
        ("q1 0 d1 1", "is not `query-id"),
    ],
    ids=["two signs", "fraction", "large", "5000 digits", "no document", "no query", "spaces"],
)
def test_a_label_that_is_none_is_named_in_the_first_line_too(
    tmp_path: Path, line: str, said: str
) -> None:
    [fault] = faults_of(write_beir(tmp_path, labels=f"{line}\n"))

    assert fault.startswith("test.tsv:1:1: ")
    assert said in fault


def test_a_number_of_too_many_digits_is_a_fault_of_its_line(tmp_path: Path) -> None:
    folder = write_beir(tmp_path)
    (folder / "queries.jsonl").write_text('{"_id": ' + "9" * 5000 + "}\n", encoding="utf-8")

    assert faults_of(folder)[0].startswith("queries.jsonl:1:1: is no JSON: ")


def test_a_missing_split_names_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no labels qrels/dev\.tsv; name a split.*: test"):
        import_beir(write_beir(tmp_path), split="dev")


def test_a_missing_file_names_the_layout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no corpus\.jsonl; it needs"):
        import_beir(tmp_path)


# --- the plain layout ---


def test_the_plain_layout_keeps_form_class_and_grades(tmp_path: Path) -> None:
    row = {
        "id": "007",
        "question": "Who?",
        "form": "GAP",
        "hard_class": None,
        "expected": ["d1", "d2"],
        "grades": {"d1": 2, "d2": 1},
        "source_id": "x",
    }

    question = import_beir(write_plain(tmp_path, row)).questions[0]

    assert (question.id, question.form, question.hard_class) == ("007", Form.GAP, None)
    assert question.grades == {"d1": 2, "d2": 1}


def test_a_question_that_nothing_answers_is_kept(tmp_path: Path) -> None:
    row = {"id": "q", "question": "?!", "form": "MATCH", "expected": [], "grades": {}}

    assert import_beir(write_plain(tmp_path, row)).questions[0].grades == {}


def test_faults_of_the_plain_layout_are_named_with_their_lines(tmp_path: Path) -> None:
    good = {"id": "q", "question": "Who?", "form": "GAP", "expected": []}
    folder = write_plain(tmp_path, good, {**good, "form": "other"}, good, {**good, "id": 7})
    with (folder / "questions.jsonl").open("ab") as stream:
        stream.write(b"\xff\nno json\n[1]\n")

    assert [fault.split(": ")[0] for fault in faults_of(folder)] == [
        "questions.jsonl:2:1",
        "questions.jsonl:3:1",
        "questions.jsonl:4:1",
        "questions.jsonl:5:1",
        "questions.jsonl:6:1",
        "questions.jsonl:7:1",
    ]
