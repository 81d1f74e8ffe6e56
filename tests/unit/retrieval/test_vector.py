"""Nearest vectors: ranking, the stored vectors, and embedders that misbehave."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.errors import ConfigurationError, ProviderReplyError, ProviderTimeoutError
from evalcli.retrieval.opening import OpenRetriever
from evalcli.retrieval.vector import _best
from evalcli.retrieval.vector_store import VectorStore, text_key
from tests.support.retrieval import open_declared, write_documents

ENTRY = {"type": "vector", "corpus": {"jsonl": "corpus.jsonl"}, "model": "letters"}
DOCUMENTS = {"a": "aaa", "b": "bbb", "ab": "ab", "none": " "}


class LetterEmbedder:
    """Counts of a, b and c: small enough to work out by hand."""

    identity = "letters v1"

    def __init__(self, *, batch_size: int = 2) -> None:
        self.batch_size = batch_size
        self.asked: list[tuple[str, ...]] = []
        self.is_closed = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(tuple(texts))
        return [[float(text.count(letter)) for letter in "abc"] for text in texts]

    async def aclose(self) -> None:
        self.is_closed = True


class BrokenEmbedder(LetterEmbedder):
    """Gives whatever it was told to."""

    def __init__(self, vectors: object) -> None:
        super().__init__()
        self._vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if isinstance(self._vectors, Exception):
            raise self._vectors
        return self._vectors  # type: ignore[return-value]  # what a model server may do


def open_vector(
    root: Path, embedder: LetterEmbedder | None = None, **options: object
) -> OpenRetriever:
    if not (root / "corpus.jsonl").exists():
        write_documents(root, DOCUMENTS)
    chosen = embedder if embedder is not None else LetterEmbedder()
    return open_declared(root, {**ENTRY, **options}, embedder_for=lambda _: chosen)


async def ids_of(retriever: OpenRetriever, question: str, limit: int = 10) -> list[str]:
    result = await retriever.show(question, limit)
    assert result.ranking is not None, result.error
    return [document.id for document in result.ranking.documents]


@pytest.mark.anyio
async def test_documents_are_ranked_by_cosine(tmp_path: Path) -> None:
    retriever = open_vector(tmp_path)

    assert await ids_of(retriever, "aab") == ["ab", "a", "b"]


@pytest.mark.anyio
async def test_the_score_is_the_cosine(tmp_path: Path) -> None:
    result = await open_vector(tmp_path).show("a", 1)

    assert result.ranking is not None
    assert result.ranking.documents[0].score == pytest.approx(1.0)


@pytest.mark.anyio
async def test_ties_keep_the_order_of_the_corpus(tmp_path: Path) -> None:
    write_documents(tmp_path, {f"d{number}": "a" * (number + 1) for number in range(8)})

    assert await ids_of(open_vector(tmp_path), "a", 3) == ["d0", "d1", "d2"]


@pytest.mark.anyio
async def test_an_empty_question_finds_nothing(tmp_path: Path) -> None:
    assert await ids_of(open_vector(tmp_path), "  ") == []


@pytest.mark.anyio
async def test_min_score_makes_an_empty_answer_possible(tmp_path: Path) -> None:
    assert await ids_of(open_vector(tmp_path, min_score=0.5), "c") == []


@pytest.mark.anyio
async def test_texts_are_embedded_in_batches_once(tmp_path: Path) -> None:
    first, second = LetterEmbedder(batch_size=2), LetterEmbedder()
    await open_vector(tmp_path, first).prepare()
    await open_vector(tmp_path, second).prepare()

    assert first.asked == [("aaa", "bbb"), ("ab",)]
    assert second.asked == []


@pytest.mark.anyio
async def test_a_document_that_was_added_is_embedded_alone(tmp_path: Path) -> None:
    await open_vector(tmp_path).prepare()
    write_documents(tmp_path, {**DOCUMENTS, "new": "cc"})
    embedder = LetterEmbedder()
    await open_vector(tmp_path, embedder).prepare()

    assert embedder.asked == [("cc",)]


@pytest.mark.anyio
async def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    await open_vector(tmp_path).prepare()
    other = LetterEmbedder()
    other.identity = "letters v2"
    await open_vector(tmp_path, other).prepare()

    assert other.asked


@pytest.mark.anyio
async def test_the_provenance_names_corpus_and_model(tmp_path: Path) -> None:
    provenance = open_vector(tmp_path).provenance

    assert provenance["model"] == "letters v1"
    assert provenance["corpus"].startswith("sha256:")


@pytest.mark.anyio
async def test_closing_closes_the_embedder(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    await open_vector(tmp_path, embedder).aclose()

    assert embedder.is_closed


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 0.0]], "no vector for each of 2 texts"),
        ([], "no vector for each of 2 texts"),
        ([[1.0], [1.0, 2.0]], "no lists of numbers"),
        ([["a", "b"], ["c", "d"]], "no lists of numbers"),
        ([[float("nan"), 0.0], [1.0, 0.0]], "not finite"),
        ("ab", "no lists of numbers"),
        ([[], []], "no vector for each"),
    ],
    ids=["fewer", "none", "ragged", "text", "nan", "one text", "empty"],
)
@pytest.mark.anyio
async def test_vectors_that_are_none_are_refused(
    tmp_path: Path, vectors: object, said: str
) -> None:
    with pytest.raises(ProviderReplyError, match=said):
        await open_vector(tmp_path, BrokenEmbedder(vectors)).prepare()


@pytest.mark.anyio
async def test_a_question_of_another_length_is_unmeasured(tmp_path: Path) -> None:
    await open_vector(tmp_path).prepare()

    result = await open_vector(tmp_path, BrokenEmbedder([[1.0, 2.0]])).show("a", 5)

    assert result.ranking is None
    assert "a vector of 2 numbers, those of the corpus have 3" in str(result.error)


@pytest.mark.anyio
async def test_an_embedder_that_fails_makes_the_question_unmeasured(tmp_path: Path) -> None:
    await open_vector(tmp_path).prepare()
    failing = BrokenEmbedder(ProviderTimeoutError("main", "main did not answer"))

    result = await open_vector(tmp_path, failing).show("a", 5)

    assert (result.ranking, str(result.error)) == (None, "main did not answer")


def test_a_model_that_nobody_embeds_with_is_refused(tmp_path: Path) -> None:
    write_documents(tmp_path, DOCUMENTS)

    with pytest.raises(ConfigurationError, match='nothing embeds texts with model "letters"'):
        open_declared(tmp_path, ENTRY)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 50))
def test_the_best_places_are_those_of_a_stable_sort(scores: list[int], limit: int) -> None:
    expected = sorted(range(len(scores)), key=lambda place: -scores[place])[:limit]

    assert _best(np.asarray(scores, dtype=np.float32), limit) == expected


# --- the store ---


def make_vectors(count: int, dimension: int = 3) -> np.ndarray:
    return np.arange(count * dimension, dtype=np.float32).reshape(count, dimension)


def test_vectors_come_back_as_they_were(tmp_path: Path) -> None:
    keys = [text_key("a"), text_key("b")]
    VectorStore(tmp_path, "m").add(keys, make_vectors(2))

    stored = VectorStore(tmp_path, "m")

    assert stored.gather(list(reversed(keys))).tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    assert stored.dimension == 3


@pytest.mark.parametrize("damage", [b"", b"PK", b"not a zip file at all"])
def test_damaged_vectors_are_left_out(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    key = text_key("a")
    VectorStore(tmp_path, "m").add([key], make_vectors(1))
    next(tmp_path.glob("*/*.npz")).write_bytes(damage)

    with caplog.at_level(logging.WARNING):
        assert key not in VectorStore(tmp_path, "m")
    assert "damaged" in caplog.text


def test_a_folder_that_cannot_be_written_only_costs_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "vectors").write_text("a file where a folder should be", encoding="utf-8")
    store, key = VectorStore(tmp_path / "vectors", "m"), text_key("a")

    with caplog.at_level(logging.WARNING):
        store.add([key], make_vectors(1))

    assert key in store
    assert "not kept" in caplog.text
