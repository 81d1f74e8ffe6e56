"""Rules of scoring: distinct documents, cut, min_score, grades, rows, classes, fingerprints."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.question_set import Form
from evalcli.errors import UsageError
from evalcli.records import RetrievedDocument
from evalcli.retrieval.scoring import (
    ResultFaultError,
    check_cutoffs,
    find_unknown_documents,
    find_unknown_expected,
    grade_question,
    question_fingerprints,
    rank_documents,
    raw_limit,
    score_question,
    summarize_retrieval,
)
from tests.support.retrieval import CUTOFFS, make_question, make_ranking

YES, NO = Fraction(1), Fraction(0)


def ids_of(results: list[object], *, limit: int = 40, cutoff: int = 10) -> list[str]:
    ranking = rank_documents(results, limit=limit, cutoff=cutoff)
    return [document.id for document in ranking.documents]


# --- cutoffs ---


def test_cutoffs_of_record_and_of_ndcg_are_always_there() -> None:
    assert check_cutoffs([5]) == (1, 3, 5, 10)


def test_the_largest_cutoff_decides_how_much_is_asked_for() -> None:
    assert raw_limit(check_cutoffs([20])) == 80


@pytest.mark.parametrize("cutoff", [0, -1, 1001])
def test_a_cutoff_out_of_range_is_refused(cutoff: int) -> None:
    with pytest.raises(UsageError, match="out of range"):
        check_cutoffs([cutoff])


# --- raw results → ranking ---


def test_a_repeated_document_counts_at_its_first_place_only() -> None:
    assert ids_of(["a", "a", "b", "a", "c"]) == ["a", "b", "c"]


def test_results_beyond_the_limit_are_cut_and_counted() -> None:
    ranking = rank_documents(["a", "b", "c"], limit=2, cutoff=10)

    assert [document.id for document in ranking.documents] == ["a", "b"]
    assert (ranking.returned, ranking.surplus) == (3, 1)


def test_distinct_documents_are_cut_after_repetitions_collapsed() -> None:
    assert ids_of(["a", "a", "a", "b", "c"], cutoff=2) == ["a", "b"]


def test_the_order_of_the_list_is_the_ranking_whatever_the_scores_say() -> None:
    results: list[object] = [RetrievedDocument("low", 0.1), RetrievedDocument("high", 0.9)]

    assert ids_of(results) == ["low", "high"]


def test_results_below_min_score_are_dropped_and_one_equal_to_it_stays() -> None:
    results = [RetrievedDocument("a", 0.5), RetrievedDocument("b", 0.4)]

    ranking = rank_documents(results, limit=40, cutoff=10, min_score=0.5)

    assert [document.id for document in ranking.documents] == ["a"]
    assert ranking.below_min_score == 1


def test_min_score_needs_scores() -> None:
    with pytest.raises(ResultFaultError, match=r"result 1 has no score.*min_score"):
        rank_documents(["a"], limit=40, cutoff=10, min_score=0.5)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (7, "of type int"),
        (None, "nothing"),
        (b"a", "of type bytes"),
        (RetrievedDocument(7), "of type int"),  # type: ignore[arg-type]  # what a plug-in may do
        ("", "empty"),
        (RetrievedDocument("a", float("nan")), "no finite number"),
        (RetrievedDocument("a", float("inf")), "no finite number"),
        (RetrievedDocument("a", True), "no finite number"),
        (RetrievedDocument("a", 10**400), "no finite number"),
        (RetrievedDocument("a", 1.0, 5), "text that is of type int"),  # type: ignore[arg-type]  # the same
    ],
)
def test_a_result_that_is_no_document_is_refused(result: object, said: str) -> None:
    with pytest.raises(ResultFaultError, match=rf"result 2 .*{said}"):
        rank_documents(["fine", result], limit=40, cutoff=10)


def test_ids_are_kept_as_they_came() -> None:
    odd = ["234_0", "007", "1e3", "null", "ä" * 500, " a ", "[bold]x[/]", "\x1b[31m", "\ud800"]

    assert ids_of([*odd]) == odd


@given(st.lists(st.sampled_from("abcdef"), max_size=60), st.integers(1, 12))
def test_a_ranking_holds_distinct_documents_in_order_of_first_appearance(
    results: list[str], cutoff: int
) -> None:
    limit = 4 * cutoff

    found = ids_of([*results], limit=limit, cutoff=cutoff)

    assert found == list(dict.fromkeys(results[:limit]))[:cutoff]


# --- one question ---


def test_a_right_first_place_passes_and_has_score_one() -> None:
    grade = grade_question(make_question(), make_ranking("doc-a", "x"), CUTOFFS)

    assert (grade.passed, grade.score, grade.reason) == (True, YES, "")


def test_a_right_third_place_fails_and_has_score_one() -> None:
    grade = grade_question(make_question(), make_ranking("x", "y", "doc-a"), CUTOFFS)

    assert (grade.passed, grade.score) == (False, YES)
    assert grade.reason == "wanted doc-a, got x, y, doc-a, right at rank 3"


def test_a_right_fourth_place_has_score_zero() -> None:
    grade = grade_question(make_question(), make_ranking("x", "y", "z", "doc-a"), CUTOFFS)

    assert (grade.passed, grade.score) == (False, NO)
    assert grade.reason == "wanted doc-a, got x, y, z and 1 more, right at rank 4"


def test_any_of_several_expected_documents_is_a_hit() -> None:
    question = make_question(expected=("a", "b"))

    assert grade_question(question, make_ranking("b"), CUTOFFS).passed


def test_a_question_without_results_is_a_miss() -> None:
    grade = grade_question(make_question(), make_ranking(), CUTOFFS)

    assert (grade.passed, grade.score) == (False, NO)
    assert grade.reason == "wanted doc-a, got nothing"


def test_what_expects_nothing_is_hit_by_nothing() -> None:
    grade = grade_question(make_question(expected=()), make_ranking(), CUTOFFS)

    assert (grade.passed, grade.score) == (True, YES)


def test_what_expects_nothing_is_missed_by_any_document() -> None:
    grade = grade_question(make_question(expected=()), make_ranking("x"), CUTOFFS)

    assert (grade.passed, grade.score) == (False, NO)
    assert grade.reason == "wanted nothing, got x"


def test_what_expects_nothing_stays_out_of_mrr_recall_and_ndcg() -> None:
    score = score_question(make_question(expected=()), make_ranking("x"), CUTOFFS)

    assert (score.reciprocal_rank, score.recall, score.ndcg) == (None, None, None)


def test_the_example_of_two_questions() -> None:
    refund = make_question("refund", expected=("doc-refund",))
    export = make_question("export", expected=("doc-export", "doc-invoice"))
    first = rank_documents(
        ["doc-terms", "doc-terms", "doc-terms", "doc-refund", "doc-home"], limit=40, cutoff=10
    )
    second = rank_documents(["doc-export"] * 3, limit=40, cutoff=10)

    grades = [grade_question(refund, first, CUTOFFS), grade_question(export, second, CUTOFFS)]

    assert [(grade.passed, grade.score) for grade in grades] == [(False, YES), (True, YES)]


# --- all questions ---


def test_rows_are_all_then_forms_then_hard_classes() -> None:
    scores = [
        score_question(make_question(form=Form.GAP, hard_class="b"), make_ranking(), CUTOFFS),
        score_question(make_question(form=Form.MATCH, hard_class="a"), make_ranking(), CUTOFFS),
        score_question(make_question(form=Form.MATCH), make_ranking(), CUTOFFS),
    ]

    rows = summarize_retrieval(scores, CUTOFFS).rows

    assert [(row.group, row.name, row.questions) for row in rows] == [
        ("all", "all", 3),
        ("form", "match", 2),
        ("form", "gap", 1),
        ("hard_class", "a", 1),
        ("hard_class", "b", 1),
    ]


def test_rates_are_exact_and_means_are_over_answerable_questions() -> None:
    scores = [
        score_question(make_question(expected=("a",)), make_ranking("a"), CUTOFFS),
        score_question(make_question(expected=("a",)), make_ranking("x", "a"), CUTOFFS),
        score_question(make_question(expected=()), make_ranking(), CUTOFFS),
    ]

    row = summarize_retrieval(scores, CUTOFFS).rows[0]

    assert (row.hit_rate(1), row.hit_rate(3)) == (Fraction(2, 3), Fraction(1))
    assert (row.questions, row.answerable) == (3, 2)
    assert row.mean_reciprocal_rank == pytest.approx(0.75)
    assert row.mean_recall == {1: 0.5, 3: 1.0, 5: 1.0, 10: 1.0}


def test_a_group_that_nothing_answers_has_no_means() -> None:
    scores = [score_question(make_question(expected=()), make_ranking(), CUTOFFS)]

    row = summarize_retrieval(scores, CUTOFFS).rows[0]

    assert (row.mean_reciprocal_rank, row.mean_recall, row.mean_ndcg) == (None, None, None)
    assert row.hit_rate(1) == 1


def test_no_measured_question_gives_no_row() -> None:
    assert summarize_retrieval([], CUTOFFS).rows == ()


# --- fingerprints and strangers ---


def test_neither_order_nor_gist_counts_in_a_fingerprint() -> None:
    first = make_question(expected=("a", "b"))
    second = first.model_copy(update={"expected": ("b", "a"), "gist": "On Monday."})

    assert question_fingerprints(first, "r1") == question_fingerprints(second, "r1")


def test_a_plain_list_and_grades_of_one_are_the_same_labels() -> None:
    listed, graded = make_question(expected=("a",)), make_question(expected={"a": 1})

    assert question_fingerprints(listed, "r1") == question_fingerprints(graded, "r1")


@pytest.mark.parametrize(
    "change",
    [
        {"expected": ("a", "c")},
        {"expected": {"a": 2, "b": 1}},
        {"form": Form.GAP},
        {"hard_class": "other"},
    ],
    ids=["expected", "grade", "form", "hard_class"],
)
def test_a_label_that_changes_changes_the_grading_only(change: dict[str, object]) -> None:
    question = make_question(expected=("a", "b"))
    before = question_fingerprints(question, "r1")
    after = question_fingerprints(question.model_copy(update=change), "r1")

    assert after.graded != before.graded
    assert after.asked == before.asked


def test_the_wording_changes_what_is_asked() -> None:
    before = question_fingerprints(make_question(question="Who?"), "r1")
    after = question_fingerprints(make_question(question="Who is it?"), "r1")

    assert after.asked != before.asked


def test_a_corpus_that_changes_changes_the_grading() -> None:
    question = make_question()

    assert question_fingerprints(question, "r1") != question_fingerprints(question, "r2")


def test_an_unknown_corpus_leaves_the_grading_without_a_fingerprint() -> None:
    assert question_fingerprints(make_question(), None).graded is None


def test_expected_documents_outside_the_corpus_are_found() -> None:
    questions = [make_question("q1", expected=("a", "gone")), make_question("q2", expected=("a",))]

    assert find_unknown_expected(questions, {"a"}) == {"q1": ("gone",)}


def test_returned_documents_outside_the_corpus_are_counted() -> None:
    rankings = [make_ranking("a", "ghost"), make_ranking("ghost", "b")]

    assert find_unknown_documents(rankings, {"a", "b"}) == {"ghost": 2}
