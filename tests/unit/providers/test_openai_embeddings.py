"""The `openai` adapter's embeddings: what it sends, and how it reads what servers send back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import ProviderReplyError, ProviderStatusError
from evalcli.protocols import EmbeddingModel, ProviderSetup
from evalcli.providers.openai import OpenAI
from evalcli.records import Embedding, EmbeddingRequest, Usage
from tests.support.server import ScriptedServer

pytestmark = pytest.mark.anyio

KEY = "key-main-4711"
REQUEST = EmbeddingRequest("embed-a", ("opening hours", "parking"))


def embeddings(*vectors: object, **more: object) -> dict[str, object]:
    """Write a reply as the API does."""
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return {"object": "list", "data": data, "model": "embed-a-1", "usage": usage, **more}


async def ask(server: ScriptedServer) -> Embedding:
    entry = ProviderEntry(type="openai", base_url=f"{server.url}/v1")
    adapter = OpenAI(ProviderSetup("main", entry, api_key=KEY))
    try:
        return await adapter.ask_embedding(REQUEST)
    finally:
        await adapter.aclose()


def test_the_adapter_embeds() -> None:
    entry = ProviderEntry(type="openai", base_url="https://llm.example/v1")
    assert isinstance(OpenAI(ProviderSetup("main", entry)), EmbeddingModel)


async def test_all_texts_go_in_one_request(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=embeddings([1, 0.5], [0, -1]), headers={"x-request-id": "r-9"})

    embedding = await ask(provider_server)

    request = provider_server.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.body == {"model": "embed-a", "input": ["opening hours", "parking"]}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert embedding == Embedding(
        ([1, 0.5], [0, -1]),
        model="embed-a-1",
        usage=Usage(input_tokens=5, output_tokens=0),
        request_id="r-9",
    )


async def test_vectors_are_put_in_order_of_their_index(provider_server: ScriptedServer) -> None:
    reply = embeddings([1.0], [2.0])
    data: Any = reply["data"]
    provider_server.reply(body={**reply, "data": list(reversed(data))})

    assert (await ask(provider_server)).vectors == ([1.0], [2.0])


async def test_usage_that_is_not_reported_is_unknown(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=embeddings([1.0], [2.0], usage=None))

    assert (await ask(provider_server)).usage.input_tokens is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"object": "list"}, "holds no embeddings"),
        ([], "holds no embeddings"),
        (embeddings([1.0]), "without one vector for each of 2 texts"),
        (embeddings([1.0], [1.0], [1.0]), "without one vector for each of 2 texts"),
        (embeddings([1.0], []), "without one vector for each of 2 texts"),
        (embeddings([1.0], "AACAPw=="), "without one vector for each of 2 texts"),
        (embeddings([1.0], None), "without one vector for each of 2 texts"),
        (
            {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]},
            "without one vector for each of 2 texts",
        ),
        ({"data": [1, 2]}, "without one vector for each of 2 texts"),
    ],
)
async def test_a_reply_without_a_vector_a_text_is_no_embedding(
    provider_server: ScriptedServer, body: object, told: str
) -> None:
    provider_server.reply(body=body)

    with pytest.raises(ProviderReplyError, match=told) as caught:
        await ask(provider_server)
    assert caught.value.status == 200


async def test_an_error_names_neither_the_key_nor_the_texts(
    provider_server: ScriptedServer,
) -> None:
    said = f"{KEY} may not embed 'opening hours'"
    provider_server.reply(status=403, raw=json.dumps({"error": {"message": said}}).encode())

    with pytest.raises(ProviderStatusError) as caught:
        await ask(provider_server)
    assert "may not embed" in str(caught.value)
    assert KEY not in str(caught.value)
    assert "opening hours" not in str(caught.value)
