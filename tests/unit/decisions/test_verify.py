"""An answer counts only if it answers what was asked, within what was offered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.decisions.verify import find_answer_faults, name_some
from evalcli.records import DecisionAnswer
from tests.support.decisions import make_profile, make_question

YES_NO = make_question(type="yes_no")
CHOICE = make_question(type="choice", options=["a", "b", "c"])
SCORE = make_question(type="score", levels=["low", "middle", "high"])


def faults(profile: Any, answers: Mapping[str, DecisionAnswer]) -> tuple[str, ...]:
    return find_answer_faults(profile.questions, answers, quote=lambda text: f"«{text}»")


def fault_of(profile: Any, **answer: Any) -> str:
    """The one fault of the answer to `q`; empty where there is none."""
    found = faults(profile, {"q": DecisionAnswer(**answer)})
    assert len(found) <= 1, found
    return found[0].removeprefix("q: ") if found else ""


# --- one answer a question ---


def test_all_types_of_answer() -> None:
    answers = {
        "verdict": DecisionAnswer(
            choice="revise",
            probabilities={"publish": 0.31, "revise": 0.62, "discard": 0.07},
            confidence=0.43,
        ),
        "supported": DecisionAnswer(value=0.86),
        "answers_task": DecisionAnswer(value=1.72, probabilities={"0": 0.04, "1": 0.2, "2": 0.76}),
    }

    assert faults(make_profile(), answers) == ()


def test_missing_answers_are_named_in_the_order_of_the_questions() -> None:
    assert faults(make_profile(), {}) == (
        "verdict: no answer",
        "supported: no answer",
        "answers_task: no answer",
    )


def test_an_answer_nobody_asked_for() -> None:
    answers = {"q": DecisionAnswer(value=1), "other": DecisionAnswer(value=1)}

    assert faults(YES_NO, answers) == ("«other» was not asked",)


# --- numbers ---


@pytest.mark.parametrize("value", [0, 0.0, -0.0, 1, 1.0, 0.5, 5e-324])
def test_probabilities_of_yes(value: float) -> None:
    assert fault_of(YES_NO, value=value) == ""


@pytest.mark.parametrize("value", [0, 1.72, 2, 2.0])
def test_levels(value: float) -> None:
    assert fault_of(SCORE, value=value) == ""


@pytest.mark.parametrize(
    ("profile", "value", "why"),
    [
        (YES_NO, 1.0000001, "is not in 0 to 1"),
        (YES_NO, math.nextafter(1, 2), "is not in 0 to 1"),
        (YES_NO, -1e-9, "is not in 0 to 1"),
        pytest.param(YES_NO, 10**400, "is not in 0 to 1", id="huge"),
        (YES_NO, math.nan, "is not finite"),
        (YES_NO, math.inf, "is not finite"),
        (YES_NO, "0.5", "is no number"),
        (YES_NO, True, "is no number"),
        (YES_NO, None, "is no number"),
        (SCORE, 2.0000001, "is not in 0 to 2"),
        (SCORE, 3, "is not in 0 to 2"),
        (SCORE, -1, "is not in 0 to 2"),
        (SCORE, math.nan, "is not finite"),
        (SCORE, "2", "is no number"),
        (SCORE, None, "is no number"),
    ],
)
def test_numbers_that_are_no_answer(profile: Any, value: Any, why: str) -> None:
    fault = fault_of(profile, value=value)

    assert fault.startswith("its value")
    assert why in fault


@pytest.mark.parametrize("confidence", [0, 1, 0.5, None])
def test_confidence_in_range(confidence: float | None) -> None:
    assert fault_of(YES_NO, value=1, confidence=confidence) == ""


@pytest.mark.parametrize("confidence", [-0.1, 1.0000001, math.nan, "0.5", True])
def test_confidence_out_of_range(confidence: Any) -> None:
    assert fault_of(YES_NO, value=1, confidence=confidence).startswith("its confidence ")


# --- types ---


def test_an_option_that_was_not_offered() -> None:
    assert fault_of(CHOICE, choice="approve") == "«approve» is none of its options (a, b, c)"


@pytest.mark.parametrize("option", ["A", "a ", "", "0", "а"])  # the last is Cyrillic
def test_options_are_compared_exactly(option: str) -> None:
    assert "is none of its options" in fault_of(CHOICE, choice=option)


@pytest.mark.parametrize("option", ["0", "1", "yes", "null", "ä🙂"])
def test_options_of_any_name(option: str) -> None:
    profile = make_question(type="choice", options=[option, "other"])

    assert fault_of(profile, choice=option, probabilities={option: 1, "other": 0}) == ""


@pytest.mark.parametrize("choice", [None, 1, True, ["a"]])
def test_no_option(choice: Any) -> None:
    assert fault_of(CHOICE, choice=choice) == "no option was chosen"


def test_a_number_where_an_option_belongs() -> None:
    assert fault_of(CHOICE, choice="a", value=0.5) == ("a number where an option was to be chosen")


@pytest.mark.parametrize("profile", [YES_NO, SCORE])
def test_an_option_where_a_number_belongs(profile: Any) -> None:
    assert fault_of(profile, value=1, choice="yes") == "an option where a number was asked for"


# --- probabilities ---


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        (CHOICE, {"choice": "a", "probabilities": {}}),
        (CHOICE, {"choice": "a", "probabilities": {"a": 1, "b": 0, "c": 0}}),
        (CHOICE, {"choice": "c", "probabilities": {"a": 0.6, "b": 0.4}}),
        (SCORE, {"value": 2, "probabilities": {"0": 0.0, "1": 0.0, "2": 1.0}}),
        (YES_NO, {"value": 0.7, "probabilities": {"yes": 0.7, "no": 0.3}}),
    ],
)
def test_probabilities_of_what_was_offered(profile: Any, answer: dict[str, Any]) -> None:
    assert fault_of(profile, **answer) == ""


@pytest.mark.parametrize(
    ("profile", "answer", "label"),
    [
        (CHOICE, {"choice": "a", "probabilities": {"a": 0.5, "d": 0.5}}, "d"),
        (SCORE, {"value": 1, "probabilities": {"0": 0.5, "3": 0.5}}, "3"),
        (SCORE, {"value": 1, "probabilities": {"0": 0.5, "01": 0.5}}, "01"),
        (SCORE, {"value": 1, "probabilities": {"0": 0.5, "middle": 0.5}}, "middle"),
        (YES_NO, {"value": 1, "probabilities": {"true": 1}}, "true"),
    ],
)
def test_a_probability_of_what_was_not_offered(
    profile: Any, answer: dict[str, Any], label: str
) -> None:
    assert fault_of(profile, **answer) == f"a probability of «{label}», which was not offered"


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, "0.5", None, True])
def test_a_probability_that_is_none(value: Any) -> None:
    fault = fault_of(CHOICE, choice="a", probabilities={"a": value})

    assert fault.startswith("the probability of «a» ")


@pytest.mark.parametrize(
    ("values", "is_valid"),
    [
        ([0.5, 0.51], True),  # 0.005 for each of two, exactly
        ([0.5, 0.49], True),
        ([0.5, 0.5101], False),
        ([0.5, 0.4899], False),
        ([0.995], True),
        ([0.994], False),
        ([0.33, 0.33, 0.33], True),
        ([0.34, 0.34, 0.335], True),
        ([0.34, 0.34, 0.3351], False),
        ([0.0, 0.0], False),
    ],
)
def test_probabilities_add_up_within_the_rounding(values: list[float], is_valid: bool) -> None:
    options = ["o0", "o1", "o2"]
    profile = make_question(type="choice", options=options)
    probabilities = dict(zip(options, values, strict=False))

    fault = fault_of(profile, choice="o0", probabilities=probabilities)

    assert (fault == "") is is_valid, fault
    assert is_valid or fault.startswith("its probabilities add up to")


@given(st.lists(st.floats(min_value=0.001, max_value=1), min_size=255, max_size=255))
def test_255_options_rounded_to_two_decimals(weights: list[float]) -> None:
    total = math.fsum(weights)
    options = [f"option {n}" for n in range(255)]
    profile = make_question(type="choice", options=options)
    probabilities = {
        option: round(weight / total, 2) for option, weight in zip(options, weights, strict=True)
    }

    assert fault_of(profile, choice=options[0], probabilities=probabilities) == ""


# --- words ---


def test_many_options_are_not_all_named() -> None:
    assert name_some([str(n) for n in range(6)]) == "0, 1, 2, 3, 4, 5"
    assert name_some([str(n) for n in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"


@given(
    st.dictionaries(
        st.text(max_size=3) | st.just("q"),
        st.builds(
            DecisionAnswer,
            value=st.none() | st.floats() | st.integers() | st.text(max_size=2),
            choice=st.none() | st.text(max_size=2) | st.sampled_from(["a", "b"]),
            probabilities=st.dictionaries(
                st.text(max_size=1) | st.sampled_from(["a", "b", "c"]),
                st.floats() | st.integers() | st.none(),
                max_size=4,
            ),
            confidence=st.none() | st.floats() | st.booleans(),
        ),
        max_size=3,
    ),
    st.sampled_from([YES_NO, CHOICE, SCORE]),
)
def test_anything_is_judged(answers: dict[str, DecisionAnswer], profile: Any) -> None:
    found = faults(profile, answers)

    if not found:
        assert set(answers) == {"q"}
        answer = answers["q"]
        assert (answer.choice in ("a", "b", "c")) is (profile is CHOICE)
        assert all(0 <= value <= 1 for value in answer.probabilities.values())
