"""JUnit XML that CI systems can read, whatever a model said."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.records import RunOutcome
from evalcli.reports.junit_report import render_junit
from tests.support import outcomes
from tests.support.builders import make_answer, make_outcome, make_run, make_trial
from tests.support.outcomes import OUTCOMES

_SUITE = {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"}
_CASE_CHILDREN = {"failure", "error", "skipped", "system-out"}


def _suite(outcome: RunOutcome) -> ET.Element:
    root = ET.fromstring(render_junit(outcome))  # noqa: S314 - our own output
    assert root.tag == "testsuites"
    (suite,) = root
    return suite


def _case(outcome: RunOutcome, name: str) -> ET.Element:
    (case,) = [case for case in _suite(outcome).iter("testcase") if case.get("name") == name]
    return case


def _check_shape(suite: ET.Element) -> None:
    """Check what readers of JUnit XML agree on (junit-10.xsd of Jenkins' xUnit plug-in)."""
    assert suite.tag == "testsuite"
    assert set(suite.attrib) == _SUITE
    assert suite[0].tag == "properties"
    assert all({"name", "value"} == set(fact.attrib) for fact in suite[0])
    cases = suite[1:]
    assert all(case.tag == "testcase" for case in cases)
    assert suite.get("tests") == str(len(cases))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(sum(case.find(tag) is not None for case in cases))
    for case in cases:
        assert {"name", "classname", "time"} == set(case.attrib)
        assert float(case.get("time", "")) >= 0
        assert {child.tag for child in case} <= _CASE_CHILDREN
        assert len(case) <= 1


@pytest.mark.parametrize("make", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_every_kind_of_run_has_the_shape_of_junit(make: Callable[[], RunOutcome]) -> None:
    outcome = make()
    suite = _suite(outcome)
    _check_shape(suite)
    left_out = len(outcome.run.skipped) + len(outcome.run.ungraded)
    assert suite.get("tests") == str(len(outcome.run.plan) + left_out + 1)


@given(st.text(st.characters()))
def test_any_text_of_a_model_gives_readable_xml(text: str) -> None:
    trial = make_trial("a", passed=False, reason=text, answer=make_answer(text))
    document = render_junit(make_outcome(make_run(("a",)), [trial]))
    document.encode()
    ET.fromstring(document)  # noqa: S314 - our own output


def test_failed_prompt_is_a_failure_with_reason_and_answer() -> None:
    failure = _case(outcomes.regression(), "refund-window").find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("regex /30 days/i: not found")
    assert failure.text == "You can return items within 14 days."


def test_refused_prompt_is_a_failure_of_its_own_type() -> None:
    failure = _case(outcomes.regression(), "legal-advice").find("failure")
    assert failure is not None
    assert failure.get("type") == "refused"


def test_unmeasured_prompt_is_an_error_and_no_failure() -> None:
    case = _case(outcomes.outage(), "refund-window")
    error = case.find("error")
    assert error is not None
    assert error.get("type") == "provider"
    assert "503" in error.get("message", "")


def test_prompt_that_was_not_asked_is_an_error() -> None:
    error = _case(outcomes.interrupted(), "parking").find("error")
    assert error is not None
    assert error.get("type") == "not_asked"


def test_prompts_left_out_are_skipped_with_their_reason() -> None:
    skipped = _case(outcomes.draft_with_gaps(), "fax").find("skipped")
    ungraded = _case(outcomes.draft_with_gaps(), "tone").find("skipped")
    assert skipped is not None
    assert ungraded is not None
    assert skipped.get("message") == "nobody has one"
    assert "--grader decision" in ungraded.get("message", "")


def test_several_trials_say_how_many_passed() -> None:
    failure = _case(outcomes.trials(), "opening-hours").find("failure")
    assert failure is not None
    assert failure.get("message") == '2 of 3 trials passed; contains "Monday": not found'


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("regression", "failure"),
        ("below_floor", "failure"),
        ("baseline_required", "failure"),
        ("mismatch", "failure"),
        ("outage", "error"),
        ("mismatch_of_file", "skipped"),
        ("mixed", "skipped"),
        ("first_run", "skipped"),
        ("regression_reported", "system-out"),
        ("passed_as_before", None),
    ],
)
def test_gate_is_a_case_that_passes_only_where_it_measured(name: str, tag: str | None) -> None:
    case = _case(OUTCOMES[name](), "gate")
    assert [child.tag for child in case] == ([tag] if tag else [])


def test_time_is_in_seconds() -> None:
    assert _case(outcomes.first_run(), "two-plus-two").get("time") == "0.412"
    assert _case(outcomes.trials(), "greeting").get("time") == "2.700"


def test_control_characters_are_spelled_out() -> None:
    trial = make_trial("a", passed=False, reason="\x1b\x00\ud800", answer=make_answer("\x1b\nb"))
    failure = _case(make_outcome(make_run(("a",)), [trial]), "a").find("failure")
    assert failure is not None
    assert failure.get("message") == r"\x1b\x00\ud800"
    assert failure.text == "\\x1b\nb"
