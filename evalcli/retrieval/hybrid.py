"""Reciprocal rank fusion: several rankings of one question become one.

Source: Cormack, Clarke & Büttcher (2009), Reciprocal Rank Fusion outperforms Condorcet and
individual Rank Learning Methods, with k = 60. It gains where the parts are about equally good, and
loses where one is weak, so look at the parts beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from evalcli.declarations.retriever import HybridEntry
from evalcli.errors import ConfigurationError, ProviderReplyError
from evalcli.protocols import (
    CorpusRetriever,
    LabelledRetriever,
    PreparedRetriever,
    RetrieverPart,
    RetrieverSetup,
)
from evalcli.records import RetrievedDocument
from evalcli.retrieval.asking import ask_once
from evalcli.retrieval.scoring import ResultFaultError, rank_documents


def fuse_rankings(
    rankings: Sequence[Sequence[str]], *, k: int = 60, limit: int
) -> list[RetrievedDocument]:
    """Fuse rankings: each document gets the sum of 1 / (k + rank) over the rankings it is in.

    Shapes: each ranking holds distinct ids, best first. Ties keep the order in which the documents
    first came up, the first ranking first.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, identifier in enumerate(ranking, start=1):
            scores[identifier] = scores.get(identifier, 0.0) + 1 / (k + rank)
    best = sorted(scores.items(), key=lambda item: -item[1])[:limit]
    return [RetrievedDocument(identifier, score) for identifier, score in best]


class Hybrid:
    """The retriever `type: hybrid`."""

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, HybridEntry):
            raise TypeError(f"a hybrid retriever cannot be made from a {type(entry).__name__}")
        missing = [name for name in entry.parts if name not in setup.parts]
        if missing:
            raise ConfigurationError(f'retriever "{setup.name}" lacks its part "{missing[0]}"')
        self._parts = {name: setup.parts[name] for name in entry.parts}
        self._k = entry.k

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions of all parts; without a corpus revision where one part has none."""
        found: dict[str, dict[str, str]] = {}
        for name, part in self._parts.items():
            for kind, revision in _revisions_of(part).items():
                found.setdefault(kind, {})[name] = revision
        joined = {
            kind: next(iter(by_part.values()))
            if len(set(by_part.values())) == 1 and len(by_part) == len(self._parts)
            else "; ".join(f"{name}: {revision}" for name, revision in by_part.items())
            for kind, by_part in found.items()
            if kind != "corpus" or len(by_part) == len(self._parts)
        }
        fusion = f"reciprocal rank fusion k={self._k} of {', '.join(self._parts)}"
        parts = joined.get("pipeline")
        return {**joined, "pipeline": f"{fusion}; {parts}" if parts else fusion}

    @property
    def notes(self) -> Sequence[str]:
        """What the parts say of their corpora, each once."""
        said = [note for part in self._corpus_parts() for note in part.notes]
        return list(dict.fromkeys(said))

    @property
    def document_ids(self) -> Collection[str] | None:
        """The documents of all parts; None where one part's are not known."""
        known = [part.document_ids for part in self._corpus_parts()]
        if len(known) < len(self._parts) or any(ids is None for ids in known):
            return None
        return frozenset(one for ids in known if ids is not None for one in ids)

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find passages to show, in the first part that has them."""
        found: dict[str, str] = {}
        for part in self._corpus_parts():
            missing = [one for one in document_ids if one not in found]
            if missing:
                found.update(part.find_texts(missing, question))
        return found

    async def prepare(self) -> None:
        """Prepare all parts."""
        for part in self._parts.values():
            if isinstance(part.retriever, PreparedRetriever):
                await part.retriever.prepare()

    @property
    def question_ids(self) -> Collection[str] | None:
        """The questions that all parts know; None where no part goes by ids."""
        known = [
            frozenset(part.retriever.question_ids)
            for part in self._parts.values()
            if isinstance(part.retriever, LabelledRetriever)
            and part.retriever.question_ids is not None
        ]
        return frozenset.intersection(*known) if known else None

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Ask all parts at once and fuse; one that fails fails the whole."""
        return await self._fuse(None, question, limit)

    async def retrieve_question(
        self, question_id: str, question: str, limit: int
    ) -> Sequence[RetrievedDocument]:
        """As `retrieve`; parts that go by the question's id are asked by it."""
        return await self._fuse(question_id, question, limit)

    async def _fuse(
        self, question_id: str | None, question: str, limit: int
    ) -> Sequence[RetrievedDocument]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_ask_part(name, part, question_id, question, limit))
                    for name, part in self._parts.items()
                ]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return fuse_rankings([task.result() for task in tasks], k=self._k, limit=limit)

    async def aclose(self) -> None:
        """Close all parts."""
        for part in self._parts.values():
            await part.retriever.aclose()

    def _corpus_parts(self) -> list[CorpusRetriever]:
        retrievers = [part.retriever for part in self._parts.values()]
        return [one for one in retrievers if isinstance(one, CorpusRetriever)]


async def _ask_part(
    name: str, part: RetrieverPart, question_id: str | None, question: str, limit: int
) -> list[str]:
    """Ask one part; its own `min_score` counts, and repeated documents count once."""
    floor = part.entry.min_score
    try:
        results = await ask_once(
            name, part.entry.type, part.retriever, question_id, question, limit
        )
        ranking = rank_documents(
            results,
            limit=limit,
            cutoff=limit,
            min_score=None if floor is None else float(floor),
        )
    except ResultFaultError as exc:
        raise ProviderReplyError(name, f"{name}: {exc}") from exc
    return [document.id for document in ranking.documents]


def _revisions_of(part: RetrieverPart) -> Mapping[str, str]:
    """What the part knows of itself, and what its entry says instead."""
    declared = part.entry.revisions.model_dump(exclude_none=True)
    return {**part.retriever.provenance, **declared}
