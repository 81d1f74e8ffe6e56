"""One ranking of documents, and how it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """One result of a retriever.

    `score` is the retriever's own, larger is better, in no common unit; None where it gives none.
    `text` is a passage to show to people; it is never scored.
    """

    id: str
    score: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a retriever answered to one question, ready to be scored.

    `documents` holds distinct documents, best first, at most as many as the largest cutoff.
    `returned` counts the raw results, `surplus` those beyond the limit that was asked for,
    `repeated` those whose document stood there already, `below_min_score` those cut by score.
    Units: `latency_ms` in milliseconds.
    """

    documents: tuple[RetrievedDocument, ...]
    returned: int
    surplus: int = 0
    repeated: int = 0
    below_min_score: int = 0
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class RetrieverReply:
    """What a retriever returned to a question that is in no set, for a person to look at.

    `passages` maps the documents whose text is at hand to a piece of it.
    """

    retriever: str
    question: str
    ranking: Ranking
    passages: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """How one ranking did against the labels of its question.

    `first_hit` is the rank, from 1, of the first expected document within the largest cutoff.
    `recall` maps each cutoff to a value in 0..1; it, `reciprocal_rank` and `ndcg` are None for a
    question that nothing answers. `returned` counts the distinct documents that were scored,
    `expected` names those that answer the question, best first.
    """

    form: str
    hard_class: str | None
    is_answerable: bool
    first_hit: int | None
    returned: int
    reciprocal_rank: float | None = None
    recall: Mapping[int, float] | None = None
    ndcg: float | None = None
    expected: tuple[str, ...] = ()

    def is_hit(self, cutoff: int) -> bool:
        """Whether an expected document is among the first `cutoff`.

        Where nothing answers the question: whether nothing was returned.
        """
        if not self.is_answerable:
            return self.returned == 0
        return self.first_hit is not None and self.first_hit <= cutoff
