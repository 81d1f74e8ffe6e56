"""What an import writes: files that our own loader reads back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.question_set import GoldenQuestion, QuestionSet
from evalcli.errors import UsageError
from evalcli.importers.imported import (
    QUESTIONS_IN_YAML,
    ImportedSet,
    WrittenImport,
    quote,
    write_import,
)
from evalcli.loading.nodes import plain_tree
from evalcli.loading.question_file import read_question_file
from evalcli.loading.yaml_text import parse_yaml
from tests.support.retrieval import make_question

ODD = ["007", "1e3", "null", "yes", "2026-11-30", 'a "quoted" \\ one', "ä › 🙂", "tab\there", "# x"]


def write(root: Path, *questions: GoldenQuestion, is_overwriting: bool = False) -> WrittenImport:
    imported = ImportedSet(questions, ('{"id": "a", "text": "x"}',))
    return write_import(
        imported, root, identifier="acme.faq", name="FAQ: all", is_overwriting=is_overwriting
    )


def read_back(root: Path, written: WrittenImport) -> QuestionSet:
    text = (root / written.files[0]).read_text(encoding="utf-8")
    document = parse_yaml(text)
    assert document.root is not None
    assert document.faults == ()

    def read_questions(path: str) -> list[GoldenQuestion]:
        return read_question_file(path, lambda name: (root / name).read_text(encoding="utf-8"))

    return QuestionSet.model_validate(
        plain_tree(document.root), context={"read_questions": read_questions}
    )


def test_a_small_set_is_one_yaml_file(tmp_path: Path) -> None:
    questions = [
        make_question(f"q{place}", question=odd, expected=(odd,), hard_class=odd)
        for place, odd in enumerate(ODD)
    ]

    written = write(tmp_path, *questions)

    assert [path.as_posix() for path in written.files] == [
        "sets/acme_faq.yaml",
        "corpora/acme_faq.jsonl",
    ]
    read = read_back(tmp_path, written)
    assert read.name == "FAQ: all"
    assert read.questions == tuple(questions)


def test_a_large_set_has_a_jsonl_file_beside_it(tmp_path: Path) -> None:
    questions = [
        make_question(f"q{number}", expected={"a": 2, "b": 1})
        for number in range(QUESTIONS_IN_YAML + 1)
    ]

    written = write(tmp_path, *questions)

    assert written.files[1].as_posix() == "sets/acme_faq.jsonl"
    assert read_back(tmp_path, written).questions == tuple(questions)


def test_what_to_declare_is_said(tmp_path: Path) -> None:
    assert write(tmp_path, make_question()).retriever == (
        "retrievers:\n"
        "  acme_faq: {type: lexical, corpus: {jsonl: corpora/acme_faq.jsonl}, language: none}\n"
    )


def test_a_packed_corpus_is_copied_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl.gz"
    source.write_bytes(b"\x1f\x8b packed")

    written = write_import(
        ImportedSet((make_question(),), source), tmp_path, identifier="a.b", name="x"
    )

    assert (tmp_path / written.files[1]).read_bytes() == b"\x1f\x8b packed"


def test_nothing_is_overwritten_unless_asked(tmp_path: Path) -> None:
    write(tmp_path, make_question())

    with pytest.raises(UsageError, match=r"sets/acme_faq\.yaml is there already"):
        write(tmp_path, make_question())
    write(tmp_path, make_question(), is_overwriting=True)


@pytest.mark.parametrize("identifier", ["", "Acme", "../x", "a b", "a..b"])
def test_an_identifier_of_another_form_is_refused(tmp_path: Path, identifier: str) -> None:
    imported = ImportedSet((make_question(),), None)

    with pytest.raises(UsageError, match="is no identifier"):
        write_import(imported, tmp_path, identifier=identifier, name="x")


@given(st.text())
def test_a_quoted_text_reads_back_the_same_in_json_and_yaml(text: str) -> None:
    document = parse_yaml(f"key: {quote(text)}\n")

    assert json.loads(quote(text)) == text
    assert document.faults == ()
    assert document.root is not None
    tree = plain_tree(document.root)
    assert isinstance(tree, dict)
    assert tree["key"].text == text
