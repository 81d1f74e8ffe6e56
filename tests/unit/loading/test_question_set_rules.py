"""Question sets from files: faults with places, questions in a JSONL file, ids as written."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from evalcli.declarations.question_set import QuestionSet
from evalcli.loading.long_text import TextFolder
from evalcli.loading.reader import Reading, read_declaration

HEAD = "kind: questions\nidentifier: a.b\nname: x\n"


def read(text: str, root: Path = Path("/nonexistent")) -> Reading:
    data = (HEAD + dedent(text)).encode()
    return read_declaration(
        data, "sets/q.yaml", folder="sets", read_text=TextFolder(root).read_text
    )


def faults(text: str, root: Path = Path("/nonexistent")) -> list[str]:
    return [str(fault) for fault in read(text, root).faults]


def test_ids_keep_their_characters() -> None:
    declaration = read(
        """\
        questions:
          - {id: 007, question: Who?, form: match, expected: [234_0, 1e3, yes, 2026-11-30]}
          - {id: 0x1F, question: Who?, form: gap, expected: {1.10: 2, no: 1}}
          - {id: null_, question: Who?, form: gap, expected: []}
        """
    ).declaration

    assert isinstance(declaration, QuestionSet)
    first, second, third = declaration.questions
    assert (first.id, first.expected) == ("007", ("234_0", "1e3", "yes", "2026-11-30"))
    assert (second.id, second.grades) == ("0x1F", {"1.10": 2, "no": 1})
    assert third.grades == {}


def test_repeated_ids_name_both_lines() -> None:
    assert faults(
        """\
        questions:
          - {id: a, question: Who?, form: match, expected: [x, y, x]}
          - {id: a, question: Who?, form: match, expected: [x]}
        """
    ) == [
        'sets/q.yaml:5:59: questions[0].expected[2]: "x" is expected twice, first at sets/q.yaml:5 '
        '(question "a"); leave one out',
        'sets/q.yaml:6:10: questions[1].id: "a" is used twice, first at sets/q.yaml:5; '
        "give it another id",
    ]


def test_what_is_missing_or_misspelt_is_named() -> None:
    assert faults(
        """\
        questions:
          - {id: a, question: ' ', form: MATCH, expected: [null], hardclass: x}
        """
    ) == [
        'sets/q.yaml:5:23: questions[0].question: is empty (question "a"); write the text',
        'sets/q.yaml:5:34: questions[0].form: "MATCH" is not known here (question "a"); '
        "write one of match, gap",
        "sets/q.yaml:5:52: questions[0].expected[0]: is null where text is needed "
        '(question "a"); quote it: "null"',
        'sets/q.yaml:5:59: questions[0]: unknown key "hardclass" (question "a"); '
        'write "hard_class"',
    ]


def test_questions_in_a_file_are_read_from_the_workspace(tmp_path: Path) -> None:
    line = '{"id": 7, "question": "Who?", "form": "gap", "expected": ["x"]}\n'
    (tmp_path / "q.jsonl").write_text(line, encoding="utf-8")

    declaration = read("questions: {file: q.jsonl}\n", tmp_path).declaration

    assert isinstance(declaration, QuestionSet)
    assert declaration.questions[0].id == "7"


def test_faults_in_that_file_name_its_lines(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "a"}\nno json\n', encoding="utf-8")

    found = faults("questions: {file: q.jsonl}\n", tmp_path)

    assert [fault.partition(": questions.file: ")[0] for fault in found] == [
        "sets/q.yaml:4:19"
    ] * len(found)
    assert 'q.jsonl, line 1: the key "question" is missing' in found[0]
    assert any("q.jsonl, line 2: is no JSON" in fault for fault in found)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    found = faults("questions: {file: gone.jsonl}\n", tmp_path)

    assert len(found) == 1
    assert 'there is no file "gone.jsonl"' in found[0]


def test_a_large_file_is_read(tmp_path: Path) -> None:
    rows = [
        f'{{"id": "q{number}", "question": "{"word " * 50}", "form": "gap", "expected": []}}'
        for number in range(5_000)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(rows), encoding="utf-8")

    declaration = read("questions: {file: q.jsonl}\n", tmp_path).declaration

    assert isinstance(declaration, QuestionSet)
    assert len(declaration.questions) == 5_000
