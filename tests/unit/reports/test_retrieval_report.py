"""What a person sees of a run of questions, in every way it can end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from evalcli.records import RunOutcome, VerdictWord
from evalcli.reports.terminal_report import render_run
from tests.support import question_outcomes
from tests.support.approved import Approved
from tests.support.question_outcomes import (
    QUESTION_OUTCOMES,
    answers,
    baseline_run,
    handbook,
    make_question_outcome,
    make_question_run,
    ranked,
)

WIDTHS = (None, 120, 80, 60)
MAKERS = pytest.mark.parametrize("make", QUESTION_OUTCOMES.values(), ids=QUESTION_OUTCOMES.keys())


def _pages(outcome: RunOutcome) -> str:
    parts = []
    for width in WIDTHS:
        title = "no terminal" if width is None else f"{width} columns"
        parts.append(f"=== {title}\n{render_run(outcome).text(width)}")
    return "\n".join(parts)


@MAKERS
def test_run_of_questions_reads_as_approved(
    make: Callable[[], RunOutcome], approved: Approved
) -> None:
    approved.check(f"retrieval_{make.__name__}.txt", _pages(make()))


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@MAKERS
def test_no_line_of_questions_is_wider_than_the_terminal(
    make: Callable[[], RunOutcome], width: int
) -> None:
    for line in render_run(make(), verbose=True).text(width).splitlines():
        assert cell_len(line) <= width, line


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_hostile_of_a_retriever_reaches_the_terminal(width: int | None) -> None:
    text = render_run(question_outcomes.hostile_questions(), verbose=True).text(width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text)


def test_misses_come_first_with_what_came_back_instead() -> None:
    lines = render_run(question_outcomes.first_questions()).text(None).splitlines()
    rows = [line.split()[:2] for line in lines if re.match(r"  (MISS|2nd|3rd|hit) ", line)]
    assert rows == [
        ["MISS", "umzug-melden"],
        ["MISS", "parkausweis"],
        ["MISS", "weltmeister"],
        ["2nd", "dialogforum"],
        ["3rd", "frage-10"],
    ]
    assert re.search(r'wanted 234_0 +got 118_0 "Wohnsitz .*", right at rank 4', lines[2])
    assert re.search(r"wanted 77_1 or 77_2 +got nothing", lines[3])
    assert re.search(r"wanted nothing +got other-0, other-1, other-2 and 1 more", lines[4])
    assert re.search(r"wanted 234_0 or 309_0 +got 301_0, then 234_0", lines[5])
    assert "  … 43 hit at rank 1" in lines


def test_lost_questions_come_before_other_misses() -> None:
    questions = handbook()
    by_id = {one.id: one for one in questions}
    old = {"parkausweis": ranked(by_id["parkausweis"], None)}
    new = {**old, "frage-40": ranked(by_id["frage-40"], None)}
    outcome = make_question_outcome(
        make_question_run(questions),
        answers(questions, new),
        before=(baseline_run(questions), answers(questions, old)),
    )
    text = render_run(outcome).text(None)
    assert text.index("MISS   frage-40") < text.index("MISS   parkausweis")


def test_verbose_lists_the_hits_too() -> None:
    lines = render_run(question_outcomes.first_questions(), verbose=True).text(None).splitlines()
    assert sum(line.startswith("  hit ") for line in lines) == 43
    assert not any("hit at rank 1" in line for line in lines)


def test_a_large_run_bounds_what_it_lists() -> None:
    questions = handbook()
    rankings = {one.id: ranked(one, None) for one in questions}
    many = tuple(
        one.model_copy(update={"id": f"{one.id}-{n}"}) for n in range(3) for one in questions
    )
    trials = answers(many, {one.id: rankings[one.id.rpartition("-")[0]] for one in many})
    lines = render_run(make_question_outcome(make_question_run(many), trials)).text(None)
    assert sum(line.startswith("  MISS") for line in lines.splitlines()) == 50
    assert "… 94 more missed or came late (all: `evalcli history show 91c2`)" in lines


def test_bars_are_drawn_on_a_terminal_only_and_never_lie() -> None:
    outcome = question_outcomes.first_questions()
    on_terminal = render_run(outcome).text(120)
    bars = {
        line.split()[0]: bar[0]
        for line in on_terminal.splitlines()
        if (bar := re.search(r"[▇·]{10}", line))
    }
    assert bars["all"] == "▇▇▇▇▇▇▇▇▇·"
    assert bars["unanswerable"] == "··········"
    assert "▇" not in render_run(outcome).text(None)


def test_a_narrow_terminal_loses_no_figure() -> None:
    outcome = question_outcomes.first_questions()
    for width in (60, 80, 120):
        text = render_run(outcome).text(width)
        for figure in ("MRR@10", "nDCG@10", "recall@10", "hit@5", "hit@10"):
            assert figure in text


def test_an_incomplete_run_of_questions_has_no_rate() -> None:
    text = render_run(question_outcomes.questions_unmeasured()).text(None)
    assert "%" not in text
    assert "INCOMPLETE: 39 of 48 measured" in text
    assert "9 questions were not answered: handbook said 503" in text
    assert (
        "`evalcli eval retrieval acme.handbook handbook --resume 40d7` asks only the missing 9"
    ) in text


def test_a_class_that_fell_is_named_by_the_gate() -> None:
    outcome = question_outcomes.class_regression()
    assert outcome.verdict.word is VerdictWord.REGRESSED
    assert {finding.gate for finding in outcome.verdict.findings} == {"max_class_drop"}
    text = render_run(outcome).text(None)
    assert (
        "REGRESSION: the top-1 hit rate of the class near-duplicate (9 questions) fell by 33.3 "
        "points, the limit is 10.0 (--max-class-drop)."
    ) in text
    assert re.search(r"lost +umzug-melden \(1 → none of 10\), frage-01", text)
    assert re.search(r"won +frage-20 \(5 → 1\)", text)


def test_a_contented_gate_still_names_what_was_lost() -> None:
    text = render_run(question_outcomes.questions_within_limits()).text(None)
    assert "PASSED: " in text
    assert "Still, 1 question was lost" in text
    assert re.search(r"fallen class +near-duplicate \(9 questions\): top-3 100.0 % → 88.9 %", text)
    assert "pipeline bm25 → bm25, stemmed" in text


def test_a_baseline_file_says_what_it_knows_of_ranks() -> None:
    text = render_run(question_outcomes.question_regression_from_file()).text(None)
    assert "frage-00 (2 or 3 → none of 10)" in text
    assert "frage-01 (1 → none of 10)" in text
    assert "evalcli baseline export acme.handbook --configuration handbook" in text


def test_another_corpus_is_named_by_its_revision() -> None:
    text = render_run(question_outcomes.other_corpus()).text(None)
    assert (
        "NOT COMPARED: the corpus is another one than that of the baseline 33aa "
        "(sha256:aa → sha256:bb), so the labels speak of other documents."
    ) in text
    assert "REGRESSION" not in text


def test_notes_that_were_told_are_not_told_again() -> None:
    outcome = question_outcomes.chosen_questions()
    note = outcome.notes[0]
    assert note in render_run(outcome).text(None)
    assert note not in render_run(outcome, told=(note,)).text(None)


def test_surplus_results_are_named() -> None:
    text = render_run(question_outcomes.hostile_questions()).text(None)
    assert "1 question got more results than the limit that was asked for" in text
