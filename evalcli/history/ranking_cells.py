"""Rankings and their scores as cells: written and read field by field.

There is one of each a question, with ten documents or more, so the general way through
`cells.json_cell`, which looks at the type of every value, would take longer than the search.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from evalcli.history.cells import Cell, read_json, text_cell
from evalcli.records import QuestionScore, Ranking, RetrievedDocument

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_COUNTS = ("returned", "surplus", "repeated", "below_min_score")


def ranking_cell(ranking: Ranking | None, *, keep_texts: bool) -> Cell:
    """Store a ranking as JSON, its passages only where texts are kept."""
    if ranking is None:
        return None
    return text_cell(
        _encode(
            {
                "documents": [
                    {"id": one.id, "score": one.score, "text": one.text if keep_texts else None}
                    for one in ranking.documents
                ],
                **{name: getattr(ranking, name) for name in _COUNTS},
                "latency_ms": ranking.latency_ms,
            }
        )
    )


def read_ranking(cell: object) -> Ranking | None:
    """Read a cell of `ranking_cell`; None where it is NULL. Unknown keys are left out."""
    value = read_json(cell)
    if not isinstance(value, dict):
        return None
    return Ranking(
        documents=tuple(
            RetrievedDocument(one["id"], one.get("score"), one.get("text"))
            for one in value.get("documents", ())
        ),
        **{name: value.get(name, 0) for name in _COUNTS},
        latency_ms=value.get("latency_ms"),
    )


def score_cell(score: QuestionScore | None) -> Cell:
    """Store the score of a question as JSON."""
    if score is None:
        return None
    return text_cell(
        _encode(
            {
                "form": score.form,
                "hard_class": score.hard_class,
                "is_answerable": score.is_answerable,
                "first_hit": score.first_hit,
                "returned": score.returned,
                "reciprocal_rank": score.reciprocal_rank,
                "recall": None if score.recall is None else dict(score.recall),
                "ndcg": score.ndcg,
                "expected": score.expected,
            }
        )
    )


def read_score(cell: object) -> QuestionScore | None:
    """Read a cell of `score_cell`; None where it is NULL. Unknown keys are left out."""
    value = read_json(cell)
    if not isinstance(value, dict):
        return None
    return QuestionScore(
        form=value["form"],
        hard_class=value.get("hard_class"),
        is_answerable=value["is_answerable"],
        first_hit=value.get("first_hit"),
        returned=value["returned"],
        reciprocal_rank=value.get("reciprocal_rank"),
        recall=_read_recall(value.get("recall")),
        ndcg=value.get("ndcg"),
        expected=tuple(value.get("expected", ())),
    )


def _read_recall(value: object) -> Mapping[int, float] | None:
    if not isinstance(value, dict):
        return None
    return {int(cutoff): share for cutoff, share in value.items()}
