"""Metrics of one ranking: pure, on distinct document ids, best first.

All of them read ids exactly, character by character, and take rank to be the place in the list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2


def first_hit(ranked: Sequence[str], relevant: Collection[str]) -> int | None:
    """Find the rank, from 1, of the first relevant document; None where there is none.

    Shapes: `ranked` holds n >= 0 distinct ids, best first.
    """
    return next((rank for rank, one in enumerate(ranked, start=1) if one in relevant), None)


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Score one ranking by the place of its first relevant document.

    Shapes: `ranked` holds n >= 0 distinct ids, best first; `relevant` at least one id.
    Units: 1/rank, in (0, 1]; 0.0 when no relevant document was ranked.
    Source: Kantor & Voorhees (2000), The TREC-5 Confusion Track.

    Raises:
        ValueError: `relevant` is empty; the score has no meaning there.
    """
    _refuse_empty(relevant)
    rank = first_hit(ranked, relevant)
    return 0.0 if rank is None else 1 / rank


def recall(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Share of the relevant documents that were ranked.

    Shapes: `ranked` holds n >= 0 distinct ids, already cut at the rank of interest; `relevant`
    at least one id.
    Units: in 0..1. With more relevant documents than places the best possible value is below 1.
    Source: `recall_k` of trec_eval.

    Raises:
        ValueError: `relevant` is empty; the score has no meaning there.
    """
    _refuse_empty(relevant)
    return sum(1 for one in ranked if one in relevant) / len(relevant)


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], cutoff: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `cutoff` documents, with linear gain.

    A document at rank r adds grade / log2(r + 1); the sum is divided by that of the best ranking
    possible.
    Shapes: `ranked` holds n >= 0 distinct ids; `grades` at least one id, all grades above 0.
    Units: in 0..1.
    Source: Järvelin & Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques;
    `ndcg_cut_k` of trec_eval.

    Raises:
        ValueError: `grades` is empty; the score has no meaning there.
    """
    _refuse_empty(grades)
    gained = sum(
        grades[one] / log2(rank + 1)
        for rank, one in enumerate(ranked[:cutoff], start=1)
        if one in grades
    )
    best = sorted(grades.values(), reverse=True)[:cutoff]
    return gained / sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1))


def _refuse_empty(relevant: Collection[str]) -> None:
    if not relevant:
        raise ValueError("no document is relevant, so the metric has no meaning")
