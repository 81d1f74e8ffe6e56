"""evalcli eval retrieval: what is asked, how it is scored, what is refused, what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.retrieval import write_documents
from tests.support.retrieval_site import RetrievalSite
from tests.support.workspace import CliWorkspace

GATE = "--fail-on-regression"
DOCUMENTS = {
    "hours": "Opening hours of the office",
    "parking": "Parking permits for residents",
    "waste": "Garbage collection dates",
}


@pytest.fixture
def site(cli_workspace: CliWorkspace) -> RetrievalSite:
    return RetrievalSite(cli_workspace)


def rows_by_id(document: Any) -> dict[str, Any]:
    return {row["id"]: row for row in document["prompts"]}


def question(document: Any, question_id: str) -> Any:
    return rows_by_id(document)[question_id]["question"]


def expecting(*documents: str, **labels: object) -> dict[str, object]:
    return {"expected": list(documents), **labels}


# --- scoring ----------------------------------------------------------------------------------


def test_passages_of_one_document_neither_push_out_nor_count_twice(site: RetrievalSite) -> None:
    site.ask(
        {
            "refund": expecting("doc-refund"),
            "export": expecting("doc-export", "doc-invoice", form="match"),
        }
    )
    site.answer(
        {
            "refund": ["doc-terms", "doc-terms", "doc-terms", "doc-refund", "doc-home"],
            "export": ["doc-export", "doc-export", "doc-export"],
        }
    )

    result = site.run()

    assert result.exit == 0
    document = site.workspace.last_run()
    assert document["run"]["status"] == "complete"
    overall = document["retrieval"]["rows"][0]
    assert overall["questions"] == 2
    assert (overall["hit_rates"]["1"], overall["hit_rates"]["3"]) == (0.5, 1.0)
    assert [
        (one, question(document, one)["top1"], question(document, one)["top3"])
        for one in ("refund", "export")
    ] == [("refund", False, True), ("export", True, True)]
    assert document["summary"]["pass_rate"] == 0.5
    assert document["summary"]["mean_score"] == 1.0
    assert site.workspace.run_count() == 1


def test_built_in_set_runs_without_arguments(cli_workspace: CliWorkspace) -> None:
    (cli_workspace.folder / "evalcli.yaml").unlink()

    result = cli_workspace.run("eval", "retrieval", "--format", "json")

    assert result.exit == 0
    document = result.json
    assert (document["run"]["set"], document["run"]["target"]) == ("nr.manual", "nr.lexical")
    groups = [row["group"] for row in document["retrieval"]["rows"]]
    assert groups[:3] == ["all", "form", "form"]
    assert groups.count("hard_class") >= 4
    assert document["summary"]["measured"] >= 40
    assert (cli_workspace.folder / ".evalcli" / "cache" / "lexical").is_dir()


def test_every_ranking_verdict_and_latency_is_stored(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x"), "b": expecting("y")})
    site.answer(
        {
            "a": [{"id": "x", "score": 2.5, "text": "A passage"}, "z", "x"],
            "b": ["z"],
        }
    )

    site.run()

    rows = rows_by_id(site.workspace.last_run())
    assert rows["a"]["ranking"]["documents"] == [
        {"id": "x", "score": 2.5, "text": "A passage"},
        {"id": "z", "score": None, "text": None},
    ]
    assert rows["a"]["ranking"]["repeated"] == 1
    assert rows["a"]["latency_ms"] > 0
    assert (rows["a"]["passed"], rows["b"]["passed"]) == (True, False)
    assert rows["b"]["reason"] == "wanted y, got z"


def test_cutoffs_change_what_is_shown_and_how_much_is_asked_for(site: RetrievalSite) -> None:
    site.ask({"a": expecting("d15")})
    site.answer({"a": [f"d{number}" for number in range(1, 100)]})

    result = site.run("--k", "20, 1", "--format", "json")

    assert result.exit == 0
    document = result.json
    assert document["retrieval"]["cutoffs"] == [1, 3, 10, 20]
    assert document["retrieval"]["rows"][0]["hits"] == {"1": 0, "3": 0, "10": 0, "20": 1}
    ranking = rows_by_id(document)["a"]["ranking"]
    assert (len(ranking["documents"]), ranking["returned"]) == (20, 81)
    assert document["run"]["settings"]["k"] == "1, 3, 10, 20"


def test_what_nothing_answers_is_hit_by_nothing(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(min_score=0.5)})
    site.ask({"a": expecting(), "b": expecting()})
    site.answer({"a": [{"id": "x", "score": 0.4}], "b": [{"id": "x", "score": 0.6}]})

    result = site.run()

    assert result.exit == 0
    document = site.workspace.last_run()
    assert [question(document, one)["top1"] for one in ("a", "b")] == [True, False]
    overall = document["retrieval"]["rows"][0]
    assert (overall["mean_reciprocal_rank"], overall["answerable"]) == (None, 0)


@pytest.mark.parametrize(
    "identifier",
    ["234_0", "007", "1e3", "null", "yes", "2026-11-30", "0x1F", "ä › 🙂", "x" * 500],
)
def test_ids_keep_their_characters(site: RetrievalSite, identifier: str) -> None:
    plain = f"'{identifier}'" if identifier == "null" else identifier  # else YAML has no text
    site.workspace.write(
        "sets/help.yaml",
        "kind: questions\nidentifier: help.search\nname: Example\nquestions:\n"
        f"  - {{id: {plain}, question: {identifier}?, form: gap, expected: [{plain}]}}\n",
    )
    site.answer({identifier: ["other", identifier]})

    result = site.run()

    assert result.exit == 0
    row = rows_by_id(site.workspace.last_run())[identifier]
    assert (row["question"]["expected"], row["question"]["first_hit"]) == ([identifier], 2)
    assert identifier in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "x",
        '"',
        "a*",
        "NEAR(a b)",
        "hours AND NOT parking",
        "-",
        "hours:",
        "hours~2",
        "🙂",
        "a " * 5000,
    ],
)
def test_a_question_is_never_query_syntax(cli_workspace: CliWorkspace, text: str) -> None:
    write_documents(cli_workspace.folder, DOCUMENTS)
    cli_workspace.write(
        "evalcli.yaml", "retrievers: {words: {type: lexical, corpus: {jsonl: corpus.jsonl}}}"
    )
    rows = [{"id": "q", "question": text, "form": "match", "expected": ["hours"]}]
    cli_workspace.write(
        "sets/odd.yaml",
        json.dumps(
            {"kind": "questions", "identifier": "odd", "name": "Odd", "questions": rows},
            ensure_ascii=False,
        ),
    )

    result = cli_workspace.run("eval", "retrieval", "odd")

    assert result.exit == 0, result.output
    assert cli_workspace.last_run()["run"]["status"] == "complete"


def test_a_question_that_is_empty_after_trimming_is_refused(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x", question="  ")})

    result = site.run()

    assert result.exit == 2
    assert "questions[0].question" in result.output
    assert site.workspace.run_count() == 0


# --- what a retriever can do ------------------------------------------------------------------


def test_fewer_more_and_none_are_answers(site: RetrievalSite) -> None:
    site.ask({one: expecting("x") for one in ("fewer", "more", "none")})
    site.answer(
        {"fewer": ["x"], "more": [*(f"d{number}" for number in range(60)), "x"], "none": []}
    )

    result = site.run()

    assert result.exit == 0
    document = site.workspace.last_run()
    assert [question(document, one)["first_hit"] for one in ("fewer", "more", "none")] == [
        1,
        None,
        None,
    ]
    assert "got more results than the limit that was asked for" in result.stdout
    assert "got nothing" in result.stdout


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([7], "int"),
        (["x", None], "nothing"),
        ([""], "empty document id"),
        ([{"id": 7}], "int"),
        ([{"id": "x", "score": "high"}], "score"),
        ("x", "instead of a list"),
        ({"failure": "index [red]is gone"}, "RuntimeError: index [red]is gone"),
    ],
)
def test_what_is_no_ranking_is_unmeasured_not_missed(
    site: RetrievalSite, answer: Any, told: str
) -> None:
    site.ask({"good": expecting("x"), "bad": expecting("x")})
    site.answer({"good": ["x"], "bad": answer})

    result = site.run(GATE)

    assert result.exit == 3
    assert told in result.stdout
    assert "%" not in result.stdout
    document = site.workspace.last_run()
    assert (document["run"]["status"], document["comparison"]["state"]) == (
        "incomplete",
        "not_compared",
    )
    rows = rows_by_id(document)
    assert (rows["good"]["passed"], rows["bad"]["passed"]) == (True, None)
    assert rows["bad"]["question"] is None


def test_a_retriever_that_hangs_is_given_up(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(timeout_s=0.2)})
    site.ask({"good": expecting("x"), "slow": expecting("x")})
    site.answer({"good": ["x"], "slow": {"hang_s": 30}})

    result = site.run()

    assert result.exit == 3
    assert "did not answer within 0.2 s" in result.stdout


def test_answers_out_of_order_stay_with_their_questions(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    module = f"late_{site.module}"
    cli_workspace.write(
        f"{module}.py",
        "import asyncio\n"
        "waiting = {}\n"
        "async def retrieve(question, limit):\n"
        "    number = int(question.strip('q?'))\n"
        "    waiting[number] = asyncio.Event()\n"
        "    if number == 9:\n"
        "        waiting[9].set()\n"
        "    await waiting[number].wait()\n"
        "    if number:\n"
        "        waiting[number - 1].set()\n"
        "    return [f'd{number}']\n",
    )
    site.declare({"site": site.entry(callable=f"{module}:retrieve")})
    site.ask({f"q{number}": expecting(f"d{number}") for number in range(10)})

    result = site.run("-v", "--format", "json")

    assert result.exit == 0
    ended = [line.split()[1] for line in result.stderr.splitlines()]
    assert ended == [f"q{number}" for number in reversed(range(10))]
    assert [row["id"] for row in result.json["prompts"]] == [f"q{number}" for number in range(10)]
    assert all(row["passed"] for row in result.json["prompts"])


def test_a_document_outside_the_corpus_is_named(site: RetrievalSite) -> None:
    write_documents(site.workspace.folder, DOCUMENTS)
    site.declare({"site": site.entry(corpus={"jsonl": "corpus.jsonl"})})
    site.ask({"a": expecting("hours")})
    site.answer({"a": ["HOURS", "hours"]})

    result = site.run()
    shown = site.workspace.run("history", "show", "latest")

    assert result.exit == 0
    note = '1 document that was returned is not in the corpus: "HOURS" (1 time)'
    assert note in result.stdout
    assert note in shown.stdout
    assert note in site.workspace.last_run()["notes"]


def test_what_a_retriever_prints_is_no_result(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    module = f"loud_{site.module}"
    cli_workspace.write(
        f"{module}.py",
        "print('loading')\n"
        "def retrieve(question, limit):\n"
        "    print('searching')\n"
        "    return ['x']\n",
    )
    site.declare({"site": site.entry(callable=f"{module}:retrieve")})
    site.ask({"a": expecting("x")})

    run = site.run("--format", "json")
    asked = cli_workspace.run("retrieval", "ask", "site", "a", "--format", "json")

    assert (run.json["verdict"]["word"], run.exit) == ("no_baseline", 0)
    assert run.stderr.splitlines() == ["loading", "searching"]
    assert asked.json["question"] == "a"
    assert asked.stderr == "searching\n"


@pytest.mark.parametrize("became", ["deleted", "changed"])
def test_a_corpus_that_goes_while_questions_are_asked_takes_no_result_away(
    cli_workspace: CliWorkspace, became: str
) -> None:
    site = RetrievalSite(cli_workspace)
    write_documents(cli_workspace.folder, DOCUMENTS)
    module = f"gone_{site.module}"
    change = {"deleted": "corpus.unlink()", "changed": "corpus.write_text('no JSON')"}[became]
    cli_workspace.write(
        f"{module}.py",
        "import pathlib\n"
        "corpus = pathlib.Path(__file__).with_name('corpus.jsonl')\n"
        "def retrieve(question, limit):\n"
        f"    corpus.exists() and {change}\n"
        "    return ['other', 'hours']\n",
    )
    corpus = {"jsonl": "corpus.jsonl"}
    site.declare({"site": site.entry(callable=f"{module}:retrieve", corpus=corpus, concurrency=1)})
    site.ask({"a": expecting("hours"), "b": expecting("hours")})

    result = site.run()

    assert result.exit == 0
    assert "what came back cannot be shown: the corpus" in result.stdout
    assert '1 document that was returned is not in the corpus: "other" (2 times)' in result.stdout
    assert cli_workspace.last_run()["run"]["status"] == "complete"


def test_an_expected_document_that_is_not_in_the_corpus_is_named_before_the_run(
    site: RetrievalSite,
) -> None:
    write_documents(site.workspace.folder, DOCUMENTS)
    site.declare({"site": site.entry(corpus={"jsonl": "corpus.jsonl"}, concurrency=1)})
    site.ask({"a": expecting("hours"), "b": expecting("hour")})
    site.answer({"a": ["hours"], "b": ["hours"]})

    result = site.run("-v")

    assert result.exit == 0
    told, *lines = result.stderr.splitlines()
    assert told == '1 question expects a document that is not in the corpus: "hour" (b)'
    assert [line.split()[1] for line in lines] == ["a", "b"]
    assert told not in result.stdout
    assert told in site.workspace.last_run()["notes"]


def test_misses_show_a_piece_of_what_came_back(cli_workspace: CliWorkspace) -> None:
    write_documents(cli_workspace.folder, DOCUMENTS)
    cli_workspace.write("run.trec", "a Q0 parking 1 2.0 x\na Q0 hours 2 1.0 x\nb Q0 waste 1 1 x\n")
    cli_workspace.write(
        "evalcli.yaml",
        "retrievers:\n  frozen: {type: run_file, path: run.trec, corpus: {jsonl: corpus.jsonl}}\n",
    )
    site_rows = {"a": expecting("hours"), "b": expecting("hours")}
    RetrievalSite.ask(_SetOnly(cli_workspace), site_rows)

    result = cli_workspace.run("eval", "retrieval", "help.search", "frozen")

    assert result.exit == 0
    assert 'got waste "Garbage collection dates"' in result.stdout
    assert "2nd    a" in result.stdout


class _SetOnly(RetrievalSite):
    """Writes sets, and leaves `evalcli.yaml` as it is."""

    def __init__(self, workspace: CliWorkspace) -> None:
        self.workspace = workspace


def test_a_part_of_a_fusion_that_fails_makes_its_question_unmeasured(site: RetrievalSite) -> None:
    write_documents(site.workspace.folder, DOCUMENTS)
    site.declare(
        {
            "both": {"type": "hybrid", "parts": ["words", "site"]},
            "words": {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}},
            "site": site.entry(),
        }
    )
    site.ask({"parking": expecting("parking"), "waste": expecting("waste")})
    site.answer({"parking": ["hours", "parking"], "waste": {"failure": "no index"}})

    result = site.workspace.run("eval", "retrieval", "help.search", "both")

    assert result.exit == 3
    assert "site failed: RuntimeError: no index" in result.stdout
    rows = rows_by_id(site.workspace.last_run())
    assert rows["parking"]["question"]["first_hit"] == 1
    assert rows["waste"]["passed"] is None


def test_an_http_service_is_asked_question_by_question(cli_workspace: CliWorkspace) -> None:
    cli_workspace.environ["SEARCH_TOKEN"] = "token-7431"
    cli_workspace.write(
        "evalcli.yaml",
        json.dumps(
            {
                "retrievers": {
                    "remote": {
                        "type": "http",
                        "url": f"{cli_workspace.server.url}/retrieve",
                        "headers": {"Authorization": "env:SEARCH_TOKEN"},
                        "tries": 1,
                        "revisions": {"corpus": "r41"},
                    }
                }
            }
        ),
    )
    RetrievalSite.ask(_SetOnly(cli_workspace), {"a": expecting("x"), "b": expecting("x")})
    cli_workspace.server.reply(to="a?", body={"documents": [{"id": "x", "score": 1}]})
    cli_workspace.server.reply(to="b?", status=401, body={"error": "token-7431 is wrong"})

    result = cli_workspace.run("eval", "retrieval", "help.search")

    assert result.exit == 3
    assert "401" in result.stdout
    assert "token-7431" not in result.output
    assert b"token-7431" not in (cli_workspace.folder / ".evalcli/history.db").read_bytes()
    asked = [request.body for request in cli_workspace.server.requests]
    assert sorted(one["question"] for one in asked) == ["a?", "b?"]
    assert {one["limit"] for one in asked} == {40}
    assert cli_workspace.server.requests[0].headers["authorization"] == "token-7431"


def test_hostile_text_of_a_retriever_is_shown_as_text(site: RetrievalSite) -> None:
    hostile = "[bold]no[/bold] \x1b[31mred\x1b[0m \u202egnp.exe \x07"
    site.ask({"a": expecting("x")})
    site.answer({"a": [{"id": f"id {hostile}", "text": hostile}]})

    outputs = [site.run().output, site.workspace.run("history", "show", "latest").output]

    for output in outputs:
        assert "[bold]no[/bold]" in output
        assert not any(char in output for char in "\x1b\u202e\x07")


def test_an_id_of_megabytes_does_not_fill_the_screen(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x"), "b": expecting()})
    site.answer({"a": ["y" * 2_000_000, "x"], "b": ["y" * 2_000_000]})

    result = site.run()

    assert result.exit == 0
    assert max(len(line) for line in result.stdout.splitlines()) < 1500


def test_metadata_history_keeps_rankings_and_no_passages(site: RetrievalSite) -> None:
    config = {"retrievers": {"site": site.entry()}, "history": {"content": "metadata"}}
    site.workspace.write("evalcli.yaml", json.dumps(config))
    site.ask({"a": expecting("x")})
    site.answer({"a": [{"id": "doc-17", "text": "an unmistakable passage"}]})

    assert site.run().exit == 0

    files = [path for path in (site.workspace.folder / ".evalcli").rglob("*") if path.is_file()]
    assert not any(b"unmistakable" in path.read_bytes() for path in files)
    row = rows_by_id(site.workspace.last_run())["a"]
    assert row["reason"] == "wanted x, got doc-17"


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nope",), "nr.manual"),
        (("nr.smoke",), 'of the kind "prompts"'),
        (("help.search", "sitte"), 'write "site"'),
        (("help.search", "site", "--k", "0"), "1 to 1000"),
        (("help.search", "site", "--k", "1;3"), "whole numbers"),
        (("help.search", "site", "--k", "1001"), "1 to 1000"),
        (("help.search", "site", "--only", "z"), 'no question "z"'),
        (("help.search", "site", "--only", "a", "--only", "a"), "twice"),
        (("help.search", "site", "--concurrency", "0"), "1 to 1024"),
        (("help.search", "site", "--max-top1-drop", "1.1"), "from 0 to 1"),
        (("help.search", "site", "--max-top3-drop", "nan"), "from 0 to 1"),
        (("help.search", "site", "--max-class-drop", "-1"), "from 0 to 1"),
        (("help.search", "site", "--min-top1-rate", "much"), "from 0 to 1"),
        (("help.search", "site", "--min-top3-rate", "inf"), "from 0 to 1"),
        (("help.search", "site", "--baseline", "nothing"), "nothing"),
        (("help.search", "site", "--resume", "abcd1234"), "abcd1234"),
        (("help.search", "site", "--junit", "no/such/r.xml"), "--junit"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_asked(
    site: RetrievalSite, words: tuple[str, ...], told: str
) -> None:
    site.ask({"a": expecting("x")})

    result = site.workspace.run("eval", "retrieval", *words)

    assert result.exit == 2
    assert told in result.output
    assert "Traceback" not in result.output
    assert site.workspace.run_count() == 0


def test_a_set_alone_is_asked_of_the_only_retriever(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x")})
    site.answer({"a": ["x"]})

    alone = site.workspace.run("eval", "retrieval", "help.search")
    site.declare({"site": site.entry(), "other": site.entry()})
    ambiguous = site.workspace.run("eval", "retrieval", "help.search")
    site.declare({})
    none = site.workspace.run("eval", "retrieval", "help.search")

    assert [alone.exit, ambiguous.exit, none.exit] == [0, 2, 2]
    assert "name one of site, other" in ambiguous.stderr
    assert "`evalcli eval retrieval help.search NAME`" in none.stderr


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("latin.jsonl", '{"id": "a", "text": "Größe"}\n'.encode("latin-1"), "latin.jsonl:1:"),
        ("empty.jsonl", b"", "empty.jsonl"),
        ("missing.jsonl", None, "missing.jsonl does not exist"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_refused(
    site: RetrievalSite, name: str, content: bytes | None, told: str
) -> None:
    if content is not None:
        (site.workspace.folder / name).write_bytes(content)
    site.declare({"site": {"type": "lexical", "corpus": {"jsonl": name}}})
    site.ask({"a": expecting("x")})

    result = site.run()

    assert result.exit == 2
    assert told in result.output
    assert site.workspace.run_count() == 0


# --- reports ----------------------------------------------------------------------------------


def test_json_is_one_document_and_junit_has_a_case_a_question(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x"), "b": expecting("x")})
    site.answer({"a": ["x"], "b": ["y"]})

    result = site.run("--format", "json", "--junit", "report.xml")

    assert result.exit == 0
    assert result.json["exit_status"] == 0
    assert result.json["run"]["kind"] == "questions"
    report = (site.workspace.folder / "report.xml").read_text(encoding="utf-8")
    assert 'tests="3" failures="1"' in report
    assert "wanted x, got y" in report


def test_verbose_says_each_question_as_it_ends_and_lists_the_hits(site: RetrievalSite) -> None:
    site.ask({"a": expecting("x"), "b": expecting("x"), "c": expecting("x")})
    site.answer({"a": ["x"], "b": ["y", "x"], "c": ["y"]})

    result = site.run("-v")

    words = [line.split() for line in result.stderr.splitlines()]
    assert [[*line[1:3]] for line in sorted(words, key=lambda line: line[1])] == [
        ["a", "hit"],
        ["b", "rank"],
        ["c", "MISS"],
    ]
    assert "  hit    a" in result.stdout
    assert "hit at rank 1" not in result.stdout


def test_the_index_is_built_once(cli_workspace: CliWorkspace) -> None:
    write_documents(cli_workspace.folder, DOCUMENTS)
    cli_workspace.write(
        "evalcli.yaml", "retrievers: {words: {type: lexical, corpus: {jsonl: corpus.jsonl}}}"
    )
    RetrievalSite.ask(_SetOnly(cli_workspace), {"hours": expecting("hours")})

    def index_files() -> dict[Path, int]:
        folder = cli_workspace.folder / ".evalcli" / "cache" / "lexical"
        return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}

    assert cli_workspace.run("eval", "retrieval", "help.search").exit == 0
    built = index_files()
    assert cli_workspace.run("eval", "retrieval", "help.search").exit == 0

    assert built
    assert index_files() == built
