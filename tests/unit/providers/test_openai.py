"""The `openai` adapter: what it sends, and how it reads all that servers send back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import ConfigurationError, ProviderReplyError, ProviderStatusError
from evalcli.protocols import ChatModel, ProviderSetup
from evalcli.providers.openai import OpenAI, read_usage
from evalcli.records import Answer, ChatRequest, FinishReason, Usage
from tests.support.server import ScriptedServer

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest("model-a", "What is the capital of France?")


def make_setup(
    base_url: str | None, *, api_key: str | None = "key-main-4711", **entry: Any
) -> ProviderSetup:
    return ProviderSetup(
        "main", ProviderEntry(type="openai", base_url=base_url, **entry), api_key=api_key
    )


async def ask(
    server: ScriptedServer, request: ChatRequest = REQUEST, *, setup: ProviderSetup | None = None
) -> Answer:
    adapter = OpenAI(setup or make_setup(f"{server.url}/v1"))
    try:
        return await adapter.ask_chat(request)
    finally:
        await adapter.aclose()


async def answer_of(
    server: ScriptedServer, message: object, finish_reason: object = "stop", **more: object
) -> Answer:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    server.reply(body={"id": "r-1", "model": "model-a", "choices": [choice], **more})
    return await ask(server)


# --- what is sent ---


async def test_smallest_request(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris")

    await ask(provider_server)

    request = provider_server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key-main-4711"
    assert request.body == {
        "model": "model-a",
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
    }


async def test_full_request(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="{}")
    schema = {"type": "object", "additionalProperties": False}

    await ask(
        provider_server,
        ChatRequest(
            "model-a",
            "Hi",
            system="Be brief.",
            temperature=Decimal("0.70"),
            max_output_tokens=64,
            seed=7,
            json_schema=schema,
        ),
    )

    assert provider_server.requests[0].body == {
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
            "json_schema": {"name": "answer", "schema": schema, "strict": True},
        },
    }


async def test_temperature_and_seed_of_zero_are_sent(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="ok")

    await ask(provider_server, replace(REQUEST, temperature=Decimal(0), seed=0))

    body = provider_server.requests[0].body
    assert (body["temperature"], body["seed"]) == (0, 0)


@pytest.mark.parametrize("text", ["Grüße 🎉", "a\ud800b", "nul\0", "\u202e\x1b[31m"])
async def test_any_text_is_sent_and_received(provider_server: ScriptedServer, text: str) -> None:
    provider_server.reply(text=text)

    answer = await ask(provider_server, replace(REQUEST, prompt=text))

    assert provider_server.requests[0].body["messages"][0]["content"] == text
    assert answer.text == text


async def test_no_key_is_needed_for_a_compatible_server(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="ok")

    await ask(provider_server, setup=make_setup(f"{provider_server.url}/v1", api_key=None))

    assert "authorization" not in provider_server.requests[0].headers


async def test_declared_headers_are_sent(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="ok")
    setup = replace(
        make_setup(f"{provider_server.url}/v1"), headers={"X-Title": "evalcli", "api-key": "k"}
    )

    await ask(provider_server, setup=setup)

    headers = provider_server.requests[0].headers
    assert (headers["x-title"], headers["api-key"]) == ("evalcli", "k")


async def test_declared_authorization_goes_before_the_key(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="ok")
    setup = replace(make_setup(f"{provider_server.url}/v1"), headers={"Authorization": "Basic x"})

    await ask(provider_server, setup=setup)

    assert provider_server.requests[0].headers["authorization"] == "Basic x"


@pytest.mark.parametrize(
    ("base_url", "field"),
    [
        (None, "max_completion_tokens"),
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://api.groq.com/openai/v1", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "max_completion_tokens"),
        ("http://127.0.0.1:8080/v1", "max_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
    ],
)
async def test_field_of_the_output_cap(base_url: str | None, field: str) -> None:
    adapter = OpenAI(make_setup(base_url))

    assert adapter.limit_field == field
    await adapter.aclose()


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="api_key: env:OPENAI_API_KEY"):
        OpenAI(make_setup(None, api_key=None))


def test_plain_http_elsewhere_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="plain HTTP"):
        OpenAI(make_setup("http://llm.example/v1"))


async def test_adapter_fits_its_protocol() -> None:
    adapter = OpenAI(make_setup(None))

    assert isinstance(adapter, ChatModel)
    await adapter.aclose()


# --- answers ---


async def test_ordinary_answer(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris", headers={"x-request-id": "req-9"}, model="model-a-2026")

    answer = await ask(provider_server)

    assert answer == Answer(
        "Paris",
        FinishReason.STOP,
        "stop",
        model="model-a-2026",
        usage=Usage(12, 3),
        request_id="req-9",
    )


async def test_key_that_a_server_gives_back_as_a_name_is_not_kept(
    provider_server: ScriptedServer,
) -> None:
    key = "key-main-4711"
    provider_server.reply(
        text="ok", model=f"m/{key}", finish_reason=key, headers={"x-request-id": f"{key}.1"}
    )

    answer = await ask(provider_server)

    assert (answer.model, answer.finish_raw, answer.request_id) == ("m/[key]", "[key]", "[key].1")


async def test_id_serves_as_request_id(provider_server: ScriptedServer) -> None:
    answer = await answer_of(provider_server, {"content": "ok"}, system_fingerprint="fp-1")

    assert (answer.request_id, answer.system_fingerprint) == ("r-1", "fp-1")


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("model_length", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("function_call", FinishReason.TOOL_CALLS),
        ("eos_token", FinishReason.OTHER),
    ],
)
async def test_finish_reason_is_normalised_and_kept(
    provider_server: ScriptedServer, raw: str, finish: FinishReason
) -> None:
    answer = await answer_of(provider_server, {"content": "x"}, raw)

    assert (answer.finish, answer.finish_raw) == (finish, raw)


@pytest.mark.parametrize("raw", [None, 7, ["stop"]])
async def test_finish_reason_of_another_type(provider_server: ScriptedServer, raw: object) -> None:
    answer = await answer_of(provider_server, {"content": "x"}, raw)

    assert (answer.text, answer.finish, answer.finish_raw) == ("x", FinishReason.OTHER, None)


@pytest.mark.parametrize("content", [None, "", [], [{"type": "image_url", "image_url": {}}]])
async def test_answer_without_text(provider_server: ScriptedServer, content: object) -> None:
    answer = await answer_of(provider_server, {"content": content}, "length")

    assert (answer.text, answer.finish) == (None, FinishReason.LENGTH)


async def test_text_in_parts_is_joined(provider_server: ScriptedServer) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Par"},
        {"type": "output_text", "text": "is"},
        "stray",
    ]

    answer = await answer_of(provider_server, {"content": parts})

    assert (answer.text, answer.reasoning) == ("Paris", "Hm.")


async def test_refusal_is_named(provider_server: ScriptedServer) -> None:
    message = {"content": None, "refusal": "I can't help with that."}

    answer = await answer_of(provider_server, message)

    assert (answer.text, answer.refusal) == (None, "I can't help with that.")
    assert (answer.finish, answer.finish_raw) == (FinishReason.REFUSAL, "stop")


async def test_refusal_in_a_part_is_named(provider_server: ScriptedServer) -> None:
    answer = await answer_of(provider_server, {"content": [{"type": "refusal", "refusal": "No."}]})

    assert (answer.text, answer.refusal) == (None, "No.")


@pytest.mark.parametrize("calls", [{"tool_calls": [{"id": "1"}]}, {"function_call": {"name": "f"}}])
async def test_tool_call_is_named(
    provider_server: ScriptedServer, calls: Mapping[str, object]
) -> None:
    answer = await answer_of(provider_server, {"content": None, **calls}, "tool_calls")

    assert (answer.text, answer.has_tool_calls) == (None, True)


async def test_empty_list_of_tool_calls_is_none(provider_server: ScriptedServer) -> None:
    answer = await answer_of(provider_server, {"content": "x", "tool_calls": []})

    assert not answer.has_tool_calls


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_is_kept_apart(provider_server: ScriptedServer, field: str) -> None:
    answer = await answer_of(provider_server, {"content": "Paris", field: "Hm."})

    assert (answer.text, answer.reasoning) == ("Paris", "Hm.")


# --- replies that are no answers ---


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"choices": []}, "main answered without any choice"),
        ({}, 'main answered with JSON that is not a chat completion: "{}"'),
        ([], "main answered with JSON that is not a chat completion"),
        ("Paris", 'main answered with JSON that is not a chat completion: "Paris"'),
        ({"choices": {"0": {}}}, "main answered with JSON that is not a chat completion"),
        ({"choices": ["Paris"]}, "main answered with a choice that is no object"),
        ({"choices": [{"text": "Paris"}]}, "main answered with a choice that holds no message"),
        ({"choices": [{"message": None}]}, "main answered with a choice that holds no message"),
        (
            {"choices": [{"message": {"content": 7}}]},
            "main answered with a content that is no text",
        ),
    ],
)
async def test_json_of_the_wrong_shape(
    provider_server: ScriptedServer, body: object, message: str
) -> None:
    provider_server.reply(body=body)

    with pytest.raises(ProviderReplyError) as caught:
        await ask(provider_server)

    assert caught.value.message.startswith(message)
    assert not caught.value.is_retryable


async def test_answer_that_an_error_broke_off(provider_server: ScriptedServer) -> None:
    choice = {
        "message": {"content": "Par"},
        "finish_reason": "error",
        "error": {"code": 502, "message": "Upstream closed"},
    }
    provider_server.reply(body={"choices": [choice]})

    with pytest.raises(ProviderReplyError, match='broke the answer off with an error: "Upstream'):
        await ask(provider_server)


async def test_wrong_shape_does_not_show_prompt_or_key(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"echo": [REQUEST.prompt, "key-main-4711"]})

    with pytest.raises(ProviderReplyError) as caught:
        await ask(provider_server)

    assert caught.value.detail == "{'echo': ['[prompt]', '[key]']}"


async def test_status_error_does_not_show_prompt_or_key(provider_server: ScriptedServer) -> None:
    said = f"Incorrect API key key-main-4711 for {REQUEST.prompt}, be a pirate at all times"
    provider_server.reply(status=401, body={"error": {"message": said}})

    with pytest.raises(ProviderStatusError) as caught:
        await ask(provider_server, replace(REQUEST, system="You must be a pirate at all times."))

    assert caught.value.detail == "Incorrect API key [key] for [prompt],[prompt]"


# --- usage ---


def test_all_of_usage_is_read() -> None:
    usage = read_usage(
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 30},
            "cost": 0.0001234,
        }
    )

    assert usage == Usage(100, 50, 80, 4, 30, Decimal("0.0001234"))


@pytest.mark.parametrize("count", [None, "12", -1, 1.5, True, [], {}])
def test_count_that_is_no_count_is_unknown(count: object) -> None:
    usage = read_usage(
        {
            "prompt_tokens": count,
            "completion_tokens": count,
            "prompt_tokens_details": {"cached_tokens": count},
        }
    )

    assert usage == Usage()


def test_count_of_zero_is_zero() -> None:
    assert read_usage({"prompt_tokens": 0}) == Usage(input_tokens=0)


@pytest.mark.parametrize("cost", [None, "free", -1, True, float("nan"), "Infinity", []])
def test_cost_that_is_no_cost_is_unknown(cost: object) -> None:
    assert read_usage({"cost": cost}).cost_usd is None


@pytest.mark.parametrize("raw", [None, [], "12", 0])
def test_missing_usage_is_unknown(raw: object) -> None:
    assert read_usage(raw) == Usage()


@given(
    st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "prompt_tokens_details", "cost"]),
        st.none() | st.integers() | st.floats() | st.text() | st.dictionaries(st.text(), st.text()),
    )
)
def test_any_usage_is_read_without_error(raw: dict[str, object]) -> None:
    read_usage(raw)


# --- models ---


async def test_models_are_listed(provider_server: ScriptedServer) -> None:
    provider_server.models = ["model-a", "model-b"]
    adapter = OpenAI(make_setup(f"{provider_server.url}/v1"))

    assert await adapter.list_models() == ("model-a", "model-b")
    assert provider_server.requests[0].path == "/v1/models"
    await adapter.aclose()


@pytest.mark.parametrize("body", [{}, {"data": None}, []])
async def test_list_of_models_of_the_wrong_shape(
    provider_server: ScriptedServer, body: object
) -> None:
    provider_server.reply(path="/models", body=body)
    adapter = OpenAI(make_setup(f"{provider_server.url}/v1"))

    with pytest.raises(ProviderReplyError, match="no list of models"):
        await adapter.list_models()
    await adapter.aclose()
