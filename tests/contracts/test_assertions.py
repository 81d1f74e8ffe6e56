"""What every type of assertion promises; run on the built-in ones and on an installed package.

A type that an installed package brings is found through its entry point like any other, so the
last test installs one and runs this very file in a process that sees it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalcli.declarations.prompt_set import AssertionDeclaration, GoldenPrompt
from evalcli.graders.deterministic import DeterministicGrader, check_assertion, compile_assertion
from evalcli.plugins import BUILTIN, load_assertion_type, plugin_names
from evalcli.protocols import AssertionType, CompiledAssertion
from evalcli.records import AssertionOutcome

PLUGIN = "max_words"


@dataclass(frozen=True)
class Sample:
    """One declared assertion with answers that it accepts and refuses, and what is no value."""

    value: object
    good: tuple[str, ...]
    bad: tuple[str, ...]
    other_value: object
    invalid: tuple[object, ...]


SAMPLES = {
    "exact": Sample("Yes", ("Yes", " Yes\n"), ("yes", "Yes."), "No", ("", None, " ", ["Yes"])),
    "contains": Sample("day", ("Monday", "a day"), ("DAY", ""), "week", ("", None, {"a": 1})),
    "regex": Sample("/day$/i", ("MONDAY",), ("days",), "day", ("", None, "/day", "(", "\bday")),
    "json_schema": Sample(
        {"type": "integer"},
        ("1", " 2\n"),
        ("1.5", '"1"', "one", "NaN", "```\n1\n```"),
        {"type": "number"},
        ("", None, {}, {"type": "int"}, "{", {"$ref": "https://acme.example/a"}),
    ),
    PLUGIN: Sample(3, ("one two three", ""), ("a b c d",), 4, ("three", None, 0)),
}

NAMES = plugin_names("assertions")

TESTS_OF_A_TYPE = 18
"""How many tests are run on each type; written down, so that none is lost silently."""

# Whatever a model may send.
HOSTILE = ["", "\x00", "\ud800", "\ufeff", "[red]x[/red]", "\x1b]0;x\x07", "{" * 3_000, "é" * 3_000]


def sample_of(name: str) -> Sample:
    """Find the sample of a type; a new built-in type needs one."""
    return SAMPLES[name]


def compiled(name: str) -> CompiledAssertion:
    return compile_assertion({name: sample_of(name).value})


def test_every_built_in_type_has_a_sample() -> None:
    assert set(BUILTIN["assertions"]) <= set(SAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_fits_the_protocols(name: str) -> None:
    assertion_type = load_assertion_type(name)
    assert isinstance(assertion_type, AssertionType)
    assert assertion_type.name == name
    assert name not in assertion_type.options
    assert isinstance(compiled(name), CompiledAssertion)
    assert isinstance(compiled(name).may_be_slow, bool)


@pytest.mark.parametrize("name", NAMES)
def test_accepts_and_refuses(name: str) -> None:
    sample = sample_of(name)
    for answer in (*sample.good, *sample.bad):
        outcome = compiled(name).evaluate(answer)
        assert outcome.passed == (answer in sample.good), answer
        assert outcome.is_evaluated
        assert outcome.type == name


@pytest.mark.parametrize("name", NAMES)
def test_a_reason_says_which_assertion_failed_and_only_then(name: str) -> None:
    sample = sample_of(name)
    for answer in sample.good:
        assert compiled(name).evaluate(answer).reason == ""
    for answer in sample.bad:
        assert compiled(name).evaluate(answer).reason.startswith(name)


@pytest.mark.parametrize("name", NAMES)
def test_not_turns_it_round(name: str) -> None:
    sample = sample_of(name)
    negated = compile_assertion({"not": {name: sample.value}})
    for answer in (*sample.good, *sample.bad):
        assert negated.evaluate(answer).passed == (answer in sample.bad), answer


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", NAMES)
def test_any_answer_has_an_outcome_with_a_bounded_reason(name: str, answer: str) -> None:
    outcome = compiled(name).evaluate(answer)
    assert isinstance(outcome, AssertionOutcome)
    assert bool(outcome.reason) != outcome.passed
    assert len(outcome.reason) < 500


@pytest.mark.parametrize("name", NAMES)
def test_canonical_text_is_json_and_tells_values_apart(name: str) -> None:
    sample = sample_of(name)
    one = compile_assertion({name: sample.value}).canonical
    assert isinstance(json.loads(one), dict)
    assert compile_assertion({name: sample.value}).canonical == one
    assert compile_assertion({name: sample.other_value}).canonical != one


@pytest.mark.parametrize("name", NAMES)
def test_values_that_cannot_work_are_faults_that_say_what_is_wrong(name: str) -> None:
    for value in sample_of(name).invalid:
        faults = check_assertion({name: value})
        assert faults, value
        assert all(fault.message and fault.path[:1] == (name,) for fault in faults), value


@pytest.mark.parametrize("name", NAMES)
def test_unknown_options_are_faults(name: str) -> None:
    [fault] = check_assertion({name: sample_of(name).value, "no_such_option": 1})
    assert fault.path == ("no_such_option",)


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_name_gets_the_right_one(name: str) -> None:
    [fault] = check_assertion({f"{name}s": "x"})
    assert fault.advice == f'write "{name}"'


@pytest.mark.parametrize("name", NAMES)
def test_one_compiled_assertion_serves_several_threads(name: str) -> None:
    sample, assertion = sample_of(name), compiled(name)
    wrong: list[str] = []

    def evaluate() -> None:
        for answer in (*sample.good, *sample.bad) * 20:
            if assertion.evaluate(answer).passed != (answer in sample.good):
                wrong.append(answer)

    threads = [threading.Thread(target=evaluate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_the_grader_agrees_with_the_assertion(name: str) -> None:
    sample = sample_of(name)
    body = AssertionDeclaration.model_validate({name: sample.value})
    prompt = GoldenPrompt(id="p", prompt="?", assertions=(body,))

    async def grade_all() -> list[bool]:
        grader = DeterministicGrader([prompt])
        answers = (*sample.good, *sample.bad)
        return [(await grader.grade(prompt, each, system=None)).passed for each in answers]

    expected = [True] * len(sample.good) + [False] * len(sample.bad)
    assert asyncio.run(grade_all()) == expected


# --- a type from an installed package -----------------------------------------------------------

PLUGIN_SOURCE = """
from evalcli.declarations.scalars import plain_value
from evalcli.protocols import AssertionFaultError
from evalcli.records import AssertionOutcome


class MaxWords:
    name = "max_words"
    options = frozenset()
    version = 1

    def compile(self, value, options):
        number = plain_value(value)
        if number == 0:
            raise ZeroDivisionError("a bug of the plug-in")
        if not isinstance(number, int):
            raise AssertionFaultError("must be a number", path=("max_words",))
        return Compiled(number)


class Compiled:
    may_be_slow = True

    def __init__(self, number):
        self.number = number
        self.canonical = str(number)

    def evaluate(self, answer):
        seen = len(answer.split())
        if seen <= self.number:
            return AssertionOutcome("max_words", passed=True)
        return AssertionOutcome("max_words", passed=False, reason=f"max_words: {seen} words")


MAX_WORDS = MaxWords()
"""


def install(folder: Path) -> None:
    """Lay out a package as an installer does."""
    metadata = folder / "acme_words-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "acme_words.py").write_text(PLUGIN_SOURCE, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-words\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        f"[evalcli.assertions]\n{PLUGIN} = acme_words:MAX_WORDS\n"
    )


def test_an_installed_package_keeps_the_same_promises(tmp_path: Path) -> None:
    install(tmp_path / "site")
    command = [sys.executable, "-m", "pytest", __file__, "-n0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        # Only what is run on the type itself, so that this test is not among it.
        [*command, "-k", PLUGIN],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{TESTS_OF_A_TYPE} passed" in done.stdout
