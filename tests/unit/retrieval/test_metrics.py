"""Each metric on a value worked out by hand, at its edges, and against its definition."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.retrieval.metrics import first_hit, ndcg, recall, reciprocal_rank

IDS = st.lists(st.sampled_from("abcdefghij"), unique=True)
RELEVANT = st.sets(st.sampled_from("abcdefghij"), min_size=1)


def test_first_hit_is_the_rank_of_the_first_relevant_document() -> None:
    assert first_hit(["x", "b", "a"], {"a", "b"}) == 2


def test_first_hit_of_a_ranking_without_a_relevant_document_is_none() -> None:
    assert first_hit(["x", "y"], {"a"}) is None


def test_reciprocal_rank_of_a_hit_at_rank_three_is_a_third() -> None:
    assert reciprocal_rank(["x", "y", "a"], {"a"}) == 1 / 3


def test_reciprocal_rank_of_a_miss_is_zero() -> None:
    assert reciprocal_rank([], {"a"}) == 0.0


def test_recall_counts_the_relevant_documents_that_were_ranked() -> None:
    assert recall(["a", "x", "b"], {"a", "b", "c", "d"}) == 0.5


def test_ndcg_has_a_linear_gain() -> None:
    # By hand: (2 / log2(2) + 1 / log2(4)) / (3 / log2(2) + 2 / log2(3) + 1 / log2(4))
    grades = {"best": 3, "good": 2, "fair": 1}
    expected = (2 + 1 / 2) / (3 + 2 / log2(3) + 1 / 2)

    assert ndcg(["good", "other", "fair"], grades) == pytest.approx(expected, abs=1e-12)


def test_ndcg_looks_at_the_first_places_only() -> None:
    ranked = [*(f"x{place}" for place in range(10)), "a"]

    assert ndcg(ranked, {"a": 1}, cutoff=10) == 0.0


def test_ndcg_of_more_relevant_documents_than_places_can_be_one() -> None:
    grades = dict.fromkeys("abcdefghijkl", 1)

    assert ndcg(list("abcdefghij"), grades, cutoff=10) == 1.0


def test_ids_compare_exactly() -> None:
    assert first_hit(["007", "7.0", "a "], {"7", "a"}) is None


@pytest.mark.parametrize("metric", [reciprocal_rank, recall])
def test_a_metric_over_no_relevant_document_has_no_meaning(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(ValueError, match="no document is relevant"):
        metric(["a"], set())


def test_ndcg_over_no_relevant_document_has_no_meaning() -> None:
    with pytest.raises(ValueError, match="no document is relevant"):
        ndcg(["a"], {})


@given(IDS, RELEVANT)
def test_all_metrics_stay_within_bounds(ranked: list[str], relevant: set[str]) -> None:
    values = (
        reciprocal_rank(ranked, relevant),
        recall(ranked, relevant),
        ndcg(ranked, dict.fromkeys(relevant, 2)),
    )

    assert all(0.0 <= value <= 1.0 + 1e-12 for value in values)


@given(RELEVANT, st.randoms())
def test_the_best_ranking_has_ndcg_one(relevant: set[str], random: object) -> None:
    grades = {one: place for place, one in enumerate(sorted(relevant), start=1)}
    ranked = sorted(grades, key=lambda one: -grades[one])

    assert ndcg(ranked, grades) == pytest.approx(1.0, abs=1e-12)


@given(IDS, RELEVANT)
def test_moving_a_relevant_document_up_never_lowers_ndcg(
    ranked: list[str], relevant: set[str]
) -> None:
    grades = dict.fromkeys(relevant, 1)
    for place in range(1, len(ranked)):
        if ranked[place] in relevant and ranked[place - 1] not in relevant:
            better = [*ranked]
            better[place - 1], better[place] = better[place], better[place - 1]
            assert ndcg(better, grades) >= ndcg(ranked, grades)
