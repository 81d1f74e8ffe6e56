"""The model that comes in a package, really loaded."""

from __future__ import annotations

import math

import pytest

from evalcli.retrieval.embedding import open_packaged_embedder


def cosine(one: list[float], other: list[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


@pytest.mark.anyio
async def test_near_texts_have_near_vectors() -> None:
    embedder = open_packaged_embedder()

    cat, kitten, tax = await embedder.embed(["a cat", "a kitten", "income tax return"])

    assert len(cat) == 256
    assert cosine([*cat], [*kitten]) > cosine([*cat], [*tax])


@pytest.mark.anyio
async def test_capitals_alone_are_read_as_words() -> None:
    first, second = await open_packaged_embedder().embed(["INCOME TAX", "income tax"])

    assert first == second


@pytest.mark.anyio
async def test_odd_texts_do_no_harm() -> None:
    vectors = await open_packaged_embedder().embed([" ", "\ud800", "🙂", "x" * 10_000])

    assert all(math.isfinite(number) for vector in vectors for number in vector)


def test_the_identity_names_the_release() -> None:
    assert open_packaged_embedder().identity.startswith("wordllama ")
