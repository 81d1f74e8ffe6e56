"""What every built-in retriever must do, and the fakes of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalcli.plugins import BUILTIN, load_retriever
from evalcli.protocols import Retriever
from evalcli.records import RetrievedDocument
from evalcli.retrieval.opening import OpenRetriever
from evalcli.retrieval.scoring import check_cutoffs
from tests.support.retrieval import make_question, open_declared, write_documents
from tests.support.server import ScriptedServer

DOCUMENTS = {
    "234_0": "opening hours of the office",
    "007": "parking permit for residents",
    "1e3": "garbage collection on fridays",
}
QUESTION = make_question("q1", question="When is garbage collection?", expected=("1e3",))
CORPUS = {"jsonl": "corpus.jsonl"}


@dataclass(frozen=True, slots=True)
class Site:
    """A folder with a corpus, and a search service."""

    root: Path
    server: ScriptedServer


def lexical(site: Site) -> OpenRetriever:
    return open_declared(site.root, {"type": "lexical", "corpus": CORPUS, "language": "english"})


def vector(site: Site) -> OpenRetriever:
    return open_declared(site.root, {"type": "vector", "corpus": CORPUS, "model": "wordllama"})


def hybrid(site: Site) -> OpenRetriever:
    others = {
        "words": {"type": "lexical", "corpus": CORPUS, "language": "english"},
        "vectors": {"type": "vector", "corpus": CORPUS, "model": "wordllama"},
    }
    return open_declared(
        site.root, {"type": "hybrid", "parts": ["words", "vectors"]}, others=others
    )


def http(site: Site) -> OpenRetriever:
    site.server.reply(body={"documents": [{"id": "1e3", "score": 2.5}, "007"]}, repeat=True)
    return open_declared(
        site.root, {"type": "http", "url": f"{site.server.url}/retrieve", "corpus": CORPUS}
    )


def python(site: Site) -> OpenRetriever:
    code = "def retrieve(question, limit): return ['1e3', '007', '1e3'][:limit]\n"
    (site.root / "contract_site.py").write_text(code, encoding="utf-8")
    entry = {"type": "python", "callable": "contract_site:retrieve", "corpus": CORPUS}
    return open_declared(site.root, entry)


def run_file(site: Site) -> OpenRetriever:
    (site.root / "run.trec").write_text("q1 Q0 1e3 1 2.5 x\nq1 Q0 007 2 2 x\n", encoding="utf-8")
    return open_declared(site.root, {"type": "run_file", "path": "run.trec", "corpus": CORPUS})


OPENERS: dict[str, Callable[[Site], OpenRetriever]] = {
    "lexical": lexical,
    "vector": vector,
    "hybrid": hybrid,
    "http": http,
    "python": python,
    "run_file": run_file,
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    write_documents(tmp_path, DOCUMENTS)
    with ScriptedServer() as server:
        yield Site(tmp_path, server)


def test_every_built_in_kind_is_under_contract() -> None:
    assert set(OPENERS) == set(BUILTIN["retrievers"])


@pytest.mark.parametrize("kind", OPENERS)
def test_it_is_loaded_by_its_name(kind: str) -> None:
    assert callable(load_retriever(kind))


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_it_keeps_the_protocol(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)

    assert isinstance(opened.retriever, Retriever)
    await opened.aclose()


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_it_finds_the_right_document_first(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)
    await opened.prepare()

    result = await opened.ask(QUESTION, check_cutoffs([1, 3]))
    await opened.aclose()

    assert result.ranking is not None, result.error
    ids = [document.id for document in result.ranking.documents]
    assert ids[0] == "1e3"
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_results_are_documents_of_the_corpus(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)

    result = await opened.ask(QUESTION, check_cutoffs([1]))
    await opened.aclose()

    assert result.ranking is not None
    assert all(isinstance(one, RetrievedDocument) for one in result.ranking.documents)
    assert {one.id for one in result.ranking.documents} <= set(opened.document_ids or ())


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_it_knows_the_corpus_revision(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)
    before = opened.benchmark_corpus
    await opened.aclose()
    write_documents(site.root, {**DOCUMENTS, "new": "another document"})
    changed = OPENERS[kind](site)
    await changed.aclose()

    assert before is not None
    assert changed.benchmark_corpus != before


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_it_answers_the_same_twice(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)

    results = [await opened.ask(QUESTION, check_cutoffs([1, 3])) for _ in range(2)]
    await opened.aclose()

    rankings = [result.ranking.documents for result in results if result.ranking is not None]
    assert len(rankings) == 2
    assert rankings[0] == rankings[1]


@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.anyio
async def test_passages_can_be_shown(kind: str, site: Site) -> None:
    opened = OPENERS[kind](site)
    shown = opened.find_texts(["007"])
    await opened.aclose()

    assert shown == {"007": DOCUMENTS["007"]}
