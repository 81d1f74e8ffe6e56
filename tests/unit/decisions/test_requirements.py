"""The caller's thresholds are compared exactly, and with what was reported."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.decisions.requirements import read_requirements
from evalcli.errors import UsageError
from evalcli.records import DecisionAnswer
from tests.support.decisions import make_question


@given(hundredths=st.integers(0, 100))
def test_limit_that_equals_the_answer_is_met_and_not_exceeded(hundredths: int) -> None:
    text = str(Decimal(hundredths) / 100)
    profile = make_question(type="yes_no")
    at_least, more = read_requirements((f"q>={text}", f"q>{text}"), profile)
    answers = {"q": DecisionAnswer(float(text))}
    assert at_least.judge(answers).is_met
    assert not more.judge(answers).is_met


def test_answer_without_a_number_meets_nothing() -> None:
    (requirement,) = read_requirements(("q>=0",), make_question(type="yes_no"))
    assert not requirement.judge({"q": DecisionAnswer()}).is_met


def test_option_may_look_like_a_sign_or_a_number() -> None:
    profile = make_question(type="choice", options=["0", ">=1", "a b"])
    (requirement,) = read_requirements(("q = a b",), profile)
    assert requirement.judge({"q": DecisionAnswer(choice="a b")}).is_met
    (number,) = read_requirements(("q!=0",), profile)
    assert not number.judge({"q": DecisionAnswer(choice="0")}).is_met


@pytest.mark.parametrize("option", ["a", " a", "a ", "\na"])
def test_option_may_have_spaces_around_it(option: str) -> None:
    profile = make_question(type="choice", options=["a", " a", "a ", "\na"])
    (requirement,) = read_requirements((f"q={option}",), profile)
    assert requirement.option == option


@given(text=st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_requirements((text,), make_question(type="yes_no"))
    except UsageError as exc:
        assert exc.advice


@pytest.mark.parametrize("limit", ["1.0000001", "-0.1", "1e400", "inf", "0,5", "0_1", "０.５"])
def test_limit_out_of_range_is_refused(limit: str) -> None:
    with pytest.raises(UsageError, match="no number from 0 to 1"):
        read_requirements((f"q>={limit}",), make_question(type="yes_no"))
