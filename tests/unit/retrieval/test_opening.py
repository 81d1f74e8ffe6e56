"""Retrievers as opened from a workspace: names, plug-ins, time, turns, provenance, checks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evalcli.declarations.retriever import PythonEntry, RetrieverEntry, parse_retriever_entry
from evalcli.errors import ConfigurationError, ProviderTimeoutError, UsageError
from evalcli.records import RetrievedDocument
from evalcli.retrieval.opening import (
    BUILTIN_RETRIEVERS,
    OpenRetriever,
    RetrieverRoom,
    builtin_root,
    open_retriever,
)
from tests.support.retrieval import (
    CUTOFFS,
    make_entries,
    make_question,
    open_declared,
    write_documents,
)


class ScriptedRetriever:
    """Answers what it was told to."""

    provenance: Mapping[str, str] = {"corpus": "r1", "model": "m1"}

    def __init__(self, answer: Sequence[object] | Exception = ("doc-a",)) -> None:
        self.answer = answer
        self.limits: list[int] = []
        self.in_flight = self.peak = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument | str]:
        self.limits.append(limit)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(0)
        await self.gate.wait()
        self.in_flight -= 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # what a plug-in may do

    async def aclose(self) -> None:
        pass


def entry(**options: object) -> RetrieverEntry:
    return parse_retriever_entry({"type": "acme", **options})


def opened(retriever: ScriptedRetriever, **options: object) -> OpenRetriever:
    return OpenRetriever("site", entry(**options), retriever)


@pytest.mark.anyio
async def test_four_raw_results_a_place_are_asked_for() -> None:
    retriever = ScriptedRetriever()

    await opened(retriever).ask(make_question(), (1, 3, 10))

    assert retriever.limits == [40]


@pytest.mark.anyio
async def test_several_passages_of_one_document_do_not_push_another_out() -> None:
    retriever = ScriptedRetriever(["doc-terms"] * 3 + ["doc-refund", "doc-home"])

    result = await opened(retriever).ask(make_question(), CUTOFFS)

    assert result.ranking is not None
    assert [one.id for one in result.ranking.documents] == ["doc-terms", "doc-refund", "doc-home"]
    assert result.ranking.repeated == 2


@pytest.mark.anyio
async def test_the_latency_is_measured() -> None:
    times = iter([10.0, 10.25])
    retriever = OpenRetriever("site", entry(), ScriptedRetriever(), clock=lambda: next(times))

    result = await retriever.ask(make_question(), CUTOFFS)

    assert result.ranking is not None
    assert result.ranking.latency_ms == result.latency_ms == 250.0


@pytest.mark.anyio
async def test_a_result_that_is_no_document_is_unmeasured() -> None:
    result = await opened(ScriptedRetriever(["a", 7])).ask(make_question(), CUTOFFS)

    assert result.ranking is None
    assert str(result.error) == (
        "site: result 2 is of type int where a document id, a text, is needed"
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "returned nothing"), ("abc", "type str"), ({"a": 1}, "type dict"), (iter(()), "type ")],
    ids=["none", "text", "mapping", "iterator"],
)
@pytest.mark.anyio
async def test_a_plug_in_that_returns_no_list_is_unmeasured(answer: object, said: str) -> None:
    retriever = ScriptedRetriever()
    retriever.answer = answer  # type: ignore[assignment]  # what a plug-in may do

    result = await opened(retriever).ask(make_question(), CUTOFFS)

    assert result.ranking is None
    assert said in str(result.error)
    assert "instead of a list of documents" in str(result.error)


@pytest.mark.anyio
async def test_a_plug_in_that_raises_is_unmeasured() -> None:
    result = await opened(ScriptedRetriever(KeyError("x"))).ask(make_question(), CUTOFFS)

    assert result.ranking is None
    assert str(result.error) == "site failed: KeyError: 'x'"


@pytest.mark.anyio
async def test_a_plug_in_that_ends_the_process_is_unmeasured() -> None:
    retriever = ScriptedRetriever()
    retriever.answer = SystemExit(0)  # type: ignore[assignment]  # what a plug-in may do

    result = await opened(retriever).ask(make_question(), CUTOFFS)

    assert str(result.error) == "site failed: SystemExit: 0"


@pytest.mark.anyio
async def test_a_bug_of_ours_is_not_taken_for_an_outage() -> None:
    ours = PythonEntry(type="python", callable="a:b")
    retriever = OpenRetriever("site", ours, ScriptedRetriever(KeyError("x")))

    with pytest.raises(KeyError):
        await retriever.ask(make_question(), CUTOFFS)


@pytest.mark.anyio
async def test_one_that_hangs_is_unmeasured() -> None:
    hanging = ScriptedRetriever()
    hanging.gate.clear()

    result = await opened(hanging, timeout_s=0.01).ask(make_question(), CUTOFFS)

    assert isinstance(result.error, ProviderTimeoutError)
    assert str(result.error) == "site did not answer within 0.01 s"


@pytest.mark.anyio
async def test_no_more_are_asked_at_once_than_declared() -> None:
    retriever = ScriptedRetriever()
    site = opened(retriever, concurrency=3)

    await asyncio.gather(*(site.ask(make_question(f"q{n}"), CUTOFFS) for n in range(20)))

    assert retriever.peak == 3


class BackwardRetriever(ScriptedRetriever):
    """Answers the last question first."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self._waiting: list[asyncio.Event] = []
        self._questions = questions

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument | str]:
        turn = asyncio.Event()
        self._waiting.append(turn)
        if len(self._waiting) == self._questions:
            turn.set()
        await turn.wait()
        self._waiting.pop()
        if self._waiting:
            self._waiting[-1].set()
        return [f"answer to {question}"]


@pytest.mark.anyio
async def test_answers_out_of_order_belong_to_their_questions() -> None:
    questions = [make_question(f"q{number}", question=f"{number}?") for number in range(8)]
    site = opened(BackwardRetriever(len(questions)))

    results = await asyncio.gather(*(site.ask(one, CUTOFFS) for one in questions))

    assert [result.ranking and result.ranking.documents[0].id for result in results] == [
        f"answer to {number}?" for number in range(8)
    ]


def test_declared_revisions_take_precedence() -> None:
    site = opened(ScriptedRetriever(), revisions={"model": "m2", "pipeline": "p"})

    assert site.provenance == {"corpus": "r1", "model": "m2", "pipeline": "p"}


def test_the_benchmark_has_the_corpus_revision() -> None:
    assert opened(ScriptedRetriever()).benchmark_corpus == "r1"


def test_a_corpus_change_can_be_compared() -> None:
    first = opened(ScriptedRetriever(), corpus_change="compare")
    second = opened(ScriptedRetriever(), corpus_change="compare", revisions={"corpus": "r2"})

    assert first.benchmark_corpus == second.benchmark_corpus


def test_expected_documents_outside_the_corpus_are_named_before_the_run(tmp_path: Path) -> None:
    write_documents(tmp_path, {"doc-a": "text"})
    site = open_declared(tmp_path, {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}})
    questions = [make_question("q1"), make_question("q2", expected=("doc-a", "gone"))]

    assert site.check_questions(questions) == (
        '1 question expects a document that is not in the corpus: "gone" (q2)',
    )


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    room = RetrieverRoom(tmp_path, tmp_path, {})

    with pytest.raises(UsageError, match=r'unknown retriever "nr\.lexcal".*write "nr\.lexical"'):
        open_retriever("nr.lexcal", {}, room)


def test_an_unknown_type_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'unknown type "lexcial".*write "lexical"'):
        open_declared(tmp_path, {"type": "lexcial"})


def test_a_workspace_can_take_over_a_built_in_name(tmp_path: Path) -> None:
    write_documents(tmp_path, {"mine": "text"})
    entries = make_entries({"nr.lexical": {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}}})

    site = open_retriever("nr.lexical", entries, RetrieverRoom(tmp_path, tmp_path / "cache", {}))

    assert site.document_ids == {"mine"}


def test_the_built_in_retriever_reads_the_manual() -> None:
    assert set(BUILTIN_RETRIEVERS) == {"nr.lexical"}
    assert (builtin_root() / "docs").is_dir()
