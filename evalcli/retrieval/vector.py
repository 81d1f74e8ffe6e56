"""Nearest vectors over a corpus: embeddings from any model, exact search with numpy.

The score is the cosine of question and passage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from evalcli.declarations.retriever import VectorEntry
from evalcli.errors import ConfigurationError, ProviderReplyError
from evalcli.protocols import RetrieverSetup
from evalcli.records import RetrievedDocument
from evalcli.retrieval.corpus import find_texts, open_corpus
from evalcli.retrieval.vector_store import Vectors, VectorStore, text_key

_SHARD_TEXTS: Final = 1024


class Vector:
    """The retriever `type: vector`."""

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, VectorEntry):
            raise TypeError(f"a vector retriever cannot be made from a {type(entry).__name__}")
        if setup.embedder is None:
            raise ConfigurationError(
                f'retriever "{setup.name}": nothing embeds texts with model "{entry.model}"',
                advice="declare the model with a provider and the capability `embedding`",
            )
        self._name = setup.name
        self._embedder = setup.embedder
        self._batch = min(entry.batch, setup.embedder.batch_size)
        self._corpus = open_corpus(entry.corpus, setup.root)
        self._cache = setup.cache / "vectors"
        self._ids: list[str] = []
        self._matrix: Vectors | None = None

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions; the model is the embedder's identity."""
        return {
            "corpus": self._corpus.revision,
            "chunking": self._corpus.chunking,
            "model": self._embedder.identity,
            "pipeline": "exact cosine",
        }

    @property
    def notes(self) -> Sequence[str]:
        """What was left out of the corpus."""
        return self._corpus.notes

    @property
    def document_ids(self) -> Collection[str]:
        """All document ids."""
        if self._ids:
            return frozenset(self._ids)
        return frozenset(one.document_id for one in self._corpus.read_passages())

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find passages to show."""
        return find_texts(self._corpus, document_ids, question)

    async def prepare(self) -> None:
        """Embed what is not stored yet, and put all vectors in one matrix."""
        if self._matrix is not None:
            return
        store = VectorStore(self._cache, self._embedder.identity)
        ids, keys, missing = [], [], dict[bytes, str]()
        for passage in self._corpus.read_passages():
            body = passage.body
            if not body.strip():
                continue
            key = text_key(body)
            ids.append(passage.document_id)
            keys.append(key)
            if key not in store:
                missing[key] = body
            if len(missing) >= _SHARD_TEXTS:
                await self._embed_into(store, missing)
                missing.clear()
        await self._embed_into(store, missing)
        if not keys:
            raise ConfigurationError(f'retriever "{self._name}": the corpus holds no text')
        self._ids, self._matrix = ids, _normalize(store.gather(keys))

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Rank all passages by cosine; ties by order in the corpus."""
        await self.prepare()
        matrix = self._matrix
        if matrix is None or not question.strip():
            return []
        vector = _normalize(await self._embed([question]))[0]
        if vector.shape[0] != matrix.shape[1]:
            raise self._reply_error(
                f"gave a vector of {vector.shape[0]} numbers, those of the corpus have "
                f"{matrix.shape[1]}"
            )
        scores = matrix @ vector
        return [
            RetrievedDocument(self._ids[place], float(scores[place]))
            for place in _best(scores, limit)
        ]

    async def aclose(self) -> None:
        """Close the embedder."""
        self._matrix = None
        await self._embedder.aclose()

    async def _embed_into(self, store: VectorStore, texts: Mapping[bytes, str]) -> None:
        keys = list(texts)
        parts = [await self._embed([texts[key] for key in group]) for group in self._groups(keys)]
        if not parts:
            return
        dimensions = {part.shape[1] for part in parts} | {store.dimension or parts[0].shape[1]}
        if len(dimensions) > 1:
            raise self._reply_error("gave vectors of different lengths")
        store.add(keys, np.concatenate(parts))

    def _groups(self, keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        for start in range(0, len(keys), self._batch):
            yield keys[start : start + self._batch]

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        given = await self._embedder.embed(texts)
        try:
            vectors = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError):
            raise self._reply_error("gave vectors that are no lists of numbers") from None
        if vectors.ndim != 2 or vectors.shape[0] != len(texts) or not vectors.shape[1]:
            raise self._reply_error(f"gave no vector for each of {len(texts)} texts")
        if not np.isfinite(vectors).all():
            raise self._reply_error("gave a vector with a number that is not finite")
        return vectors

    def _reply_error(self, message: str) -> ProviderReplyError:
        return ProviderReplyError(self._name, f"{self._name}: the embedding model {message}")


def _normalize(vectors: Vectors) -> Vectors:
    """Scale rows to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def _best(scores: Vectors, limit: int) -> list[int]:
    """Find the places of the highest scores, best first, ties by place."""
    count = min(limit, len(scores))
    if count < len(scores):
        lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero(scores >= lowest)
    else:
        places = np.arange(len(scores))
    order = np.argsort(-scores[places], kind="stable")
    chosen: list[int] = places[order][:count].tolist()
    return chosen
