"""A decision as a person reads it: every kind of answer, and nothing of it obeyed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from evalcli.declarations.profile import Profile
from evalcli.errors import ExitStatus
from evalcli.records import (
    CallRecord,
    DecisionAnswer,
    DecisionResult,
    JudgedDecision,
    Operation,
    ProbabilityKind,
    RequirementOutcome,
)
from evalcli.reports.decision_json import decision_document
from evalcli.reports.decision_report import render_decision
from tests.support.decisions import make_profile, make_question

_SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "decision_report.schema.json"


def make_decision(
    profile: Profile,
    answers: Mapping[str, DecisionAnswer],
    *,
    kind: ProbabilityKind = ProbabilityKind.DISTRIBUTION,
    model: str | None = "model-a",
    requirements: tuple[RequirementOutcome, ...] = (),
) -> JudgedDecision:
    result = DecisionResult(
        profile=profile.identifier,
        version=profile.version,
        configuration="judge",
        provider="main",
        model=model,
        probability_kind=kind,
        answers=answers,
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
        call=CallRecord(Operation.DECISION, "main", "asked-model", cost_usd=Decimal("0.5")),
    )
    return JudgedDecision(profile, result, requirements)


def yes_no(value: float, *, kind: ProbabilityKind = ProbabilityKind.DISTRIBUTION) -> JudgedDecision:
    return make_decision(make_question(type="yes_no"), {"q": DecisionAnswer(value)}, kind=kind)


def test_hard_labels_are_named_as_such() -> None:
    text = render_decision(yes_no(1.0, kind=ProbabilityKind.NONE)).text(None)
    assert "  q   1.0   yes\n" in text
    assert "Hard labels: model-a was asked for an answer, not for a probability" in text
    assert "probability of yes" not in text


def test_hard_level_is_named_by_its_text() -> None:
    decision = make_decision(
        make_question(type="score", levels=["bad", "good"]),
        {"q": DecisionAnswer(1.0)},
        kind=ProbabilityKind.NONE,
    )
    assert "1.00 of 1   good" in render_decision(decision).text(None)


def test_own_distribution_is_not_called_calibrated() -> None:
    text = render_decision(yes_no(0.5)).text(None)
    assert "the model's own, and not calibrated" in text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.999, "0.999"),
        (0.00001, "under 0.0001"),
        (0.99999, "over 0.9999"),
    ],
)
def test_number_never_looks_certain_where_it_is_not(value: float, words: str) -> None:
    assert f"  q   {words}   probability of yes" in render_decision(yes_no(value)).text(None)


def test_unknown_tokens_and_cost_are_no_zeros() -> None:
    decision = yes_no(0.5)
    call = replace(decision.result.call, cost_usd=None)
    unknown = replace(decision, result=replace(decision.result, call=call))
    first = render_decision(unknown).text(None).splitlines()[0]
    assert first == "acme.answer v1 · judge (model-a, main) · tokens unknown · cost unknown"


def test_cost_is_that_of_the_call_where_the_result_says_none() -> None:
    first = render_decision(yes_no(0.5)).text(None).splitlines()[0]
    assert first.endswith("· tokens unknown · $0.5000")


def test_model_that_was_not_reported_is_the_one_asked() -> None:
    decision = make_decision(make_question(type="yes_no"), {"q": DecisionAnswer(0.5)}, model=None)
    assert "(asked-model, main)" in render_decision(decision).text(None)


def test_what_a_model_said_is_plain_text() -> None:
    hostile = "[red]x\x1b[2J\u202e"
    profile = make_question(type="choice", options=[hostile, "b"])
    answer = DecisionAnswer(choice=hostile, probabilities={hostile: 0.9, "b": 0.1})
    lines = render_decision(make_decision(profile, {"q": answer}, model=hostile)).lines(200)
    text = "\n".join(line.plain for line in lines)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("[red]x\\x1b[2J\\u202e") == 3


def test_many_options_show_the_most_probable() -> None:
    options = [f"o{number}" for number in range(255)]
    chances = {option: 0.001 for option in options} | {"o200": 0.746}
    profile = make_question(type="choice", options=options)
    answer = DecisionAnswer(choice="o200", probabilities=chances)
    text = render_decision(make_decision(profile, {"q": answer})).text(None)
    assert "o200 0.75  o0 0.001" in text
    assert "and 247 less probable ones" in text


def test_questions_are_shown_where_asked_for() -> None:
    assert "Is it?" not in render_decision(yes_no(0.5)).text(None)
    assert "Is it?" in render_decision(yes_no(0.5), verbose=True).text(None)
    assert render_decision(yes_no(0.5), is_ad_hoc=True).text(None).startswith("ad hoc · ")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    profile = make_profile()
    answers = {
        "verdict": DecisionAnswer(
            choice="revise",
            probabilities={"publish": 0.31, "revise": 0.62, "discard": 0.07},
            confidence=0.43,
        ),
        "supported": DecisionAnswer(0.86),
        "answers_task": DecisionAnswer(1.72, probabilities={"0": 0.04, "1": 0.2, "2": 0.76}),
    }
    lines = render_decision(make_decision(profile, answers), verbose=True).lines(width)
    assert max(cell_len(line.plain) for line in lines) <= width
    assert "confidence 0.43" in " ".join(" ".join(line.plain.split()) for line in lines)


def test_requirement_that_fails_is_said_with_the_number() -> None:
    requirement = RequirementOutcome("q>=0.8", "q", is_met=False, value=0.7999)
    decision = make_decision(
        make_question(type="yes_no"), {"q": DecisionAnswer(0.7999)}, requirements=(requirement,)
    )
    assert "NOT MET  q>=0.8: q is 0.7999" in render_decision(decision).text(None)


def test_document_has_the_published_shape() -> None:
    document = decision_document(yes_no(0.5), exit_status=ExitStatus.OK)
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
