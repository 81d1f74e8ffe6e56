"""Question sets as declared: ids, labels, what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evalcli.declarations.question_set import GoldenQuestion, QuestionSet, question_faults
from evalcli.declarations.scalars import SourceScalar


def question(**changes: object) -> dict[str, object]:
    return {
        "id": "termin",
        "question": "Wann ist es?",
        "form": "match",
        "expected": ["a"],
        **changes,
    }


def make_set(*questions: object) -> QuestionSet:
    return QuestionSet.model_validate(
        {"kind": "questions", "identifier": "acme.faq", "name": "FAQ", "questions": [*questions]}
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("234_0", "234_0"),
        ("007", 7),
        ("1e3", 1000.0),
        ("yes", "yes"),
        ("true", True),
        ("2026-11-30", "2026-11-30"),
        ("ä" * 500, "ä" * 500),
    ],
)
def test_ids_keep_their_source_text(text: str, value: str | int | float | bool) -> None:
    scalar = SourceScalar(text, value)

    read = GoldenQuestion.model_validate(question(id=scalar, expected=[scalar]))

    assert (read.id, read.expected) == (text, (text,))


def test_a_list_gives_each_document_the_grade_one() -> None:
    assert GoldenQuestion.model_validate(question(expected=["a", "b"])).grades == {"a": 1, "b": 1}


def test_grades_are_kept() -> None:
    graded = {"a": SourceScalar("2", 2), "b": SourceScalar("1", 1)}

    assert GoldenQuestion.model_validate(question(expected=graded)).grades == {"a": 2, "b": 1}


@pytest.mark.parametrize("expected", [[], {}])
def test_expecting_nothing_is_allowed(expected: object) -> None:
    assert GoldenQuestion.model_validate(question(expected=expected)).grades == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": ""}, "is empty"),
        ({"question": " \n"}, "is empty"),
        ({"expected": [SourceScalar("null", None)]}, "quote it"),
        ({"expected": [""]}, "is empty"),
        ({"expected": "a"}, "valid tuple"),
        ({"expected": {"a": 0}}, "greater than or equal to 1"),
        ({"expected": {"a": 1.5}}, "valid integer"),
        ({"form": "MATCH"}, "'match' or 'gap'"),
        ({"hard_class": ""}, "is empty"),
        ({"expect": []}, "not permitted"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_set(question(**change))

    assert said in str(caught.value)


@pytest.mark.parametrize("missing", ["id", "question", "form", "expected"])
def test_a_missing_key_is_refused(missing: str) -> None:
    raw = question()
    del raw[missing]

    with pytest.raises(ValidationError, match=missing):
        make_set(raw)


def test_a_set_without_questions_is_refused() -> None:
    with pytest.raises(ValidationError):
        make_set()


def test_an_id_that_is_used_twice_is_refused() -> None:
    with pytest.raises(ValidationError, match='"termin" is used twice'):
        make_set(question(), question())


def test_an_expected_id_that_stands_there_twice_is_placed() -> None:
    faults = list(question_faults([question(expected=["a", "b", "a"])]))

    assert [(fault.path, fault.first) for fault in faults] == [
        (("questions", 0, "expected", 2), ("questions", 0, "expected", 0))
    ]


def test_questions_in_a_file_need_a_reader() -> None:
    raw = {"kind": "questions", "identifier": "a.b", "name": "x", "questions": {"file": "q.jsonl"}}

    with pytest.raises(ValidationError, match="in YAML files only"):
        QuestionSet.model_validate(raw)


def test_questions_come_from_the_reader_of_the_context() -> None:
    raw = {"kind": "questions", "identifier": "a.b", "name": "x", "questions": {"file": "q.jsonl"}}
    asked: list[str] = []

    def read_questions(path: str) -> list[object]:
        asked.append(path)
        return [question()]

    read = QuestionSet.model_validate(raw, context={"read_questions": read_questions})

    assert (asked, read.questions[0].id) == (["q.jsonl"], "termin")


def test_the_schema_for_editors_can_be_made() -> None:
    schema = QuestionSet.model_json_schema()

    assert "questions" in schema["properties"]
