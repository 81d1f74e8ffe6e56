"""From a source to files in a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcli.errors import DeclarationError, UsageError
from evalcli.importers.csv_questions import choose_columns
from evalcli.importers.importing import ImportOptions, import_source


def write_csv(root: Path, text: str, name: str = "FAQ: all.csv") -> Path:
    path = root / name
    path.write_text(text, encoding="utf-8")
    return path


def test_identifier_and_name_come_from_the_source(tmp_path: Path) -> None:
    source = write_csv(tmp_path, "question,expected\nOpen?,a\n")

    written = import_source("csv", source, ImportOptions(), tmp_path)

    assert written.identifier == "imported.faq_all"
    assert written.questions == 1
    assert [path.as_posix() for path in written.files] == ["sets/imported_faq_all.yaml"]
    assert 'name: "FAQ: all"' in (tmp_path / written.files[0]).read_text(encoding="utf-8")
    [note] = written.notes
    assert note.startswith("form is gap where no column says it")


def test_a_name_without_letters_still_gives_an_identifier(tmp_path: Path) -> None:
    source = write_csv(tmp_path, "question,expected\nOpen?,a\n", "日本.csv")

    assert import_source("csv", source, ImportOptions(), tmp_path).identifier == "imported.set"


def test_a_source_without_questions_is_refused(tmp_path: Path) -> None:
    source = write_csv(tmp_path, "question,expected\n")

    with pytest.raises(UsageError, match="holds no question"):
        import_source("csv", source, ImportOptions(), tmp_path)
    assert not (tmp_path / "sets").exists()


def test_columns_of_their_own_name_are_found_and_named_ones_go_before(tmp_path: Path) -> None:
    source = write_csv(tmp_path, "question,id,Frage,expected,other\nOpen?,1,Offen?,a,x\n")

    columns = choose_columns(source, {"question": "Frage"}, separator="|")

    assert columns.named() == {"question": "Frage", "expected": "expected", "id": "id"}
    assert columns.separator == "|"


@pytest.mark.parametrize("what", ["questoin", "separator"])
def test_what_no_column_can_hold_is_refused(tmp_path: Path, what: str) -> None:
    source = write_csv(tmp_path, "question,expected\nOpen?,a\n")

    with pytest.raises(UsageError, match=f'a column cannot hold "{what}"'):
        choose_columns(source, {what: "question"})


def test_a_file_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "faq.csv"
    path.write_bytes("question,expected\nÖffnungszeiten?,a\n".encode("latin-1"))

    with pytest.raises(DeclarationError) as caught:
        choose_columns(path, {})
    assert caught.value.faults[0].line == 2
