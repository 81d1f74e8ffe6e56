"""evalcli eval retrieval with vectors of a provider: batches, usage, data class, failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.retrieval import write_documents
from tests.support.workspace import KEY, CliWorkspace

DOCUMENTS = {"hours": "Opening hours", "parking": "Parking permits", "waste": "Garbage dates"}
VECTORS = {
    "Opening hours": [1, 0, 0],
    "Parking permits": [0, 1, 0],
    "Garbage dates": [0, 0, 1],
    "Where do I park?": [0.1, 0.9, 0],
    "When is it open?": [0.2, 0.1, 0.9],
}


def embeddings(*texts: str, model: str = "embed-a-1", tokens: int = 10) -> dict[str, object]:
    return {
        "data": [{"index": i, "embedding": VECTORS[text]} for i, text in enumerate(texts)],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


@pytest.fixture
def dense(cli_workspace: CliWorkspace) -> CliWorkspace:
    """Two questions over three documents, which a provider embeds two at a time."""
    write_documents(cli_workspace.folder, DOCUMENTS)
    declare(cli_workspace)
    rows = [
        {"id": "park", "question": "Where do I park?", "form": "gap", "expected": ["parking"]},
        {"id": "open", "question": "When is it open?", "form": "gap", "expected": ["hours"]},
    ]
    declared = {"kind": "questions", "identifier": "town", "name": "Town", "questions": rows}
    cli_workspace.write("sets/town.yaml", json.dumps(declared))
    return cli_workspace


def declare(
    workspace: CliWorkspace,
    *,
    provider: dict[str, object] | None = None,
    model: dict[str, object] | None = None,
    retriever: dict[str, object] | None = None,
) -> None:
    config = {
        "providers": {
            "main": {
                "type": "openai",
                "base_url": f"{workspace.server.url}/v1",
                "api_key": "env:MAIN_KEY",
                "retry": {"tries": 2, "delay_s": 0},
                **(provider or {}),
            }
        },
        "models": {
            "embed-a": {
                "provider": "main",
                "capabilities": ["embedding"],
                "prices": {"input": 100},
                **(model or {}),
            }
        },
        "retrievers": {
            "dense": {
                "type": "vector",
                "corpus": {"jsonl": "corpus.jsonl"},
                "model": "embed-a",
                "batch": 2,
                "concurrency": 1,
                **(retriever or {}),
            }
        },
    }
    workspace.write("evalcli.yaml", json.dumps(config))


def script_corpus(workspace: CliWorkspace) -> None:
    first, second, third = DOCUMENTS.values()
    workspace.server.reply(path="/embeddings", to=first, body=embeddings(first, second, tokens=20))
    workspace.server.reply(path="/embeddings", to=third, body=embeddings(third))


def script_questions(workspace: CliWorkspace, *, model: str = "embed-a-1") -> None:
    for question in ("Where do I park?", "When is it open?"):
        body = embeddings(question, model=model)
        workspace.server.reply(path="/embeddings", to=question, body=body)


def rows_of(workspace: CliWorkspace) -> dict[str, Any]:
    return {row["id"]: row for row in workspace.last_run()["prompts"]}


def test_corpus_is_embedded_in_batches_and_each_question_by_itself(dense: CliWorkspace) -> None:
    script_corpus(dense)
    script_questions(dense)

    result = dense.run("eval", "retrieval", "town")

    assert result.exit == 0, result.output
    asked = [request.body for request in dense.server.requests]
    assert asked == [
        {"model": "embed-a", "input": ["Opening hours", "Parking permits"]},
        {"model": "embed-a", "input": ["Garbage dates"]},
        {"model": "embed-a", "input": ["Where do I park?"]},
        {"model": "embed-a", "input": ["When is it open?"]},
    ]
    assert dense.server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    rows = rows_of(dense)
    assert [rows[one]["question"]["first_hit"] for one in ("park", "open")] == [1, 2]
    assert "the corpus was embedded by main: 2 requests, 30 tokens, $0.0030;" in result.stderr


def test_usage_price_and_model_of_questions_are_recorded(dense: CliWorkspace) -> None:
    script_corpus(dense)
    script_questions(dense)

    result = dense.run("eval", "retrieval", "town")

    row = rows_of(dense)["park"]
    assert (row["provider"], row["model"], row["input_tokens"]) == ("main", "embed-a-1", 10)
    assert (row["cost_usd"], row["tries"]) == ("0.001000", 1)
    document = dense.last_run()
    assert document["summary"]["cost_usd"] == "0.002000"
    assert document["run"]["models_reported"] == ["embed-a-1"]
    assert "Cost" in result.stdout
    assert document["run"]["settings"]["model"].startswith("embed-a of main at http://127.0.0.1")


def test_vectors_of_the_corpus_are_kept(dense: CliWorkspace) -> None:
    script_corpus(dense)
    script_questions(dense)
    assert dense.run("eval", "retrieval", "town").exit == 0
    script_questions(dense)

    second = dense.run("eval", "retrieval", "town", "--fail-on-regression")

    assert second.exit == 0
    assert len(dense.server.requests) == 6
    assert "embedded" not in second.stderr


def test_a_question_that_cannot_be_embedded_is_unmeasured(dense: CliWorkspace) -> None:
    script_corpus(dense)
    dense.server.reply(
        path="/embeddings", to="Where do I park?", body=embeddings("Where do I park?")
    )
    dense.server.reply(
        path="/embeddings",
        to="When is it open?",
        status=503,
        body={"error": {"message": "overloaded"}},
        repeat=True,
    )

    result = dense.run("eval", "retrieval", "town")

    assert result.exit == 3
    assert "503" in result.stdout
    assert "(2 tries, last at" in result.stdout
    assert rows_of(dense)["open"]["passed"] is None
    dense.server.reset()
    script_questions(dense)
    assert dense.run("eval", "retrieval", "--resume", "latest").exit == 0
    assert [request.body["input"] for request in dense.server.requests] == [["When is it open?"]]


def test_a_corpus_that_cannot_be_embedded_ends_in_3_and_stores_no_run(
    dense: CliWorkspace,
) -> None:
    dense.server.reply(
        path="/embeddings", status=401, body={"error": {"message": f"{KEY} is wrong"}}
    )

    result = dense.run("eval", "retrieval", "town")

    assert result.exit == 3
    assert "401" in result.output
    assert KEY not in result.output
    assert dense.run_count() == 0


def test_a_served_model_that_changes_within_the_run_is_mixed(dense: CliWorkspace) -> None:
    script_corpus(dense)
    dense.server.reply(
        path="/embeddings", to="Where do I park?", body=embeddings("Where do I park?")
    )
    dense.server.reply(
        path="/embeddings",
        to="When is it open?",
        body=embeddings("When is it open?", model="embed-a-2"),
    )

    assert dense.run("eval", "retrieval", "town", "--fail-on-regression").exit == 1
    assert dense.last_run()["comparison"]["state"] == "mixed"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"retriever": {"data_class": "source_code"}}, "may receive editor_content at most"),
        ({"model": {"capabilities": ["chat"]}}, "does not declare the capability `embedding`"),
        ({"model": {"active": False}}, 'model "embed-a" is inactive'),
        ({"retriever": {"model": "embed-x"}}, "embed-x"),
        ({"provider": {"type": "replay", "path": "answers.jsonl"}}, "embeds no texts"),
    ],
)
def test_what_cannot_embed_is_refused_before_anything_is_sent(
    dense: CliWorkspace, changes: dict[str, Any], told: str
) -> None:
    dense.write("answers.jsonl", '{"prompt": "a", "text": "b"}\n')
    if "provider" in changes:
        changes = {"provider": {**changes["provider"], "base_url": None, "api_key": None}}
    declare(dense, **changes)
    config = json.loads((dense.folder / "evalcli.yaml").read_text(encoding="utf-8"))
    entry = config["providers"]["main"]
    config["providers"]["main"] = {k: v for k, v in entry.items() if v is not None}
    dense.write("evalcli.yaml", json.dumps(config))

    result = dense.run("eval", "retrieval", "town")

    assert result.exit == 2, result.output
    assert told in result.output
    assert dense.server.requests == []
    assert not list((dense.folder / ".evalcli").glob("cache/vectors/*"))


def test_the_set_s_data_class_counts_too(dense: CliWorkspace) -> None:
    path = dense.folder / "sets" / "town.yaml"
    declared = json.loads(path.read_text(encoding="utf-8"))
    dense.write("sets/town.yaml", json.dumps({**declared, "data_class": "system_diagnostics"}))

    result = dense.run("eval", "retrieval", "town")

    assert result.exit == 2
    assert "not system_diagnostics" in result.output
    assert dense.server.requests == []


def test_a_named_baseline_that_is_missing_is_refused_before_the_corpus_is_embedded(
    dense: CliWorkspace,
) -> None:
    result = dense.run("eval", "retrieval", "town", "--baseline", "nothing")

    assert result.exit == 2
    assert dense.server.requests == []


def test_long_texts_are_split_over_requests(dense: CliWorkspace) -> None:
    texts = {"a": "a" * 200_000, "b": "b" * 200_000}
    write_documents(dense.folder, texts)
    for text in texts.values():
        reply = {"data": [{"index": 0, "embedding": [1, 0, 0]}], "model": "embed-a-1"}
        dense.server.reply(path="/embeddings", to=text[:50], body=reply)
    script_questions(dense)

    dense.run("eval", "retrieval", "town")

    assert [len(request.body["input"]) for request in dense.server.requests] == [1, 1, 1, 1]


def test_ask_embeds_its_question(dense: CliWorkspace) -> None:
    script_corpus(dense)
    script_questions(dense)

    result = dense.run("retrieval", "ask", "dense", "Where do I park?", "--limit", "2")

    assert result.exit == 0
    assert "1  parking" in result.stdout
    assert "Parking permits" in result.stdout
