"""What a person sees of stored runs and baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from evalcli.records import (
    Answer,
    Fingerprints,
    RunOutcome,
    RunStatus,
    VerdictWord,
)
from evalcli.reports.history_report import (
    render_acceptance,
    render_baseline,
    render_comparison,
    render_run_list,
    render_stored_run,
)
from evalcli.reports.text_layout import Report
from tests.support import outcomes
from tests.support.approved import Approved
from tests.support.builders import (
    make_answer,
    make_baseline,
    make_listing,
    make_outcome,
    make_run,
    make_trial,
)

WIDTHS = (None, 120, 80, 60)
_RUN_OF_ANSWER = ("plain",)


def _old() -> RunOutcome:
    started_at = datetime(2026, 11, 12, 9, 0, tzinfo=UTC)
    run = make_run(outcomes.FORTY, run_id="5be0", started_at=started_at)
    text = (
        "We take back what you bought within 30 days of delivery, unopened.\n\n- [ ] keep the box"
    )
    answer = make_answer(text, model="gpt-6-luna-2026-09-30")
    return make_outcome(run, [make_trial(i, answer=answer) for i in outcomes.FORTY])


def _two_runs() -> Report:
    return render_comparison(_old(), outcomes.regression())


def _two_runs_that_differ() -> Report:
    old = make_run(("a", "b", "gone"), run_id="5be0")
    before = make_outcome(old, [make_trial(i, passed=i != "b") for i in ("a", "b", "gone")])
    fingerprints = {"a": Fingerprints("new", "new")}
    new = make_run(("a", "b", "new"), fingerprints=fingerprints)
    after = [make_trial(i, passed=i != "a", reason="wrong" * (i == "a")) for i in ("a", "b", "new")]
    baseline = make_baseline(old, before.trials)
    return render_comparison(before, make_outcome(new, after, baseline=baseline))


def _list() -> Report:
    interrupted = make_listing(
        "7f3a", status=RunStatus.INCOMPLETE, measured=31, verdict=VerdictWord.INCOMPLETE
    )
    first = replace(make_listing("5be0", passed=40), is_baseline=True)
    model = replace(
        make_listing("0001", verdict=VerdictWord.REGRESSED),
        is_draft=True,
        trials=3,
        target="openai/gpt-6-luna-2026-11-18-preview",
    )
    return render_run_list(
        [make_listing(), replace(interrupted, is_interrupted=True), first, model]
    )


def _stored() -> Report:
    return render_stored_run(outcomes.regression_reported())


def _whole() -> Report:
    return render_stored_run(outcomes.trials(), show_answers=True)


def _baseline() -> Report:
    baseline = outcomes.before(outcomes.FOUR)
    extended = replace(baseline.prompts["greeting"], run_id="77aa")
    return render_baseline(replace(baseline, prompts={**baseline.prompts, "greeting": extended}))


def _accepted() -> Report:
    outcome = outcomes.mismatch_of_file()
    new = make_baseline(outcome.run, outcome.trials)
    return render_acceptance(outcome, new, outcome.baseline)


def _first_accepted() -> Report:
    outcome = outcomes.baseline_required()
    return render_acceptance(outcome, make_baseline(outcome.run, outcome.trials), None)


REPORTS: dict[str, Callable[[], Report]] = {
    "two_runs": _two_runs,
    "two_runs_that_differ": _two_runs_that_differ,
    "run_list": _list,
    "stored_run": _stored,
    "stored_run_with_answers": _whole,
    "baseline": _baseline,
    "accepted": _accepted,
    "first_accepted": _first_accepted,
}


@pytest.mark.parametrize("name", REPORTS)
def test_report_reads_as_approved(name: str, approved: Approved) -> None:
    report = REPORTS[name]()
    parts = []
    for width in WIDTHS:
        title = "no terminal" if width is None else f"{width} columns"
        parts.append(f"=== {title}\n{report.text(width)}")
    approved.check(f"history_{name}.txt", "\n".join(parts))


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", REPORTS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    for line in REPORTS[name]().text(width).splitlines():
        assert cell_len(line) <= width, line


def _one_answer(answer: Answer, *, passed: bool = False) -> RunOutcome:
    trial = make_trial("plain", passed=passed, reason="" if passed else "no", answer=answer)
    return make_outcome(make_run(_RUN_OF_ANSWER), [trial])


@pytest.mark.parametrize("width", [None, 120])
def test_markup_in_an_answer_is_shown_as_it_is(width: int | None) -> None:
    outcome = _one_answer(make_answer("[bold]no[/bold] [/INST] [red]x"))
    assert "    [bold]no[/bold] [/INST] [red]x\n" in render_stored_run(outcome).text(width)


def test_answers_that_pass_are_shown_on_request() -> None:
    outcome = _one_answer(make_answer("all is well"), passed=True)
    assert "all is well" not in render_stored_run(outcome).text(None)
    assert "all is well" in render_stored_run(outcome, show_answers=True).text(None)


def test_long_answer_is_cut_unless_all_is_asked_for() -> None:
    outcome = _one_answer(make_answer("\n".join(f"line {n}" for n in range(100))))
    text = render_stored_run(outcome).text(None)
    assert "line 29\n" in text
    assert "line 30\n" not in text
    assert "(… 789 characters in all: --answers shows them)" in text
    assert "line 99\n" in render_stored_run(outcome, show_answers=True).text(None)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (make_answer(None), "(no text is kept)"),
        (make_answer(""), "(empty)"),
        (make_answer(None, refusal="I will not."), "I will not."),
    ],
)
def test_answer_without_text_is_named(answer: Answer, words: str) -> None:
    assert f"    {words}\n" in render_stored_run(_one_answer(answer)).text(None)


def test_incomplete_run_is_marked_in_the_list() -> None:
    listing = make_listing(
        status=RunStatus.INCOMPLETE, measured=0, prompts=2, verdict=VerdictWord.INCOMPLETE
    )
    text = render_run_list([listing]).text(None)
    assert "incomplete, 0 of 2" in text
    assert "%" not in text


@pytest.mark.parametrize("width", [40, 50, 60, 70])
def test_list_of_real_runs_fits_a_narrow_terminal(width: int) -> None:
    rate = make_listing("0123abcd", passed=40)
    incomplete = make_listing("4567abcd", status=RunStatus.INCOMPLETE, measured=0)
    lines = render_run_list([replace(rate, is_baseline=True), incomplete]).text(width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert lines[1].startswith("0123abcd*")
    assert "100.0 %" in lines[1]


def test_list_keeps_what_fits_on_a_narrow_terminal() -> None:
    runs = [make_listing("0123abcd", status=RunStatus.INCOMPLETE, measured=0)]
    assert "started" not in render_run_list(runs).text(50)
    assert "target" in render_run_list(runs).text(50)
    assert "started" in render_run_list(runs).text(80)


def test_run_ids_are_whole_at_any_width() -> None:
    listing = replace(make_listing("0123456789abcdef"), target="t" * 100)
    for width in WIDTHS:
        assert "0123456789abcdef" in render_run_list([listing]).text(width)


def test_empty_list_says_how_to_begin() -> None:
    assert "evalcli eval run" in render_run_list([]).text(80)


def test_prompts_that_fell_come_before_those_that_rose() -> None:
    text = _two_runs_that_differ().text(None)
    assert text.index("a   pass → FAIL") < text.index("b   FAIL → pass")


def test_runs_that_cannot_be_compared_say_so() -> None:
    text = _two_runs_that_differ().text(None)
    assert "NOT COMPARABLE" in text
    assert "Only in 5be0: gone" in text
    assert "Only in 91c2: new" in text


def test_answers_stand_beside_each_other_on_a_wide_terminal_only() -> None:
    assert "│" in _two_runs().text(80)
    assert "│" not in _two_runs().text(60)
    assert "│" not in _two_runs().text(None)
