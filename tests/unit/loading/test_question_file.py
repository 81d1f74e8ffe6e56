"""Questions in a JSONL file: source texts, and every fault with its line."""

from __future__ import annotations

import pytest

from evalcli.declarations.question_set import Form, GoldenQuestion
from evalcli.declarations.scalars import ValueFaultError
from evalcli.loading.question_file import read_question_file

GOOD = '{"id": "a", "question": "Who?", "form": "gap", "expected": ["x"]}'


def read(text: str) -> list[GoldenQuestion]:
    return read_question_file("sets/q.jsonl", lambda _: text)


def faults_of(text: str) -> list[str]:
    with pytest.raises(ValueFaultError) as caught:
        read(text)
    return [str(fault) for fault in (caught.value, *caught.value.others)]


def test_each_line_is_a_question() -> None:
    second = GOOD.replace('"a"', '"b"')

    assert [one.id for one in read(f"{GOOD}\n\n{second}\n")] == ["a", "b"]


def test_numbers_keep_their_source_text_where_text_is_expected() -> None:
    line = '{"id": 1e3, "question": "?!", "form": "gap", "expected": [7, 1.0, "007"]}'

    question = read(line)[0]

    assert (question.id, question.expected) == ("1e3", ("7", "1.0", "007"))


def test_grades_are_numbers() -> None:
    line = '{"id": "a", "question": "?!", "form": "match", "expected": {"x": 2, "y": 1}}'

    assert read(line)[0].grades == {"x": 2, "y": 1}


def test_null_leaves_out_what_may_lack() -> None:
    question = read(f'{GOOD[:-1]}, "hard_class": null, "gist": null}}')[0]

    assert (question.hard_class, question.gist, question.form) == (None, None, Form.GAP)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is no JSON"),
        ("[1]", "must be a JSON object"),
        ('{"id": NaN}', "NaN is no JSON"),
        ('{"id": 1e999}', "too large"),
        ('{"id": "a", "id": "b"}', 'the key "id" stands there twice'),
        ("[" * 200_000, "nested too deeply"),
        (GOOD.replace('"id"', '"idd"'), 'unknown key "idd"; write "id"'),
        (GOOD.replace('"gap"', '"MATCH"'), "write one of match, gap"),
        (GOOD.replace('["x"]', "[null]"), "quote it"),
        (GOOD.replace('["x"]', '["x", "x"]'), '"x" is expected twice'),
        (GOOD.replace('"Who?"', '" "'), "question: is empty"),
    ],
)
def test_a_fault_names_its_line(line: str, said: str) -> None:
    first = GOOD.replace('"a"', '"first"')

    faults = faults_of(f"{first}\n{line}\n")

    assert faults[0].startswith("sets/q.jsonl, line 2: ")
    assert said in faults[0]


def test_an_id_that_is_used_twice_names_both_lines() -> None:
    assert faults_of(f"{GOOD}\n\n{GOOD}\n") == [
        'sets/q.jsonl, line 3: id: "a" is used twice, first at line 1; give it another id'
    ]


def test_all_faults_are_reported() -> None:
    bad = GOOD.replace('"gap"', '"x"').replace('["x"]', "7")

    assert len(faults_of(f"{bad}\nnot json\n")) == 3


def test_an_empty_file_is_refused() -> None:
    assert faults_of("\n") == ['"sets/q.jsonl" holds no question; write one JSON object a line']
