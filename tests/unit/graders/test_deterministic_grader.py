"""The deterministic grader: scores, reasons, fingerprints, and that nothing holds up others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.prompt_set import AssertionDeclaration, GoldenPrompt, PromptSet
from evalcli.errors import DeclarationError
from evalcli.graders.deterministic import (
    MAX_REASON_CHARS,
    DeterministicGrader,
    compile_assertion,
    grade_answer,
)
from evalcli.graders.json_schema import JsonSchemaType
from evalcli.graders.patterns import RegexType
from evalcli.plugins import load_assertion_type
from evalcli.protocols import AssertionType, Grader
from evalcli.records import AssertionOutcome, Grade

RUNAWAY = "^(a|aa)+$"
RUNAWAY_ANSWER = "a" * 60 + "!"


def make_prompt(*bodies: dict[str, object], prompt_id: str = "p") -> GoldenPrompt:
    return GoldenPrompt(
        id=prompt_id,
        prompt="When is the office open?",
        assertions=tuple(AssertionDeclaration.model_validate(body) for body in bodies),
    )


def quick_types(name: str) -> AssertionType:
    """Load a type with a short time limit, so that a runaway pattern takes no second."""
    if name == "regex":
        return RegexType(0.05)
    return JsonSchemaType(0.05) if name == "json_schema" else load_assertion_type(name)


async def grade_all(
    grader: DeterministicGrader, prompts: list[GoldenPrompt], answer: str
) -> list[Grade]:
    return list(
        await asyncio.gather(*(grader.grade(each, answer, system=None) for each in prompts))
    )


def grade(answer: str, *bodies: dict[str, object]) -> Grade:
    prompt = make_prompt(*bodies)
    grader = DeterministicGrader(load_type=quick_types)
    return asyncio.run(grader.grade(prompt, answer, system=None))


# --- grades -----------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_score_is_the_share_that_holds(holds: list[bool]) -> None:
    bodies = [{"contains": "yes" if each else "no"} for each in holds]
    result = grade_answer([compile_assertion(dict(body.items())) for body in bodies], "yes")
    assert result.score == Fraction(sum(holds), len(holds))
    assert result.passed == all(holds)
    assert [outcome.passed for outcome in result.outcomes] == holds
    assert bool(result.reason) != result.passed
    assert result.yardstick == "deterministic"


def test_grader_and_plain_function_agree() -> None:
    bodies: list[dict[str, object]] = [
        {"contains": "9am"},
        {"regex": "/monday/i"},
        {"not": {"regex": "/sunday/i"}},
        {"json_schema": {"type": "object"}},
        {"exact": "Monday"},
    ]
    compiled = [compile_assertion(dict(body.items())) for body in bodies]
    answer = "Monday, from 9am"
    assert grade(answer, *bodies) == grade_answer(compiled, answer)
    assert grade(answer, *bodies).score == Fraction(3, 5)


def test_the_reason_names_each_failing_assertion() -> None:
    result = grade("Lundi", {"contains": "Monday"}, {"contains": "Lundi"}, {"exact": "Friday"})
    assert result.reason == (
        'contains "Monday": not in "Lundi"; exact "Friday": the answer is "Lundi"'
    )


def test_the_reason_is_bounded_and_counts_what_it_leaves_out() -> None:
    bodies: list[dict[str, object]] = [{"contains": f"{number}{'v' * 200}"} for number in range(50)]
    result = grade("n" * 200, *bodies)
    assert len(result.reason) <= MAX_REASON_CHARS
    shown = result.reason.count("contains ")
    assert result.reason.endswith(f"; … and {50 - shown} more")


@pytest.mark.parametrize(
    "answer", ["\x00", "\ud800", "[bold]x[/bold] [/INST]", "\x1b[31mred", "\u202ex", "{" * 5_000]
)
def test_hostile_answers_are_graded(answer: str) -> None:
    result = grade(
        answer,
        {"contains": answer},
        {"exact": "x"},
        {"regex": "^x$"},
        {"json_schema": {"type": "object"}},
    )
    assert result.score == Fraction(1, 4)


def test_a_prompt_without_assertions_cannot_be_graded() -> None:
    with pytest.raises(ValueError, match="at least one assertion"):
        grade("x")


def test_invalid_assertions_are_refused_before_anything_is_graded() -> None:
    prompt_set = PromptSet.model_validate(
        {
            "kind": "prompts",
            "identifier": "a.b",
            "name": "A",
            "prompts": [
                {"id": "one", "prompt": "x", "assertions": [{"contains": "a"}, {"regex": "("}]}
            ],
        }
    )
    with pytest.raises(DeclarationError) as caught:
        DeterministicGrader(prompt_set)
    assert str(caught.value) == (
        'prompt "one", assertions[1]: is not a valid pattern: missing ) at character 2; '
        "correct the pattern"
    )


def test_is_a_grader() -> None:
    assert isinstance(DeterministicGrader(), Grader)


# --- compiled once ------------------------------------------------------------------------------


class CountingType:
    """`contains`, counting how often it is compiled."""

    name = "contains"
    options: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.compiled = 0

    def compile(self, value: object, options: Mapping[str, object]) -> CountingType:
        self.compiled += 1
        return self

    canonical = "{}"
    may_be_slow = False

    def evaluate(self, answer: str) -> AssertionOutcome:
        return AssertionOutcome("contains", passed=True)


def test_assertions_are_compiled_once_a_run() -> None:
    counting = CountingType()
    prompts = [make_prompt({"contains": "x"}, prompt_id=str(number)) for number in range(3)]
    grader = DeterministicGrader(prompts, load_type=lambda _: counting)
    for _ in range(5):
        asyncio.run(grade_all(grader, prompts, "x"))
        grader.graded_fingerprint(prompts[0])
    assert counting.compiled == len(prompts)


# --- time -------------------------------------------------------------------------------------


def test_a_runaway_pattern_holds_up_no_other_answer() -> None:
    async def scenario() -> tuple[Grade, bool, Grade]:
        grader = DeterministicGrader(load_type=lambda _: RegexType(0.5))
        slow = asyncio.create_task(
            grader.grade(make_prompt({"regex": RUNAWAY}), RUNAWAY_ANSWER, system=None)
        )
        await asyncio.sleep(0)
        quick = await grader.grade(make_prompt({"regex": "done"}), "done", system=None)
        was_waiting = not slow.done()
        return quick, was_waiting, await slow

    quick, was_waiting, slow = asyncio.run(scenario())
    assert quick.passed
    assert was_waiting
    assert not slow.passed
    assert not slow.outcomes[0].is_evaluated


def test_a_pattern_is_stopped_three_times_in_a_run_wherever_it_stands() -> None:
    prompts = [
        make_prompt({"regex": RUNAWAY}, prompt_id="a"),
        make_prompt({"regex": f"/{RUNAWAY}/"}, prompt_id="b"),
        make_prompt({"not": {"regex": RUNAWAY}}, prompt_id="c"),
        make_prompt({"regex": RUNAWAY}, prompt_id="d"),
        make_prompt({"not": {"regex": RUNAWAY}}, prompt_id="e"),
    ]
    grader = DeterministicGrader(prompts, load_type=quick_types)
    grades = asyncio.run(grade_all(grader, prompts, RUNAWAY_ANSWER))
    reasons = [each.reason for each in grades]
    assert sum("stopped after" in reason for reason in reasons) == 3
    assert sum("not tried again" in reason for reason in reasons) == 2
    assert not any(each.passed for each in grades)


def test_another_run_tries_again() -> None:
    prompt = make_prompt({"regex": RUNAWAY})

    def first_reason() -> str:
        grader = DeterministicGrader(load_type=quick_types)
        for _ in range(3):
            grade = asyncio.run(grader.grade(prompt, RUNAWAY_ANSWER, system=None))
        return grade.reason

    assert "stopped after" in first_reason()
    assert "stopped after" in first_reason()


class WaitingType:
    """A plug-in that waits until it is released."""

    name = "contains"
    options: frozenset[str] = frozenset()
    canonical = '"waiting"'
    may_be_slow = True

    def __init__(self) -> None:
        self.released = threading.Event()

    def compile(self, value: object, options: Mapping[str, object]) -> WaitingType:
        return self

    def evaluate(self, answer: str) -> AssertionOutcome:
        self.released.wait()
        return AssertionOutcome("contains", passed=True)


def test_a_plug_in_that_does_not_end_is_given_up() -> None:
    waiting = WaitingType()
    grader = DeterministicGrader(load_type=lambda _: waiting, wait_limit_s=0.02)
    try:
        result = asyncio.run(grader.grade(make_prompt({"contains": "x"}), "x", system=None))
    finally:
        waiting.released.set()
    assert not result.passed
    assert result.reason.endswith("could not be evaluated: it did not end within 0.02 s")


def test_what_a_thread_raises_reaches_the_caller() -> None:
    class Broken(WaitingType):
        def evaluate(self, answer: str) -> AssertionOutcome:
            raise ZeroDivisionError

    grader = DeterministicGrader(load_type=lambda _: Broken())
    with pytest.raises(ZeroDivisionError):
        asyncio.run(grader.grade(make_prompt({"contains": "x"}), "x", system=None))


def test_closing_lets_a_running_thread_be() -> None:
    waiting = WaitingType()

    async def scenario() -> None:
        grader = DeterministicGrader(load_type=lambda _: waiting)
        task = asyncio.create_task(grader.grade(make_prompt({"contains": "x"}), "x", system=None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await grader.aclose()

    asyncio.run(scenario())
    waiting.released.set()


# --- fingerprints -------------------------------------------------------------------------------


def fingerprint_of(*bodies: dict[str, object]) -> str | None:
    return DeterministicGrader().graded_fingerprint(make_prompt(*bodies))


def test_a_fingerprint_is_of_the_assertions_only() -> None:
    one = make_prompt({"contains": "a"}, prompt_id="one")
    other = GoldenPrompt.model_validate(
        {"id": "other", "prompt": "Else?", "reference": "r", "assertions": [{"contains": "a"}]}
    )
    grader = DeterministicGrader([one, other])
    assert grader.graded_fingerprint(one) == grader.graded_fingerprint(other)


def test_a_fingerprint_ignores_order_and_form() -> None:
    one = fingerprint_of({"contains": "a"}, {"regex": "/b/"})
    other = fingerprint_of({"regex": "b"}, {"contains": "a"})
    assert one == other


@pytest.mark.parametrize(
    "bodies",
    [
        [{"contains": "b"}],
        [{"exact": "a"}],
        [{"not": {"contains": "a"}}],
        [{"contains": "a"}, {"contains": "a"}],
    ],
    ids=str,
)
def test_a_fingerprint_tells_other_gradings_apart(bodies: list[dict[str, object]]) -> None:
    assert fingerprint_of(*bodies) != fingerprint_of({"contains": "a"})


def test_a_prompt_without_assertions_has_no_fingerprint() -> None:
    assert fingerprint_of() is None
