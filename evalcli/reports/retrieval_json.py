"""What programs read of a retrieval run, beyond what all runs have. Shapes as in `json_report`."""

from __future__ import annotations

from collections.abc import Sequence

from evalcli.records import (
    ClassDrop,
    QuestionScore,
    RankChange,
    Ranking,
    RetrievalRow,
    RetrievalSummary,
    RetrievedDocument,
    RetrieverReply,
    Trial,
)

SCHEMA_VERSION = 1

Document = dict[str, object]


def retrieval_facts(summary: RetrievalSummary) -> Document:
    """Describe the figures of all questions, by form and by hard class."""
    return {"cutoffs": list(summary.cutoffs), "rows": [_row_facts(row) for row in summary.rows]}


def _row_facts(row: RetrievalRow) -> Document:
    recall = row.mean_recall or {}
    return {
        "group": row.group,
        "name": row.name,
        "questions": row.questions,
        "answerable": row.answerable,
        "hits": {str(cutoff): hits for cutoff, hits in row.hits.items()},
        "hit_rates": {str(cutoff): float(row.hit_rate(cutoff)) for cutoff in row.hits},
        "mean_reciprocal_rank": row.mean_reciprocal_rank,
        "mean_recall": {str(cutoff): value for cutoff, value in recall.items()},
        "mean_ndcg": row.mean_ndcg,
    }


def question_facts(trial: Trial | None) -> Document:
    """Describe one question's ranking and how it did; nulls where it was not measured."""
    score = trial.grade.question if trial is not None and trial.grade is not None else None
    ranking = trial.ranking if trial is not None else None
    return {
        "question": None if score is None else _score_facts(score),
        "ranking": None if ranking is None else _ranking_facts(ranking),
    }


def _score_facts(score: QuestionScore) -> Document:
    return {
        "form": score.form,
        "hard_class": score.hard_class,
        "expected": list(score.expected),
        "is_answerable": score.is_answerable,
        "first_hit": score.first_hit,
        "top1": score.is_hit(1),
        "top3": score.is_hit(3),
        "reciprocal_rank": score.reciprocal_rank,
        "recall": {str(cutoff): value for cutoff, value in (score.recall or {}).items()},
        "ndcg": score.ndcg,
    }


def _ranking_facts(ranking: Ranking) -> Document:
    return {
        "documents": [_document_facts(document) for document in ranking.documents],
        "returned": ranking.returned,
        "surplus": ranking.surplus,
        "repeated": ranking.repeated,
        "below_min_score": ranking.below_min_score,
    }


def _document_facts(document: RetrievedDocument) -> Document:
    return {"id": document.id, "score": document.score, "text": document.text}


def class_drop_facts(drops: Sequence[ClassDrop]) -> list[Document]:
    """Describe how hard classes moved; a drop is before minus after."""
    return [
        {
            "class": drop.name,
            "cutoff": drop.cutoff,
            "questions": drop.questions,
            "before": float(drop.before),
            "after": float(drop.after),
            "drop": float(drop.drop),
            "is_gated": drop.is_gated,
        }
        for drop in drops
    ]


def rank_change_facts(changes: Sequence[RankChange]) -> list[Document]:
    """Describe the questions lost and won."""
    return [
        {
            "id": change.prompt_id,
            "is_lost": change.is_lost,
            "before": change.before,
            "after": change.after,
        }
        for change in changes
    ]


def reply_document(reply: RetrieverReply) -> Document:
    """Describe what a retriever returned to a question that is in no set."""
    latency = reply.ranking.latency_ms
    return {
        "schema_version": SCHEMA_VERSION,
        "retriever": reply.retriever,
        "question": reply.question,
        "latency_ms": None if latency is None else round(latency, 3),
        "ranking": {
            **_ranking_facts(reply.ranking),
            "documents": [
                {**_document_facts(one), "text": reply.passages.get(one.id, one.text)}
                for one in reply.ranking.documents
            ],
        },
        "notes": list(reply.notes),
    }
