"""CSV files with a mapping of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcli.declarations.question_set import Form
from evalcli.errors import DeclarationError, UsageError
from evalcli.importers.csv_questions import CsvColumns, import_csv
from evalcli.importers.imported import ImportedSet


def write(root: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path = root / "faq.csv"
    path.write_bytes(text.encode(encoding))
    return path


def read(root: Path, text: str, columns: CsvColumns, delimiter: str = ",") -> ImportedSet:
    return import_csv(write(root, text), columns, delimiter=delimiter, language="german")


def faults_of(root: Path, text: str, columns: CsvColumns) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read(root, text, columns)
    return [str(fault) for fault in caught.value.faults]


LABELLED = CsvColumns(question="Frage", expected="Dokumente", id="Nr", form="Form")


def test_columns_are_mapped_and_ids_keep_their_text(tmp_path: Path) -> None:
    text = 'Nr,Frage,Dokumente,Form\n007,"Wann, bitte?",234_0; 1e3,GAP\n'

    question = read(tmp_path, text, LABELLED).questions[0]

    assert (question.id, question.question, question.form) == ("007", "Wann, bitte?", Form.GAP)
    assert list(question.grades) == ["234_0", "1e3"]


def test_rows_of_one_question_are_one_question(tmp_path: Path) -> None:
    text = "Frage;Dok;Note\nWann?;a;2\nWann?;b;1\nWo?;c;1\n"
    columns = CsvColumns(question="Frage", expected="Dok", grade="Note")

    imported = read(tmp_path, text, columns, delimiter=";")

    assert [(one.id, one.grades) for one in imported.questions] == [
        ("q0001", {"a": 2, "b": 1}),
        ("q0002", {"c": 1}),
    ]
    assert imported.corpus is None


def test_an_empty_cell_says_that_nothing_answers(tmp_path: Path) -> None:
    text = "Nr,Frage,Dokumente,Form\n1,Wann?,,gap\n"

    assert read(tmp_path, text, LABELLED).questions[0].grades == {}


def test_documents_in_the_file_become_a_corpus(tmp_path: Path) -> None:
    text = "Überschrift,Frage\nBüro geöffnet,Wann ist das Büro geöffnet?\nBüro geöffnet,Wann auf?\n"
    columns = CsvColumns(question="Frage", title="Überschrift")

    imported = read(tmp_path, text, columns)

    assert imported.corpus == ('{"id": "doc-0001", "title": "Büro geöffnet", "text": ""}',)
    assert [(list(one.grades), one.form) for one in imported.questions] == [
        (["doc-0001"], Form.MATCH),
        (["doc-0001"], Form.GAP),
    ]
    assert "form was computed" in imported.notes[0]


def test_without_texts_no_form_is_computed_and_that_is_said(tmp_path: Path) -> None:
    text = "Frage,Dokumente\nBüro geöffnet?,Büro geöffnet\n"

    imported = read(tmp_path, text, CsvColumns(question="Frage", expected="Dokumente"))

    assert imported.questions[0].form is Form.GAP
    assert imported.notes[0].startswith("form is gap where no column says it")


def test_a_byte_order_mark_and_quoted_line_breaks_are_fine(tmp_path: Path) -> None:
    text = '\ufeffNr,Frage,Dokumente,Form\n1,"Zwei\nZeilen?",a,match\n'

    assert read(tmp_path, text, LABELLED).questions[0].question == "Zwei\nZeilen?"


def test_all_faults_are_named_with_their_lines(tmp_path: Path) -> None:
    text = (
        "Nr,Frage,Dokumente,Form\n"
        "1,Wann?,a,gap\n"
        "2,,a,gap\n"
        "3,Wo?,a,vague\n"
        "1,Wie?,a,gap\n"
        ",Wer?,a,gap\n"
        "\n"
    )

    assert faults_of(tmp_path, text, LABELLED) == [
        "faq.csv:3:1: Frage: is empty",
        'faq.csv:4:1: Form: "vague" is neither match nor gap',
        'faq.csv:5:1: Nr: "1" has two questions',
        "faq.csv:6:1: Nr: is empty",
    ]


@pytest.mark.parametrize(
    ("grade", "said"),
    [
        ("high", '"high" is no whole number'),
        ("--5", '"--5" is no whole number'),
        ("1.0", '"1.0" is no whole number'),
        ("1000001", '"1000001" is larger than a grade can be, 1,000,000'),
        ("9" * 5000, "is larger than a grade can be"),
    ],
    ids=["word", "two signs", "fraction", "too large", "5000 digits"],
)
def test_a_grade_that_is_none_is_named(tmp_path: Path, grade: str, said: str) -> None:
    columns = CsvColumns(question="q", expected="d", grade="g")

    [fault] = faults_of(tmp_path, f"q,d,g\nWho?,a,{grade}\n", columns)

    assert fault.startswith("faq.csv:2:1: g: ")
    assert said in fault


def test_a_row_of_more_or_fewer_cells_is_named(tmp_path: Path) -> None:
    text = "Nr,Frage,Dokumente,Form\n1,Wann, bitte?,a,gap\n2,Wo?\n,,,\n   \n3,Wer?,a,gap\n"

    advice = "put texts that hold the delimiter in double quotes"
    assert faults_of(tmp_path, text, LABELLED) == [
        f"faq.csv:2:1: has 5 cells, and the header has 4; {advice}",
        f"faq.csv:3:1: has 2 cells, and the header has 4; {advice}",
    ]


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='has the column "Dok" twice'):
        read(tmp_path, "Frage,Dok,Dok\nWo?,a,b\n", CsvColumns(question="Frage", expected="Dok"))


def test_an_empty_separator_is_refused(tmp_path: Path) -> None:
    columns = CsvColumns(question="Frage", expected="Dok", separator="")

    with pytest.raises(UsageError, match="the separator is empty"):
        read(tmp_path, "Frage,Dok\nWo?,a\n", columns)


def test_a_quote_that_stays_open_is_named(tmp_path: Path) -> None:
    columns = CsvColumns(question="Frage", expected="Dok")

    [fault] = faults_of(tmp_path, 'Frage,Dok\nWo?,a\n"Wann?,b\n', columns)

    assert fault.startswith("faq.csv:3:1: is no CSV")


def test_a_document_with_two_texts_is_named(tmp_path: Path) -> None:
    columns = CsvColumns(question="q", expected="d", text="t")

    assert faults_of(tmp_path, "q,d,t\nWho?,a,x\nWhere?,a,y\n", columns) == [
        'faq.csv:3:1: d: "a" has two texts'
    ]


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='no column "Fragen" for the question; write "Frage"'):
        read(tmp_path, "Frage,Dok\n", CsvColumns(question="Fragen", expected="Dok"))


def test_a_mapping_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column says which documents"):
        read(tmp_path, "q\n", CsvColumns(question="q"))


def test_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "Frage,Dok\nWo?,a\nFür wen?,b\n", encoding="latin-1")

    with pytest.raises(DeclarationError) as caught:
        import_csv(path, CsvColumns(question="Frage", expected="Dok"))

    assert str(caught.value.faults[0]) == "faq.csv:3:1: is not UTF-8; save it as UTF-8"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.csv cannot be read"):
        import_csv(tmp_path / "gone.csv", CsvColumns(question="q", expected="d"))
