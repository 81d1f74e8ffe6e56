"""A changed corpus: named once, not question by question, and no part of the treatment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalcli.comparison.gate import compare_run
from evalcli.declarations.question_set import GoldenQuestion
from evalcli.records import Comparison, ComparisonState, Fingerprints, Run
from evalcli.retrieval.scoring import question_fingerprints
from tests.support.builders import make_baseline, make_summary
from tests.support.question_outcomes import answers, baseline_run, handbook, make_question_run

QUESTIONS = handbook()


def compare(run: Run, before: Run | None = None, *, old: str = "r1") -> Comparison:
    reference = before or baseline_run(QUESTIONS, corpus=old)
    trials = answers(QUESTIONS, {})
    planned = {one.prompt_id for one in run.plan}
    own = [trial for trial in trials if trial.prompt_id in planned]
    return compare_run(run, make_summary(run, own), make_baseline(reference, trials))


def test_another_corpus_is_named_once_and_is_no_treatment() -> None:
    run = make_question_run(QUESTIONS, corpus="r2", settings={"pipeline": "p2"})

    comparison = compare(run)

    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.reason == (
        "the corpus is another one than that of the baseline 33aa (r1 → r2), so the labels speak "
        "of other documents"
    )
    assert comparison.treatment_changes == ("pipeline bm25 → p2",)
    assert not comparison.is_grading_only


def test_questions_that_are_asked_otherwise_and_removed_ones_are_named_beside_it() -> None:
    first = QUESTIONS[0].model_copy(update={"question": "Another one?"})
    run = make_question_run((first, *QUESTIONS[1:-1]), corpus="r2")

    reason = compare(run).reason

    assert reason.startswith("the corpus is another one")
    assert (
        "1 question of the baseline 33aa was changed (umzug-melden: question and labels" in reason
    )
    assert "1 removed (frage-43)" in reason


def test_chosen_questions_over_another_corpus_are_a_mismatch() -> None:
    run = replace(make_question_run(QUESTIONS[:2], corpus="r2"), is_partial=True)

    assert "the corpus is another one" in compare(run).reason


@pytest.mark.parametrize("changed", [1, 47])
def test_changed_labels_over_the_same_corpus_are_named_one_by_one(changed: int) -> None:
    edited: list[GoldenQuestion] = [
        one.model_copy(update={"hard_class": "new"}) for one in QUESTIONS[:changed]
    ]
    run = make_question_run((*edited, *QUESTIONS[changed:]), corpus="r1")

    comparison = compare(run)

    assert "corpus is another" not in comparison.reason
    assert "(umzug-melden: labels or corpus" in comparison.reason


def test_a_corpus_that_may_change_is_compared_and_named() -> None:
    def with_any_corpus(run: Run) -> Run:
        plan = tuple(
            replace(planned, fingerprints=_any(question))
            for planned, question in zip(run.plan, QUESTIONS, strict=True)
        )
        return replace(run, plan=plan)

    before = with_any_corpus(baseline_run(QUESTIONS, corpus="r1"))
    comparison = compare(with_any_corpus(make_question_run(QUESTIONS, corpus="r2")), before)

    assert comparison.state is ComparisonState.COMPARABLE
    assert comparison.treatment_changes == ("corpus r1 → r2",)


def _any(question: GoldenQuestion) -> Fingerprints:
    return question_fingerprints(question, "any")
