"""Reciprocal rank fusion, pure and over declared parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evalcli.declarations.retriever import parse_retriever_entry
from evalcli.errors import ConfigurationError, UsageError
from evalcli.protocols import RetrieverPart, RetrieverSetup
from evalcli.records import RetrievedDocument
from evalcli.retrieval.hybrid import Hybrid, fuse_rankings
from evalcli.retrieval.opening import OpenRetriever
from tests.support.retrieval import CUTOFFS, make_question, open_declared, write_documents

LEXICAL = {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}}
HYBRID = {"type": "hybrid", "parts": ["one", "two"]}


def test_a_document_gets_the_sum_of_its_reciprocal_ranks() -> None:
    fused = {one.id: one.score for one in fuse_rankings([["a", "b"], ["b", "c"]], limit=10)}

    assert list(fused) == ["b", "a", "c"]
    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)
    assert (fused["a"], fused["c"]) == (1 / 61, 1 / 62)


def test_ties_keep_the_order_of_the_parts() -> None:
    fused = fuse_rankings([["a", "b"], ["c", "d"]], limit=3)

    assert [one.id for one in fused] == ["a", "c", "b"]


def test_nothing_fused_is_nothing() -> None:
    assert fuse_rankings([[], []], limit=5) == []


def open_hybrid(
    root: Path, one: Mapping[str, object], two: Mapping[str, object], **options: object
) -> OpenRetriever:
    return open_declared(root, {**HYBRID, **options}, others={"one": one, "two": two})


async def ids_of(retriever: OpenRetriever, question: str) -> list[str]:
    result = await retriever.show(question, 10)
    assert result.ranking is not None, result.error
    return [document.id for document in result.ranking.documents]


def write_run(root: Path, name: str, *rows: str) -> None:
    lines = [f"q1 Q0 {one} {rank} {100 - rank} x\n" for rank, one in enumerate(rows, start=1)]
    (root / name).write_text("".join(lines), encoding="utf-8")


@pytest.mark.anyio
async def test_parts_are_asked_and_fused(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "red", "b": "red green", "c": "green"})

    retriever = open_hybrid(tmp_path, LEXICAL, {**LEXICAL, "language": "english"})

    assert set(await ids_of(retriever, "red green")) == {"a", "b", "c"}
    assert (await ids_of(retriever, "red green"))[0] == "b"


@pytest.mark.anyio
async def test_run_files_are_fused_by_question_id(tmp_path: Path) -> None:
    write_run(tmp_path, "one.trec", "a", "b", "b", "c")
    write_run(tmp_path, "two.trec", "c", "b")
    retriever = open_hybrid(
        tmp_path,
        {"type": "run_file", "path": "one.trec"},
        {"type": "run_file", "path": "two.trec"},
    )

    result = await retriever.ask(make_question("q1"), CUTOFFS)

    assert result.ranking is not None
    assert [document.id for document in result.ranking.documents] == ["c", "b", "a"]


@pytest.mark.anyio
async def test_the_min_score_of_a_part_counts_before_fusion(tmp_path: Path) -> None:
    write_run(tmp_path, "one.trec", "a", "b")
    write_run(tmp_path, "two.trec", "c")
    retriever = open_hybrid(
        tmp_path,
        {"type": "run_file", "path": "one.trec", "min_score": 98.5},
        {"type": "run_file", "path": "two.trec"},
    )

    result = await retriever.ask(make_question("q1"), CUTOFFS)

    assert result.ranking is not None
    assert [document.id for document in result.ranking.documents] == ["a", "c"]


@pytest.mark.anyio
async def test_a_part_that_fails_makes_the_question_unmeasured(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "red"})
    write_run(tmp_path, "one.trec", "a")

    retriever = open_hybrid(tmp_path, LEXICAL, {"type": "run_file", "path": "one.trec"})
    result = await retriever.show("red", 5)

    assert result.ranking is None
    assert "knows questions by id" in str(result.error)


class PlugIn:
    """A retriever of a package, at its worst."""

    provenance: Mapping[str, str] = {}

    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # what a plug-in may do

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (KeyError("x"), "two failed: KeyError: 'x'"),
        (None, "two: returned nothing"),
        ([7], "two: result 1 is of type int"),
    ],
    ids=["raises", "none", "number"],
)
@pytest.mark.anyio
async def test_a_plug_in_as_a_part_makes_its_question_unmeasured(
    tmp_path: Path, answer: object, said: str
) -> None:
    acme = parse_retriever_entry({"type": "acme"})
    parts = {
        name: RetrieverPart(acme, PlugIn(given))
        for name, given in (("one", ["a"]), ("two", answer))
    }
    entry = parse_retriever_entry(HYBRID)
    hybrid = Hybrid(RetrieverSetup("both", entry, root=tmp_path, cache=tmp_path, parts=parts))

    result = await OpenRetriever("both", entry, hybrid).show("x", 5)

    assert result.ranking is None
    assert said in str(result.error)


def test_one_corpus_is_one_revision(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "red"})

    retriever = open_hybrid(tmp_path, LEXICAL, {**LEXICAL, "language": "german"})

    assert retriever.provenance["corpus"].startswith("sha256:")
    assert retriever.provenance["pipeline"].startswith("reciprocal rank fusion k=60 of one, two")


def test_two_corpora_are_both_named(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "red"})

    other = {**LEXICAL, "revisions": {"corpus": "r41"}}
    provenance = open_hybrid(tmp_path, LEXICAL, other).provenance

    assert provenance["corpus"].startswith("one: sha256:")
    assert provenance["corpus"].endswith("; two: r41")


def test_a_part_without_a_corpus_revision_leaves_none(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "red"})
    write_run(tmp_path, "one.trec", "a")

    retriever = open_hybrid(tmp_path, LEXICAL, {"type": "run_file", "path": "one.trec"})

    assert "corpus" not in retriever.provenance
    assert retriever.document_ids is None


def test_an_unknown_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'unknown retriever "one"'):
        open_declared(tmp_path, HYBRID)


def test_parts_of_one_another_are_refused(tmp_path: Path) -> None:
    others = {"one": {"type": "hybrid", "parts": ["site", "two"]}, "two": LEXICAL}

    with pytest.raises(ConfigurationError, match="site → one → site"):
        open_declared(tmp_path, HYBRID, others=others)
