"""`not` turns an outcome round, unless there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.graders.declared_assertion import compile_assertion
from evalcli.graders.json_schema import JsonSchemaType
from evalcli.graders.negation import NegatedAssertion
from evalcli.graders.patterns import RegexType

BODIES: list[dict[object, object]] = [
    {"contains": "a"},
    {"exact": "a"},
    {"regex": "/a/i"},
    {"json_schema": {"type": "integer"}},
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: next(iter(body)))
@given(answer=st.one_of(st.text("aA1 "), st.text(st.characters(exclude_categories=()))))
def test_turns_every_outcome_round(body: dict[object, object], answer: str) -> None:
    plain = compile_assertion(body).evaluate(answer)
    negated = compile_assertion({"not": body}).evaluate(answer)
    assert negated.passed != plain.passed
    assert bool(negated.reason) != negated.passed
    assert negated.type == f"not {plain.type}"


def test_a_stopped_pattern_fails_negated_too() -> None:
    negated = NegatedAssertion(RegexType(0.05).compile("^(a|aa)+$", {}))
    outcome = negated.evaluate("a" * 60 + "!")
    assert not outcome.passed
    assert not outcome.is_evaluated
    assert outcome.reason == ("not regex /^(a|aa)+$/: could not be evaluated: stopped after 0.05 s")


def test_an_answer_that_cannot_be_read_fails_negated_too() -> None:
    outcome = NegatedAssertion(JsonSchemaType().compile(True, {})).evaluate("[" * 100_000)
    assert not outcome.passed
    assert not outcome.is_evaluated


@pytest.mark.parametrize(
    ("body", "answer", "reason"),
    [
        (
            {"contains": "sorry"},
            f"{'x' * 100} I am sorry, but {'y' * 100}",
            f'not contains "sorry": found in "…{"x" * 21} I am sorry, but {"y" * 22}…"',
        ),
        ({"regex": "/SORRY/i"}, "so Sorry", 'not regex /SORRY/i: found in "so Sorry"'),
        ({"exact": "no"}, "no\n", 'not exact "no": the answer is "no\n"'),
        ({"json_schema": True}, "{}", 'not json_schema true: satisfied by "{}"'),
    ],
)
def test_the_reason_shows_what_was_found(
    body: dict[object, object], answer: str, reason: str
) -> None:
    assert compile_assertion({"not": body}).evaluate(answer).reason == reason


def test_the_canonical_text_differs() -> None:
    plain, negated = compile_assertion(BODIES[0]), compile_assertion({"not": BODIES[0]})
    assert plain.canonical != negated.canonical


@pytest.mark.parametrize("body", BODIES, ids=lambda body: next(iter(body)))
def test_is_as_slow_as_what_it_holds(body: dict[object, object]) -> None:
    plain, negated = compile_assertion(body), compile_assertion({"not": body})
    assert plain.may_be_slow == negated.may_be_slow
