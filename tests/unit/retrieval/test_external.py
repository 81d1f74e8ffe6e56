"""Retrievers that are not ours, at their worst: HTTP services, Python functions, run files."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from evalcli.errors import ConfigurationError, DeclarationError, ProviderTimeoutError
from evalcli.retrieval.opening import OpenRetriever, RetrievalResult
from tests.support.retrieval import CUTOFFS, make_question, open_declared, write_documents
from tests.support.server import ScriptedServer


def ids_of(result: RetrievalResult) -> list[str]:
    assert result.ranking is not None, result.error
    return [document.id for document in result.ranking.documents]


# --- HTTP -----------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        yield scripted


def open_http(root: Path, server: ScriptedServer, **options: object) -> OpenRetriever:
    entry = {"type": "http", "url": f"{server.url}/retrieve?index=main", **options}
    return open_declared(root, entry, environ={"SEARCH_TOKEN": "Bearer token-0000"})


@pytest.mark.anyio
async def test_the_request_is_the_documented_one(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(body={"documents": []})
    retriever = open_http(
        tmp_path, server, headers={"Authorization": "env:SEARCH_TOKEN", "X-Tenant": "acme"}
    )

    await retriever.ask(make_question(question="Wo ist das Büro?"), CUTOFFS)
    await retriever.aclose()

    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/retrieve?index=main")
    assert request.body == {"question": "Wo ist das Büro?", "limit": 40}
    assert request.headers["authorization"] == "Bearer token-0000"
    assert request.headers["x-tenant"] == "acme"


@pytest.mark.anyio
async def test_what_to_do_about_a_refusal_is_about_a_search_and_no_model(
    tmp_path: Path, server: ScriptedServer
) -> None:
    server.reply(status=404, body={"error": "no"})
    retriever = open_http(tmp_path, server)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.error is not None
    assert result.error.advice == "check the retriever's url"


@pytest.mark.anyio
async def test_ids_scores_and_texts_come_through(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(body={"documents": [{"id": "007", "score": 2, "text": "Bond"}, {"id": "b"}, "c"]})
    retriever = open_http(tmp_path, server)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.ranking is not None
    first = result.ranking.documents[0]
    assert (first.id, first.score, first.text) == ("007", 2.0, "Bond")
    assert ids_of(result) == ["007", "b", "c"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], 'without a list "documents"'),
        ({}, 'without a list "documents"'),
        ({"documents": {"id": "a"}}, 'without a list "documents"'),
        ({"documents": [7]}, "result 1 has something of type int where its id"),
        ({"documents": ["a", {"id": 7}]}, "result 2 has something of type int where its id"),
        ({"documents": [{"score": 1}]}, "result 1 has nothing where its id"),
        ({"documents": [None]}, "result 1 has nothing where its id"),
        ({"documents": [{"id": "a", "score": "high"}]}, "where its score"),
        ({"documents": [{"id": "a", "text": 7}]}, "where its text"),
        ({"documents": [""]}, "result 1 has an empty document id"),
        ({"documents": [{"id": "a", "score": 10**400}]}, "a score that is too large"),
    ],
)
@pytest.mark.anyio
async def test_a_reply_that_is_no_ranking_is_unmeasured(
    tmp_path: Path, server: ScriptedServer, body: object, said: str
) -> None:
    server.reply(body=body)
    retriever = open_http(tmp_path, server)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.ranking is None
    assert said in str(result.error)


@pytest.mark.anyio
async def test_an_outage_that_passes_is_tried_again(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(status=503, headers={"Retry-After": "0"})
    server.reply(body={"documents": ["a"]})
    retriever = open_http(tmp_path, server)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert ids_of(result) == ["a"]
    assert len(server.requests) == 2


@pytest.mark.anyio
async def test_an_outage_that_stays_is_unmeasured(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(status=503, headers={"Retry-After": "0"}, repeat=True)
    retriever = open_http(tmp_path, server, tries=2)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.error is not None
    assert (result.error.status, result.error.tries) == (503, 2)


@pytest.mark.anyio
async def test_a_wrong_request_is_tried_once(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(status=401, body={"error": "no"}, repeat=True)
    retriever = open_http(tmp_path, server)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.error is not None
    assert len(server.requests) == 1


@pytest.mark.anyio
async def test_a_server_that_dies_is_unmeasured(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(failure="reset", repeat=True)
    retriever = open_http(tmp_path, server, tries=1)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert result.ranking is None
    assert result.error is not None


@pytest.mark.anyio
async def test_a_server_that_hangs_is_unmeasured(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(failure="timeout", repeat=True)
    retriever = open_http(tmp_path, server, timeout_s=0.2, tries=1)

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert isinstance(result.error, ProviderTimeoutError)


@pytest.mark.anyio
async def test_a_secret_is_in_no_error(tmp_path: Path, server: ScriptedServer) -> None:
    server.reply(status=400, body={"error": "bad token-0000"})
    retriever = open_http(tmp_path, server, headers={"Authorization": "env:SEARCH_TOKEN"})

    result = await retriever.show("x", 5)
    await retriever.aclose()

    assert "token-0000" not in str(result.error)


def test_a_secret_that_is_not_set_is_named(tmp_path: Path, server: ScriptedServer) -> None:
    with pytest.raises(ConfigurationError, match="SEARCH_KEY is not set"):
        open_http(tmp_path, server, headers={"X-Key": "env:SEARCH_KEY"})


def test_plain_http_to_the_world_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="plain HTTP"):
        open_declared(tmp_path, {"type": "http", "url": "http://search.example/ask"})


# --- Python ---------------------------------------------------------------------------------------


def open_python(root: Path, code: str, *, module: str, **options: object) -> OpenRetriever:
    (root / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
    entry = {"type": "python", "callable": f"{module}:retrieve", **options}
    return open_declared(root, entry)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def retrieve(question, limit): return ['a', 'b']", ["a", "b"]),
        ("async def retrieve(question, limit): return ['a']", ["a"]),
        ("def retrieve(question, limit): return ({'id': one} for one in 'ab')", ["a", "b"]),
        ("def retrieve(question, limit): return [question, str(limit)]", ["x", "20"]),
        ("def retrieve(question, limit): return []", []),
        (
            "import itertools\n"
            "def retrieve(question, limit): return (str(n) for n in itertools.count())",
            ["0", "1", "2", "3", "4"],
        ),
        (
            "class Site:\n"
            "    async def __call__(self, question, limit): return ['a']\n"
            "retrieve = Site()",
            ["a"],
        ),
    ],
    ids=["plain", "async", "mappings", "arguments", "none", "endless", "async object"],
)
@pytest.mark.anyio
async def test_a_function_is_called(
    tmp_path: Path, request: pytest.FixtureRequest, code: str, expected: list[str]
) -> None:
    module = f"site_{abs(hash(request.node.name))}"

    result = await open_python(tmp_path, code, module=module).show("x", 5)

    assert ids_of(result) == expected


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no index')", "site failed: ValueError: no index"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise StopIteration", "StopIteration"),
        ("return None", "returned nothing instead of a list"),
        ("return 'abc'", "instead of a list"),
        ("return {'a': 1}", "instead of a list"),
        ("return ['a', 7]", "result 2 has something of type int"),
        ("return [None]", "result 1 has nothing"),
        ("return [{'id': 'a', 'score': 10**400}]", "result 1 has a score that is too large"),
        ("return [{'id': 'a', 'score': '1'}]", "result 1 has something of type str"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()", "failed: Odd"),
        ("raise ValueError('line\\nbreak ' + 'x' * 500)", "line break xxx"),
    ],
)
@pytest.mark.anyio
async def test_a_function_that_misbehaves_is_unmeasured(
    tmp_path: Path, request: pytest.FixtureRequest, body: str, said: str
) -> None:
    module = f"bad_{abs(hash(request.node.name))}"

    retriever = open_python(tmp_path, f"def retrieve(question, limit): {body}", module=module)
    result = await retriever.show("x", 5)

    assert result.ranking is None
    assert said in str(result.error)
    assert len(str(result.error)) < 300


@pytest.mark.anyio
async def test_what_is_no_document_but_looks_like_one_is_unmeasured(tmp_path: Path) -> None:
    code = """\
        from evalcli.records import RetrievedDocument

        def retrieve(question, limit):
            return [RetrievedDocument(*{"score": ("a", 10**400), "text": ("a", 1.0, 5)}[question])]
    """
    retriever = open_python(tmp_path, code, module="odd_documents")

    results = [await retriever.show(question, 5) for question in ("score", "text")]

    assert [str(result.error).split(": ")[-1] for result in results] == [
        "result 1 has a score that is too large",
        "result 1 has something of type int where its text is needed",
    ]


@pytest.mark.anyio
async def test_numbers_of_numpy_are_scores(tmp_path: Path) -> None:
    code = """\
        import numpy

        def retrieve(question, limit):
            return [{"id": "a", "score": numpy.float32(0.5)}, {"id": "b", "score": numpy.int64(2)}]
    """
    result = await open_python(tmp_path, code, module="numpy_site").show("x", 5)

    assert result.ranking is not None
    assert [one.score for one in result.ranking.documents] == [0.5, 2.0]


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.anyio
async def test_a_lazy_answer_that_hangs_is_unmeasured_too(tmp_path: Path, kind: str) -> None:
    code = f"""\
        import threading
        released = threading.Event()

        def search():
            released.wait(30)
            yield "a"

        {kind} retrieve(question, limit):
            return search()
    """
    module = f"lazy_{len(kind)}"
    retriever = open_python(tmp_path, code, module=module, timeout_s=0.2)

    result = await retriever.show("x", 5)
    sys.modules[module].released.set()

    assert str(result.error) == "site did not answer within 0.2 s"


@pytest.mark.anyio
async def test_a_function_that_hangs_is_unmeasured_and_holds_nothing_up(tmp_path: Path) -> None:
    code = """\
        import threading
        released = threading.Event()

        def retrieve(question, limit):
            if question == "hang":
                released.wait(30)
            return ["a"]
    """
    retriever = open_python(tmp_path, code, module="hanging_site", timeout_s=0.2)

    hung = await retriever.show("hang", 5)
    answered = await retriever.show("go", 5)

    released = sys.modules["hanging_site"].released
    assert isinstance(released, Event)
    released.set()
    assert isinstance(hung.error, ProviderTimeoutError)
    assert ids_of(answered) == ["a"]


@pytest.mark.anyio
async def test_a_callable_can_say_what_it_is_made_of(tmp_path: Path) -> None:
    code = """\
        def retrieve(question, limit):
            return []

        retrieve.provenance = {"corpus": "r7", "model": "m", "chunking": None}
    """
    retriever = open_python(tmp_path, code, module="known_site", revisions={"model": "m2"})

    assert retriever.provenance == {"corpus": "r7", "model": "m2"}


def test_a_module_that_ends_the_process_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be imported: SystemExit: 0"):
        open_python(tmp_path, "raise SystemExit(0)", module="leaving_site")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no_such_module_here:retrieve", "ModuleNotFoundError"),
        ("json:no_such_function", "AttributeError"),
        ("json:__name__", "cannot be called"),
    ],
)
def test_a_callable_that_is_not_there_is_named(tmp_path: Path, target: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        open_declared(tmp_path, {"type": "python", "callable": target})


# --- run files ------------------------------------------------------------------------------------


def open_run(root: Path, text: str, **options: object) -> OpenRetriever:
    (root / "run.trec").write_text(text, encoding="utf-8")
    return open_declared(root, {"type": "run_file", "path": "run.trec", **options})


@pytest.mark.anyio
async def test_a_ranking_is_found_by_question_id(tmp_path: Path) -> None:
    retriever = open_run(tmp_path, "007 Q0 234_0 1 9.5 bm25\n007 Q0 1e3 2 9.0 bm25\n")

    assert ids_of(await retriever.ask(make_question("007"), CUTOFFS)) == ["234_0", "1e3"]


@pytest.mark.anyio
async def test_spaces_that_are_not_ascii_are_part_of_an_id(tmp_path: Path) -> None:
    retriever = open_run(tmp_path, "\ufeffq1\tQ0 a\u3000b 1 2.0 x\r\nq1 Q0 c\u00a0d 2 1.0 x\r\n")

    assert ids_of(await retriever.ask(make_question("q1"), CUTOFFS)) == ["a\u3000b", "c\u00a0d"]


@pytest.mark.anyio
async def test_scores_decide_then_ranks_then_lines(tmp_path: Path) -> None:
    text = "q1 Q0 low 1 1.0 x\nq1 Q0 second 3 2.0 x\nq1 Q0 first 2 2.0 x\nq1 Q0 top 9 3.0 x\n"

    retriever = open_run(tmp_path, text)

    assert ids_of(await retriever.ask(make_question("q1"), CUTOFFS)) == [
        "top",
        "first",
        "second",
        "low",
    ]


@pytest.mark.anyio
async def test_a_question_without_lines_returned_nothing_and_is_named(tmp_path: Path) -> None:
    retriever = open_run(tmp_path, "q1 Q0 a 1 1.0 x\n")
    questions = [make_question("q1"), make_question("q2")]

    assert ids_of(await retriever.ask(questions[1], CUTOFFS)) == []
    assert retriever.check_questions(questions) == (
        '1 question has no line in the run, which counts as nothing returned: "q2"',
    )


def test_a_run_of_other_questions_is_refused(tmp_path: Path) -> None:
    retriever = open_run(tmp_path, "other Q0 a 1 1.0 x\n")

    with pytest.raises(ConfigurationError, match="rankings for none of the questions"):
        retriever.check_questions([make_question("q1")])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 Q0 a 1 1.0", "has 5 columns instead of 6"),
        ("q1 Q0 a one 1.0 x", "no number"),
        ("q1 Q0 a 1 high x", "no number"),
        ("q1 Q0 a 1 nan x", "not finite"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        open_run(tmp_path, f"q1 Q0 a 1 1.0 x\n\n{line}\n")

    assert str(caught.value.faults[0]).startswith("run.trec:3:1: ")
    assert said in caught.value.faults[0].message


def test_an_empty_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError) as caught:
        open_run(tmp_path, "\n")

    assert "holds no result" in caught.value.faults[0].message


def test_a_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"run\.trec cannot be read"):
        open_declared(tmp_path, {"type": "run_file", "path": "run.trec"})


# --- a corpus beside them -------------------------------------------------------------------------


def test_a_declared_corpus_gives_revision_ids_and_texts(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "alpha"})

    retriever = open_run(tmp_path, "q1 Q0 a 1 1 x\n", corpus={"jsonl": "corpus.jsonl"})

    assert retriever.provenance["corpus"].startswith("sha256:")
    assert retriever.document_ids == {"a"}
    assert retriever.find_texts(["a", "ghost"]) == {"a": "alpha"}


def test_without_a_corpus_nothing_is_known_of_it(tmp_path: Path) -> None:
    retriever = open_run(tmp_path, "q1 Q0 a 1 1 x\n")

    assert retriever.benchmark_corpus is None
    assert retriever.document_ids is None
