"""The official OpenAI client against the scripted server: is our idea of the wire format theirs?

The client is loaded in a fixture: it takes a second, which only those who run these tests pay.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from tests.support.server import ScriptedServer

if TYPE_CHECKING:
    import openai


@pytest.fixture
def sdk(provider_server: ScriptedServer) -> Iterator[openai.OpenAI]:
    client: openai.OpenAI = import_module("openai").OpenAI(
        base_url=f"{provider_server.url}/v1", api_key="key-main-4711", max_retries=0, timeout=10
    )
    with client:
        yield client


def test_answer_is_read(provider_server: ScriptedServer, sdk: openai.OpenAI) -> None:
    provider_server.reply(text="Paris", headers={"x-request-id": "req-1"})

    completion = sdk.chat.completions.create(
        model="model-a", messages=[{"role": "user", "content": "Capital of France?"}]
    )

    assert completion.choices[0].message.content == "Paris"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == "model-a"
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (12, 3)
    assert completion._request_id == "req-1"


def test_sdk_sends_what_we_send(provider_server: ScriptedServer, sdk: openai.OpenAI) -> None:
    provider_server.reply(text="{}")

    sdk.chat.completions.create(
        model="model-a",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        temperature=0.7,
        max_tokens=64,
        seed=7,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
    )

    request = provider_server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key-main-4711"
    assert request.body == {
        "model": "model-a",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "temperature": 0.7,
        "max_tokens": 64,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
    }


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, "AuthenticationError"),
        (404, "NotFoundError"),
        (429, "RateLimitError"),
        (503, "InternalServerError"),
    ],
)
def test_error_is_read(
    provider_server: ScriptedServer, sdk: openai.OpenAI, status: int, error: str
) -> None:
    provider_server.reply(
        status=status, body={"error": {"message": "No.", "type": "t", "param": None, "code": "c"}}
    )

    with pytest.raises(getattr(import_module("openai"), error)) as caught:
        sdk.chat.completions.create(model="model-a", messages=[{"role": "user", "content": "Hi"}])

    assert caught.value.code == "c"


def test_models_are_listed(provider_server: ScriptedServer, sdk: openai.OpenAI) -> None:
    provider_server.models = ["model-a", "model-b"]

    assert [model.id for model in sdk.models.list()] == ["model-a", "model-b"]


def test_dead_connection_is_noticed(provider_server: ScriptedServer, sdk: openai.OpenAI) -> None:
    provider_server.reply(failure="reset")

    with pytest.raises(import_module("openai").APIConnectionError):
        sdk.chat.completions.create(model="model-a", messages=[{"role": "user", "content": "Hi"}])
