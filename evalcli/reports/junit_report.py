"""A run as JUnit XML, for CI systems: one test case a prompt, and one for the gate.

A prompt that failed is a failure, one without a grade an error, one left out is skipped. The gate
is a case of its own, since it may be content with failures and discontent without: it is skipped
where nothing was compared and nobody asked for a comparison, never passed.

Source: the schema that Jenkins' xUnit plug-in publishes (junit-10.xsd).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from xml.etree import ElementTree as ET

from evalcli.records import PromptSummary, RunOutcome, Trial, TrialState, VerdictWord
from evalcli.reports.plain_text import plain_lines, plain_text

_GATE_CLASS = "evalcli"
_MESSAGE_LIMIT = 500
_MS_PER_SECOND = 1000


def render_junit(outcome: RunOutcome) -> str:
    """Render a run as one XML document, ready to be written as UTF-8."""
    run = outcome.run
    trials: dict[str, list[Trial]] = {}
    for trial in sorted(outcome.trials, key=lambda trial: trial.trial):
        trials.setdefault(trial.prompt_id, []).append(trial)
    set_name = plain_text(run.set_identifier)
    cases = [
        *(
            _prompt_case(set_name, prompt, trials.get(prompt.prompt_id, ()))
            for prompt in outcome.summary.prompts
        ),
        *(_skipped_case(set_name, i, reason) for i, reason in run.skipped.items()),
        *(
            _skipped_case(set_name, i, "has only a reference: needs --grader decision")
            for i in run.ungraded
        ),
        _gate_case(outcome),
    ]
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root,
        "testsuite",
        name=set_name,
        tests=str(len(cases)),
        failures=_count(cases, "failure"),
        errors=_count(cases, "error"),
        skipped=_count(cases, "skipped"),
        time=_seconds(outcome.trials),
        timestamp=run.started_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    )
    suite.append(_properties(outcome))
    suite.extend(cases)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", short_empty_elements=True)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _properties(outcome: RunOutcome) -> ET.Element:
    run = outcome.run
    facts = {
        "run": run.run_id,
        "target": run.target,
        "model": run.treatment.model or "",
        "grader": run.grader,
        "status": run.status.value,
        "state": outcome.comparison.state.value,
        "verdict": outcome.verdict.word.value,
        "evalcli_version": run.evalcli_version,
    }
    element = ET.Element("properties")
    for name, value in facts.items():
        ET.SubElement(element, "property", name=name, value=plain_text(value))
    return element


def _count(cases: Sequence[ET.Element], tag: str) -> str:
    return str(sum(case.find(tag) is not None for case in cases))


def _seconds(trials: Sequence[Trial]) -> str:
    """Add up how long the answers took."""
    measured = [trial.ranking or trial.call for trial in trials]
    latencies = [one.latency_ms for one in measured if one is not None]
    return f"{sum(ms for ms in latencies if ms is not None) / _MS_PER_SECOND:.3f}"


def _prompt_case(set_name: str, prompt: PromptSummary, trials: Sequence[Trial]) -> ET.Element:
    case = ET.Element(
        "testcase", classname=set_name, name=plain_text(prompt.prompt_id), time=_seconds(trials)
    )
    ungraded = [trial for trial in trials if trial.state is not TrialState.GRADED]
    failed = [trial for trial in trials if trial.grade is not None and not trial.grade.passed]
    if ungraded:
        error = ungraded[0].error
        message = error.message if error is not None else "no grade"
        kind = error.cause.value if error is not None else ungraded[0].state.value
        _add_problem(case, "error", kind, message, "")
    elif prompt.pass_share is None:
        _add_problem(case, "error", "not_asked", "not asked yet: the run is incomplete", "")
    elif failed:
        trial = failed[0]
        reason = trial.grade.reason if trial.grade is not None else ""
        if len(trials) > 1:
            reason = f"{prompt.passed} of {prompt.trials} trials passed; {reason}"
        text = trial.answer.text if trial.answer is not None else None
        _add_problem(case, "failure", "refused" if trial.is_refused else "failed", reason, text)
    return case


def _add_problem(case: ET.Element, tag: str, kind: str, message: str, text: str | None) -> None:
    attributes = {"message": plain_text(message, limit=_MESSAGE_LIMIT), "type": kind}
    element = ET.SubElement(case, tag, attributes)
    if text:
        element.text = "\n".join(plain_lines(text))


def _skipped_case(set_name: str, prompt_id: str, reason: str) -> ET.Element:
    case = ET.Element("testcase", classname=set_name, name=plain_text(prompt_id), time="0.000")
    ET.SubElement(case, "skipped", message=plain_text(reason, limit=_MESSAGE_LIMIT))
    return case


def _gate_case(outcome: RunOutcome) -> ET.Element:
    verdict, comparison = outcome.verdict, outcome.comparison
    case = ET.Element("testcase", classname=_GATE_CLASS, name="gate", time="0.000")
    if verdict.word is VerdictWord.INCOMPLETE:
        message = f"nothing was compared: {comparison.reason or 'the run is incomplete'}"
        _add_problem(case, "error", verdict.word.value, message, "")
        return case
    messages = [finding.message for finding in verdict.findings]
    if verdict.is_gate_failed:
        armed = [finding.message for finding in verdict.findings if finding.is_armed]
        _add_problem(case, "failure", verdict.word.value, "; ".join(armed), "\n".join(messages))
    elif verdict.word in (VerdictWord.NOT_COMPARABLE, VerdictWord.NO_BASELINE):
        reason = comparison.reason or "there is no baseline"
        message = plain_text(f"nothing was compared: {reason}", limit=_MESSAGE_LIMIT)
        ET.SubElement(case, "skipped", message=message)
    elif messages:
        lines = [plain_text(message) for message in messages]
        ET.SubElement(case, "system-out").text = "\n".join(["reported only:", *lines])
    return case
