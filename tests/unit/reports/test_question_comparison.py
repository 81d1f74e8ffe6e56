"""What a person sees of stored runs of questions: one, two, and their baseline."""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len

from evalcli.records import RunOutcome
from evalcli.reports.history_report import (
    render_baseline,
    render_comparison,
    render_stored_run,
)
from evalcli.reports.text_layout import Report
from tests.support import question_outcomes
from tests.support.approved import Approved
from tests.support.builders import make_baseline
from tests.support.question_outcomes import (
    answers,
    baseline_run,
    handbook,
    make_question_outcome,
    ranked,
)

WIDTHS = (None, 120, 80, 60)


def pages(report: Report) -> str:
    parts = []
    for width in WIDTHS:
        title = "no terminal" if width is None else f"{width} columns"
        parts.append(f"=== {title}\n{report.text(width)}")
    return "\n".join(parts)


def before_class_regression() -> RunOutcome:
    questions = handbook()
    by_id = {one.id: one for one in questions}
    won = {f"frage-{number}": ranked(by_id[f"frage-{number}"], 5) for number in range(20, 26)}
    return make_question_outcome(baseline_run(questions), answers(questions, won))


def test_two_runs_of_questions_read_as_approved(approved: Approved) -> None:
    report = render_comparison(before_class_regression(), question_outcomes.class_regression())
    approved.check("retrieval_two_runs.txt", pages(report))
    for width in (40, 60, 80, 120):
        assert all(cell_len(line) <= width for line in report.text(width).splitlines())


def test_stored_run_of_questions_reads_as_approved(approved: Approved) -> None:
    outcome = replace(question_outcomes.first_questions(), documents=None, passages={})
    approved.check("retrieval_stored_run.txt", pages(render_stored_run(outcome)))


def test_baseline_of_questions_reads_as_approved(approved: Approved) -> None:
    outcome = question_outcomes.chosen_questions()
    baseline = make_baseline(outcome.run, outcome.trials)
    approved.check("retrieval_baseline.txt", pages(render_baseline(baseline)))


def test_runs_that_measured_other_things_are_not_compared() -> None:
    text = render_comparison(before_class_regression(), question_outcomes.other_corpus()).text(None)
    assert "NOT COMPARABLE" in text
    assert "(sha256:aa → sha256:bb)" in text


def test_questions_of_one_run_only_are_named() -> None:
    text = render_comparison(before_class_regression(), question_outcomes.chosen_questions()).text(
        None
    )
    assert "Only in 33aa: dialogforum, weltmeister" in text
    assert "48 → 2" in text
