"""What programs read: strict JSON in the published shape."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evalcli.errors import (
    DeclarationError,
    ExitStatus,
    Fault,
    InterruptedRunError,
    ProviderStatusError,
    UsageError,
)
from evalcli.records import RunOutcome, RunStatus, VerdictWord
from evalcli.reports.json_report import (
    comparison_document,
    dump_document,
    error_document,
    run_document,
    run_list_document,
)
from tests.support import outcomes
from tests.support.builders import (
    make_answer,
    make_call,
    make_listing,
    make_outcome,
    make_run,
    make_trial,
)
from tests.support.outcomes import OUTCOMES

_DOCS = Path(__file__).parents[3] / "docs"
_SCHEMA = json.loads((_DOCS / "schemas" / "run_report.schema.json").read_text(encoding="utf-8"))

Json = dict[str, object]


def _closed(schema: object) -> object:
    """Forbid fields that the schema does not describe: a new field needs its description."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(part) for key, part in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed["additionalProperties"] = False
    return closed


def _check(document: object, definition: str) -> None:
    closed = _closed(_SCHEMA)
    assert isinstance(closed, dict)
    schema = {"$ref": f"#/$defs/{definition}", "$defs": closed["$defs"]}
    errors = list(Draft202012Validator(schema).iter_errors(document))
    assert not errors, errors[0]


def _round_trip(document: Json) -> Json:
    def refuse(name: str) -> object:
        raise ValueError(name)

    loaded = json.loads(dump_document(document), parse_constant=refuse)
    assert isinstance(loaded, dict)
    return loaded


def _prompts(outcome: RunOutcome) -> list[Json]:
    prompts = _round_trip(run_document(outcome))["prompts"]
    assert isinstance(prompts, list)
    return prompts


def test_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(_SCHEMA)


@pytest.mark.parametrize("make", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_every_kind_of_run_has_the_published_shape(make: Callable[[], RunOutcome]) -> None:
    document = _round_trip(run_document(make(), exit_status=ExitStatus.OK))
    _check(document, "run_report")
    Draft202012Validator(_SCHEMA).validate(document)


def test_other_documents_have_the_published_shape() -> None:
    running = make_listing(status=RunStatus.RUNNING, verdict=None)
    _check(_round_trip(run_list_document([make_listing(), running])), "run_list")
    pair = comparison_document(outcomes.first_run(), outcomes.regression())
    _check(_round_trip(pair), "run_comparison")


@pytest.mark.parametrize(
    "error",
    [
        UsageError("unknown set", advice="write nr.smoke"),
        DeclarationError("broken", faults=[Fault("sets/a.yaml", 9, 3, "prompts[0]", "is odd")]),
        ProviderStatusError("openai", "openai said 503", status=503),
        InterruptedRunError("interrupted", run_id="91c2"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_have_the_published_shape(error: UsageError) -> None:
    document = _round_trip(error_document(error))
    _check(document, "error_report")
    described = document["error"]
    assert isinstance(described, dict)
    assert described["code"] == error.code
    assert described["message"] == error.message


def test_faults_keep_their_places() -> None:
    fault = Fault("sets/a.yaml", 9, 3, "prompts[0]", "is odd", "make it even")
    document = error_document(DeclarationError("broken", faults=[fault]))
    assert document["error"] == {
        "code": "declaration",
        "message": "broken",
        "advice": "",
        "exit_status": 2,
        "faults": [
            {
                "file": "sets/a.yaml",
                "line": 9,
                "column": 3,
                "path": "prompts[0]",
                "message": "is odd",
                "advice": "make it even",
            }
        ],
    }


@given(st.text(st.characters()))
def test_any_answer_survives_any_pipe(text: str) -> None:
    trial = make_trial("a", answer=make_answer(text))
    written = dump_document(run_document(make_outcome(make_run(("a",)), [trial])))
    assert written.isascii()
    assert "\x1b" not in written
    assert json.loads(written)["prompts"][0]["answer"] == text


def test_answer_is_whole_and_not_wrapped() -> None:
    text = 'The keeper said: "[/end]".\n' + "and went on blinking " * 500 + "🛟\tFin."
    (prompt,) = _prompts(
        make_outcome(make_run(("a",)), [make_trial("a", answer=make_answer(text))])
    )
    assert prompt["answer"] == text


def test_unmeasured_prompt_has_nulls_and_its_error() -> None:
    prompt = next(p for p in _prompts(outcomes.outage()) if p["id"] == "refund-window")
    assert prompt["passed"] is None
    assert prompt["score"] is None
    assert prompt["state"] == "unmeasured"
    assert prompt["answer"] is None
    assert prompt["error"] == {
        "cause": "provider",
        "message": 'openai said 503 "The server is overloaded"',
        "provider": "openai",
        "status": 503,
    }


def test_prompt_that_was_not_asked_says_so() -> None:
    prompt = next(p for p in _prompts(outcomes.interrupted()) if p["id"] == "parking")
    assert (prompt["state"], prompt["passed"], prompt["error"]) == ("not_asked", None, None)


def test_incomplete_run_has_no_rate_and_no_gate() -> None:
    document = run_document(outcomes.outage())
    summary, verdict = document["summary"], document["verdict"]
    assert isinstance(summary, dict)
    assert isinstance(verdict, dict)
    assert summary["pass_rate"] is None
    assert summary["pass_rate_exact"] is None
    assert summary["measured"] == 31
    assert (verdict["word"], verdict["gate"]) == ("incomplete", None)


@pytest.mark.parametrize(
    ("name", "word", "gate"),
    [
        ("passed_as_before", "passed", "passed"),
        ("regression", "regressed", "failed"),
        ("regression_reported", "regressed", "passed"),
        ("below_floor", "below_floor", "failed"),
        ("mismatch", "not_comparable", "failed"),
        ("mismatch_of_file", "not_comparable", "passed"),
        ("first_run", "no_baseline", "passed"),
        ("baseline_required", "no_baseline", "failed"),
    ],
)
def test_verdict_tells_the_cases_apart(name: str, word: str, gate: str) -> None:
    verdict = run_document(OUTCOMES[name]())["verdict"]
    assert isinstance(verdict, dict)
    assert (verdict["word"], verdict["gate"]) == (word, gate)


def test_rates_are_numbers_with_exact_fractions_beside_them() -> None:
    document = run_document(outcomes.regression())
    summary, comparison = document["summary"], document["comparison"]
    assert isinstance(summary, dict)
    assert isinstance(comparison, dict)
    assert (summary["pass_rate"], summary["pass_rate_exact"]) == (0.925, "37/40")
    assert comparison["pass_rate_drop"] == 0.075
    assert comparison["pass_rate_drop_exact"] == "3/40"


def test_cost_is_a_decimal_text_and_unknown_is_null() -> None:
    known = make_trial("a", call=make_call(make_answer(), cost_usd="0.00000010"))
    unknown = make_trial("b", call=make_call(make_answer(), cost_usd=None))
    first, second = _prompts(make_outcome(make_run(("a", "b")), [known, unknown]))
    assert first["cost_usd"] == "0.00000010"
    assert second["cost_usd"] is None


def test_several_trials_are_listed_and_the_first_failed_one_stands_for_them() -> None:
    prompt = next(p for p in _prompts(outcomes.trials()) if p["id"] == "opening-hours")
    trials = prompt["trials"]
    assert isinstance(trials, list)
    assert [trial["passed"] for trial in trials] == [True, True, False]
    assert prompt["passed"] is False
    assert prompt["reason"] == 'contains "Monday": not found'


def test_single_trial_is_not_listed_twice() -> None:
    assert all("trials" not in prompt for prompt in _prompts(outcomes.first_run()))


@pytest.mark.parametrize("latency", [float("nan"), float("inf"), None])
def test_latency_that_is_no_number_is_null(latency: float | None) -> None:
    trial = make_trial("a", call=make_call(make_answer(), latency_ms=latency))
    (prompt,) = _prompts(make_outcome(make_run(("a",)), [trial]))
    assert prompt["latency_ms"] is None


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dump_document({"score": float("nan")})


def test_exit_status_is_there_where_the_command_ends_with_it() -> None:
    outcome = outcomes.regression()
    assert run_document(outcome, exit_status=ExitStatus.GATE_FAILED)["exit_status"] == 1
    assert "exit_status" not in run_document(outcome)


def test_listed_run_that_has_not_ended_has_no_gate() -> None:
    document = run_list_document([make_listing(verdict=VerdictWord.INCOMPLETE), make_listing()])
    runs = document["runs"]
    assert isinstance(runs, list)
    assert [run["gate"] for run in runs] == [None, "passed"]


def test_drop_may_be_negative() -> None:
    outcome = outcomes.passed_as_before()
    gained = replace(
        outcome.comparison, pass_rate_before=Fraction(1, 4), pass_rate_after=Fraction(1)
    )
    comparison = run_document(replace(outcome, comparison=gained))["comparison"]
    assert isinstance(comparison, dict)
    assert comparison["pass_rate_drop"] == -0.75


def test_example_in_the_manual_has_the_published_shape() -> None:
    manual = (_DOCS / "json-report.md").read_text(encoding="utf-8")
    examples = re.findall(r"```json\n(.*?)```", manual, re.DOTALL)
    assert len(examples) == 2
    _check(json.loads(examples[0]), "run_report")
    _check(json.loads(examples[1]), "error_report")


def test_rich_is_not_loaded_for_json() -> None:
    code = (
        "import sys, evalcli.reports.json_report, evalcli.reports.junit_report, evalcli.cli.console"
        "; print(sorted(m for m in sys.modules if m.partition('.')[0] in ('rich', 'pydantic')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
