"""evalcli retrieval ask: what a retriever returns, with snippets."""

from __future__ import annotations

import pytest

from tests.support.retrieval import write_documents
from tests.support.retrieval_site import RetrievalSite
from tests.support.workspace import CliWorkspace

DOCUMENTS = {
    "hours": "Opening hours\n\nof the   office: " + "Monday to Friday, " * 40,
    "parking": "Parking permits for the office",
    "waste": "Garbage collection dates",
}


@pytest.fixture
def words(cli_workspace: CliWorkspace) -> CliWorkspace:
    write_documents(cli_workspace.folder, DOCUMENTS)
    cli_workspace.write(
        "evalcli.yaml",
        "retrievers:\n"
        "  words: {type: lexical, corpus: {jsonl: corpus.jsonl}, language: english}\n"
        "  frozen: {type: run_file, path: run.trec}\n",
    )
    cli_workspace.write("run.trec", "a Q0 hours 1 1 x\n")
    return cli_workspace


def test_documents_come_with_rank_score_and_snippet(words: CliWorkspace) -> None:
    result = words.run("retrieval", "ask", "words", "permits for the offices")

    assert result.exit == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("words · permits for the offices · 2 documents · ")
    assert [line.split()[:2] for line in lines if line[:4].strip()[:1].isdigit()] == [
        ["1", "parking"],
        ["2", "hours"],
    ]
    assert "     Parking permits for the office" in lines
    assert any("Opening hours of the office: Monday" in line for line in lines)
    assert all(len(line) < 310 for line in lines)
    assert not (words.folder / ".evalcli" / "history.db").exists()


def test_limit_bounds_the_documents(words: CliWorkspace) -> None:
    result = words.run("retrieval", "ask", "words", "office", "--limit", "1", "--format", "json")

    document = result.json
    assert [one["id"] for one in document["ranking"]["documents"]] == ["parking"]
    assert document["ranking"]["documents"][0]["text"] == DOCUMENTS["parking"]
    assert document["ranking"]["documents"][0]["score"] > 0


def test_nothing_found_is_said(words: CliWorkspace) -> None:
    result = words.run("retrieval", "ask", "words", "zebra")

    assert result.exit == 0
    assert "Nothing came back." in result.stdout


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        (("wrds", "office"), 2, 'write "words"'),
        (("words", "office", "--limit", "0"), 2, "--limit 0 is out of range"),
        (("words", "office", "--limit", "1001"), 2, "1 to 1000"),
        (("words", " \n"), 2, "the question is empty"),
        (("frozen", "office"), 2, "by their ids"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    words: CliWorkspace, given: tuple[str, ...], status: int, told: str
) -> None:
    result = words.run("retrieval", "ask", *given)

    assert result.exit == status
    assert told in result.output


def test_a_retriever_that_fails_ends_in_3(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    site.answer({"a": {"failure": "no index"}})

    result = cli_workspace.run("retrieval", "ask", "site", "a?")

    assert result.exit == 3
    assert "RuntimeError: no index" in result.output


def test_hostile_passages_are_shown_as_text(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    hostile = "[bold]no[/bold] \x1b[31mred \u202egnp.exe \x07"
    site.answer({"a": [{"id": hostile, "score": 1.5, "text": hostile}]})

    result = cli_workspace.run("retrieval", "ask", "site", "a?")

    assert "[bold]no[/bold]" in result.stdout
    assert not any(char in result.output for char in "\x1b\u202e\x07")
