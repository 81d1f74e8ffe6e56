"""Profiles: every limit at its edge and one beyond, and what counts as their content."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evalcli.declarations.profile import (
    ChoiceQuestion,
    Profile,
    ScoreQuestion,
    SubjectField,
    YesNoQuestion,
    profile_faults,
)
from evalcli.declarations.prompt_set import DataClass
from tests.support.decisions import QUESTIONS, make_profile, make_question


def choice(options: list[str], **fields: object) -> Profile:
    return make_question(type="choice", options=options, **fields)


def score(levels: int) -> Profile:
    return make_question(type="score", levels=[f"level {n}" for n in range(levels)])


def faults(**fields: Any) -> list[tuple[Any, str]]:
    return [(fault.path, fault.message) for fault in profile_faults(fields)]


def test_a_profile_with_every_type_of_question() -> None:
    profile = make_profile(requires=["task", "evidence"])

    verdict, supported, answers_task = profile.questions.values()
    assert isinstance(verdict, ChoiceQuestion)
    assert isinstance(supported, YesNoQuestion)
    assert isinstance(answers_task, ScoreQuestion)
    assert profile.requires == (SubjectField.TASK, SubjectField.EVIDENCE)
    assert profile.data_class is DataClass.EDITOR_CONTENT


# --- limits ---


@pytest.mark.parametrize("count", [2, 255])
def test_a_choice_has_2_to_255_options(count: int) -> None:
    (question,) = choice([f"option {n}" for n in range(count)]).questions.values()

    assert isinstance(question, ChoiceQuestion)
    assert len(question.options) == count


@pytest.mark.parametrize("count", [0, 1, 256])
def test_a_choice_of_another_number_of_options_is_refused(count: int) -> None:
    with pytest.raises(ValidationError, match=f"needs 2 to 255 options, has {count}"):
        choice([f"option {n}" for n in range(count)])


@pytest.mark.parametrize("count", [2, 10])
def test_a_score_has_2_to_10_levels(count: int) -> None:
    (question,) = score(count).questions.values()

    assert isinstance(question, ScoreQuestion)
    assert len(question.levels) == count


@pytest.mark.parametrize("count", [0, 1, 11])
def test_a_score_of_another_number_of_levels_is_refused(count: int) -> None:
    with pytest.raises(ValidationError, match=f"needs 2 to 10 levels, has {count}"):
        score(count)


@pytest.mark.parametrize("key", ["q", "q_1", "a" * 64])
def test_keys_of_questions(key: str) -> None:
    assert list(make_profile({key: QUESTIONS["supported"]}).questions) == [key]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("a" * 65, "the key has 65 characters, and 64 at most"),
        ("", '"" is no key'),
        ("Q", '"Q" is no key'),
        ("1a", '"1a" is no key'),
        ("_a", '"_a" is no key'),
        ("a-b", '"a-b" is no key'),
        ("ä", '"ä" is no key'),
        ("a\n", "is no key"),
    ],
    ids=["65", "empty", "upper", "digit", "underscore", "dash", "umlaut", "line-end"],
)
def test_keys_that_are_none(key: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        make_profile({key: QUESTIONS["supported"]})


@pytest.mark.parametrize("version", [1, 2, 2**31 - 1])
def test_versions(version: int) -> None:
    assert make_profile(version=version).version == version


@pytest.mark.parametrize("version", [0, -1, 2**31, "1", 1.5, True, None])
def test_versions_that_are_none(version: object) -> None:
    with pytest.raises(ValidationError):
        make_profile(version=version)


def test_a_profile_needs_a_question() -> None:
    with pytest.raises(ValidationError, match="is empty; add at least one question"):
        make_profile({})


@pytest.mark.parametrize("name", ["0", "1", "yes", "null", "true", " a", "ä🙂", "a\nb", "x" * 500])
def test_any_text_names_an_option(name: str) -> None:
    (question,) = choice([name, "other"], descriptions={name: "what it means"}).questions.values()

    assert isinstance(question, ChoiceQuestion)
    assert question.options == (name, "other")
    assert question.descriptions == {name: "what it means"}


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_option_is_no_blank(name: str) -> None:
    with pytest.raises(ValidationError):
        choice([name, "other"])


def test_options_that_differ_in_case_only_are_two() -> None:
    assert choice(["A", "a"]).questions


# --- rules between the parts ---


def test_an_option_twice() -> None:
    found = faults(questions={"q": {"options": ["a", "b", "a"]}})

    assert found == [(("questions", "q", "options", 2), '"a" is the same option twice')]


def test_a_level_twice() -> None:
    found = faults(questions={"q": {"levels": ["a", "a"]}})

    assert found == [(("questions", "q", "levels", 1), '"a" is the same level twice')]


def test_descriptions_name_options_only() -> None:
    found = list(
        profile_faults({"questions": {"q": {"options": ["a", "b"], "descriptions": {"c": "x"}}}})
    )

    assert [(fault.path, fault.advice) for fault in found] == [
        (("questions", "q", "descriptions", "c"), "describe options only")
    ]


def test_a_description_of_a_misspelt_option_names_the_nearest() -> None:
    (fault,) = profile_faults(
        {"questions": {"q": {"options": ["revise", "b"], "descriptions": {"revis": "x"}}}}
    )

    assert fault.advice == 'write "revise"'


def test_a_field_is_required_once() -> None:
    assert faults(requires=["task", "task"]) == [(("requires", 1), '"task" is required twice')]


def test_all_faults_are_found() -> None:
    found = faults(questions={"Q": {"options": []}, "q": {"levels": ["a"]}})

    assert [path for path, _ in found] == [
        ("questions", "Q"),
        ("questions", "Q", "options"),
        ("questions", "q", "levels"),
    ]


@pytest.mark.parametrize("questions", [None, "x", ["x"], {"q": "x"}, {"q": {"options": "ab"}}])
def test_what_has_another_form_is_left_to_the_fields(questions: object) -> None:
    assert faults(questions=questions) == []


# --- questions of one type ---


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"type": "yesno", "instructions": "x"}, 'write "yes_no"'),
        ({"type": "noul", "instructions": "x"}, "write one of yes_no, choice, score"),
        ({"type": ["choice"], "instructions": "x"}, "must be one word"),
        ({"instructions": "x"}, 'the key "type" is missing'),
        ({"type": "yes_no"}, "Field required"),
        ({"type": "yes_no", "instructions": "x", "options": ["a", "b"]}, "Extra inputs"),
        ({"type": "score", "instructions": "x", "options": ["a", "b"]}, "Field required"),
        ("yes_no", "valid dictionary"),
    ],
    ids=["near", "far", "list", "no-type", "no-text", "other-field", "wrong-field", "text"],
)
def test_questions_that_are_none(question: Any, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        make_profile({"q": question})


# --- content ---


def test_content_is_all_that_a_decision_rests_on() -> None:
    assert make_profile().content() == {
        "answers_task": QUESTIONS["answers_task"],
        "supported": QUESTIONS["supported"],
        "verdict": QUESTIONS["verdict"],
    }


def test_the_order_of_questions_is_no_content() -> None:
    turned = make_profile(dict(reversed(list(QUESTIONS.items()))))

    assert list(turned.content()) == list(make_profile().content())


@pytest.mark.parametrize(
    "fields", [{"description": "x"}, {"version": 2}, {"requires": ["task"]}, {"identifier": "x"}]
)
def test_what_does_not_change_an_answer_is_no_content(fields: dict[str, object]) -> None:
    assert make_profile(**fields).content() == make_profile().content()


@pytest.mark.parametrize(
    "fields",
    [
        {"instructions": "Is it so?"},
        {"yes": "It is."},
        {"no": "It is not."},
    ],
)
def test_instructions_and_criteria_are_content(fields: dict[str, object]) -> None:
    changed = make_question(type="yes_no", **fields)

    assert changed.content() != make_question(type="yes_no").content()


def test_options_levels_and_descriptions_are_content() -> None:
    contents = [
        choice(["a", "b"]),
        choice(["b", "a"]),
        choice(["a", "b", "c"]),
        choice(["a", "b"], descriptions={"a": "x"}),
        score(2),
        score(3),
    ]

    assert len({str(profile.content()) for profile in contents}) == len(contents)
