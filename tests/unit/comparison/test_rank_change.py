"""Questions won and lost, with their ranks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evalcli.comparison.rank_change import describe_place, find_rank_changes
from evalcli.records import BaselinePrompt, Fingerprints, QuestionScore


def make_score(
    first_hit: int | None, *, returned: int = 10, is_answerable: bool = True
) -> QuestionScore:
    """Make the score of a question at the cutoffs 1, 3 and 10."""
    recall = {1: 0.0, 3: 0.0, 10: 0.0} if is_answerable else None
    return QuestionScore("gap", None, is_answerable, first_hit, returned, recall=recall)


def make_baseline_prompt(prompt_id: str, score: QuestionScore) -> BaselinePrompt:
    """Make what a baseline knows of a question."""
    return BaselinePrompt(
        prompt_id,
        Fingerprints("asked", "graded"),
        Fraction(int(score.is_hit(1))),
        Fraction(int(score.is_hit(3))),
        "5be0",
    )


def changes(
    before: dict[str, QuestionScore], after: dict[str, QuestionScore], *, are_ranks_known: bool
) -> list[tuple[str, bool, str, str]]:
    known = {one: make_baseline_prompt(one, score) for one, score in before.items()}
    found = find_rank_changes(before, known, before if are_ranks_known else {}, after)
    return [(one.prompt_id, one.is_lost, one.before, one.after) for one in found]


BEFORE = {
    "won": make_score(7),
    "better": make_score(2),
    "same": make_score(2),
    "lost": make_score(1),
    "gone": make_score(3),
    "deep": make_score(4),
}
AFTER = {
    "won": make_score(3),
    "better": make_score(1),
    "same": make_score(3),
    "lost": make_score(4),
    "gone": make_score(None),
    "deep": make_score(9),
}


def test_a_question_is_lost_or_won_where_a_hit_at_1_or_3_changes() -> None:
    assert changes(BEFORE, AFTER, are_ranks_known=True) == [
        ("lost", True, "1", "4"),
        ("gone", True, "3", "none of 10"),
        ("won", False, "7", "3"),
        ("better", False, "2", "1"),
    ]


def test_without_the_ranks_before_the_hits_say_what_they_can() -> None:
    assert changes(BEFORE, AFTER, are_ranks_known=False) == [
        ("lost", True, "1", "4"),
        ("gone", True, "2 or 3", "none of 10"),
        ("won", False, "beyond 3", "3"),
        ("better", False, "2 or 3", "1"),
    ]


@pytest.mark.parametrize(("known", "was"), [(True, "nothing"), (False, "nothing")])
def test_a_question_that_nothing_answers_is_lost_by_any_result(known: bool, was: str) -> None:
    before = {"q": make_score(None, returned=0, is_answerable=False)}
    after = {"q": make_score(None, returned=4, is_answerable=False)}

    assert changes(before, after, are_ranks_known=known) == [("q", True, was, "4 documents")]
    assert changes(after, before, are_ranks_known=known) == [
        ("q", False, "4 documents" if known else "something", "nothing")
    ]


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (make_score(2), "2"),
        (make_score(None), "none of 10"),
        (make_score(None, returned=3), "none of 10"),
        (make_score(None, returned=0), "nothing"),
        (make_score(None, returned=1, is_answerable=False), "1 document"),
    ],
)
def test_the_place_is_said_in_few_words(score: QuestionScore, words: str) -> None:
    assert describe_place(score) == words
