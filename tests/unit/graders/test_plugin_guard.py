"""Assertions of plug-ins: what they raise fails the answer with that reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from evalcli.graders.bounds import MAX_STOPS
from evalcli.graders.negation import NegatedAssertion
from evalcli.graders.plugin_guard import GuardedAssertion
from evalcli.records import AssertionOutcome


class FakeAssertion:
    """A plug-in's type and its compiled assertion in one."""

    name = "fake"
    options: frozenset[str] = frozenset()
    canonical = '{"fake":1}'
    may_be_slow = False

    def __init__(self, evaluate: Callable[[str], object], version: object = None) -> None:
        self._evaluate = evaluate
        self.version = version

    def compile(self, value: object, options: Mapping[str, object]) -> FakeAssertion:
        return self

    def evaluate(self, answer: str) -> AssertionOutcome:
        return self._evaluate(answer)  # type: ignore[return-value]  # a plug-in may be wrong


def guard(evaluate: Callable[[str], object], version: object = None) -> GuardedAssertion:
    fake = FakeAssertion(evaluate, version)
    return GuardedAssertion("fake", fake, fake)


@pytest.mark.parametrize(
    "outcome",
    [
        AssertionOutcome("fake", passed=True),
        AssertionOutcome("fake", passed=False, reason="fake: no"),
        AssertionOutcome("fake", passed=False, reason="fake: no", is_evaluated=False),
    ],
    ids=str,
)
def test_an_outcome_is_handed_on(outcome: AssertionOutcome) -> None:
    assert guard(lambda _: outcome).evaluate("x") == outcome


def test_a_failure_without_a_reason_is_given_one() -> None:
    outcome = guard(lambda _: AssertionOutcome("fake", passed=False)).evaluate("x")
    assert outcome.reason == "fake: does not hold"


def test_a_long_reason_is_cut() -> None:
    long = AssertionOutcome("fake", passed=False, reason="r" * 5_000)
    assert guard(lambda _: long).evaluate("x").reason == "r" * 299 + "…"


def test_what_is_raised_becomes_the_reason() -> None:
    def fail(answer: str) -> object:
        return json.loads(answer)["missing"]

    outcome = guard(fail).evaluate("{}")
    assert not outcome.passed
    assert not outcome.is_evaluated
    assert outcome.reason == (
        "fake: could not be evaluated: the plug-in raised KeyError: 'missing'"
    )


def test_what_is_raised_fails_negated_too() -> None:
    def fail(_: str) -> object:
        raise RuntimeError

    outcome = NegatedAssertion(guard(fail)).evaluate("x")
    assert not outcome.passed
    assert not outcome.is_evaluated


def test_something_else_than_an_outcome_is_not_taken_for_one() -> None:
    outcome = guard(lambda _: True).evaluate("x")
    assert not outcome.passed
    assert outcome.reason.endswith("the plug-in gave no outcome, but bool")


def test_is_not_tried_again_after_three_stops() -> None:
    calls: list[str] = []

    def count(answer: str) -> object:
        calls.append(answer)
        return AssertionOutcome("fake", passed=True)

    guarded = guard(count)
    for _ in range(MAX_STOPS):
        assert not guarded.note_stop("it did not end").passed
    assert not guarded.evaluate("x").is_evaluated
    assert calls == []


def test_the_version_of_a_type_is_part_of_the_meaning() -> None:
    texts = {guard(lambda _: None, version).canonical for version in (None, 1, "1", "1.1")}
    assert len(texts) == 3
