"""The call pipeline, through the `openai` adapter, against a server that misbehaves."""

from __future__ import annotations

import asyncio
import threading
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.calls.pipeline import CallResult, Pipeline, price_usage, split_reasoning
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import ResolvedConfiguration
from evalcli.declarations.workspace import (
    ModelEntry,
    Prices,
    ProviderEntry,
    RetrySettings,
    TrustZone,
    WorkspaceFile,
)
from evalcli.errors import (
    ConfigurationError,
    ProviderConnectionError,
    ProviderReplyError,
    ProviderStatusError,
    ProviderTimeoutError,
    TrustZoneError,
)
from evalcli.records import CallRetried, ChatRequest, FinishReason, Operation, Usage
from tests.support.calls import ENVIRON, KEY, JumpingTime, make_target
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest("model-a", "What is the capital of France?")
OVERLOADED = {"error": {"message": "The server is overloaded"}}


class Calls:
    """A pipeline on a jumping clock, with all that it reported."""

    def __init__(
        self, server: ScriptedServer | None, *, prices: Prices | None = None, **entry: Any
    ) -> None:
        self.time = JumpingTime()
        self.retried: list[CallRetried] = []
        if server is not None:
            entry.setdefault("base_url", f"{server.url}/v1")
        entry.setdefault("type", "openai")
        entry.setdefault("api_key", "env:MAIN_KEY")
        workspace, self.target = make_target(ProviderEntry(**entry), prices=prices)
        self.pipeline = Pipeline(
            workspace,
            root=None,
            environ=ENVIRON,
            on_retry=self.retried.append,
            clock=self.time.clock,
            sleep=self.time.sleep,
            random=lambda: 0.0,
        )

    async def ask(self, request: ChatRequest = REQUEST) -> CallResult:
        async with self.pipeline:
            return await self.pipeline.ask_chat(
                self.target, request, data_class=DataClass.EDITOR_CONTENT
            )


# --- a call that goes well ---


async def test_answer_and_record(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris", model="model-a-2026", headers={"x-request-id": "req-1"})
    calls = Calls(provider_server)

    async with calls.pipeline:
        result = await calls.pipeline.ask_chat(
            calls.target,
            REQUEST,
            data_class=DataClass.EDITOR_CONTENT,
            caller="nr.smoke",
            caller_operation="capital",
        )

    assert result.error is None
    assert result.answer is not None
    assert result.answer.text == "Paris"
    record = result.record
    assert (record.operation, record.provider) == (Operation.CHAT, "main")
    assert (record.requested_model, record.reported_model) == ("model-a", "model-a-2026")
    assert (record.tries, record.usage, record.request_id) == (1, Usage(12, 3), "req-1")
    assert (record.caller, record.caller_operation) == ("nr.smoke", "capital")
    assert record.cost_usd is None


@pytest.mark.parametrize(("length", "kept"), [(300, 300), (301, 300), (100_000, 300)])
async def test_name_of_a_model_has_an_end(
    provider_server: ScriptedServer, length: int, kept: int
) -> None:
    provider_server.reply(text="Paris", model="m" * length)

    record = (await Calls(provider_server).ask()).record

    assert record.reported_model is not None
    assert len(record.reported_model) == kept
    assert record.reported_model.endswith("…") is (length > kept)


async def test_latency_is_that_of_the_last_try(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED, headers={"Retry-After": "9"})
    provider_server.reply(text="Paris")
    calls = Calls(provider_server)

    result = await calls.ask()

    assert calls.time.waits == [9]
    assert result.record.latency_ms == 0  # the jumping clock stands still while a try runs


async def test_real_clock_measures_milliseconds(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris", delay_s=0.05)
    workspace, target = make_target(
        ProviderEntry(type="openai", base_url=f"{provider_server.url}/v1")
    )

    async with Pipeline(workspace, root=None, environ={}) as pipeline:
        result = await pipeline.ask_chat(target, REQUEST, data_class=DataClass.PUBLIC_CONTENT)

    assert result.record.latency_ms is not None
    assert 50 <= result.record.latency_ms < 5_000


async def test_think_block_becomes_reasoning(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="\n<think>Easy.</think>\n\nParis")

    result = await Calls(provider_server).ask()

    assert result.answer is not None
    assert (result.answer.text, result.answer.reasoning) == ("Paris", "Easy.")


async def test_think_block_that_never_closes_is_no_text(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="<think>Well, it", finish_reason="length")

    result = await Calls(provider_server).ask()

    assert result.answer is not None
    assert (result.answer.text, result.answer.reasoning) == (None, "Well, it")
    assert result.answer.finish is FinishReason.LENGTH


async def test_cost_is_tokens_times_prices(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris")
    prices = Prices(input=Decimal("0.10"), output=Decimal("0.50"))

    result = await Calls(provider_server, prices=prices).ask()

    assert result.record.cost_usd == Decimal("0.0000027")


async def test_reported_cost_goes_before_prices(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        text="Paris", usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5}
    )
    prices = Prices(input=Decimal(1), output=Decimal(1))

    result = await Calls(provider_server, prices=prices).ask()

    assert result.record.cost_usd == Decimal("0.5")


async def test_nothing_reported_is_unknown(provider_server: ScriptedServer) -> None:
    provider_server.reply(text="Paris", usage=None)
    prices = Prices(input=Decimal(1), output=Decimal(1))

    result = await Calls(provider_server, prices=prices).ask()

    assert (result.record.usage, result.record.cost_usd) == (Usage(), None)


# --- retries ---


async def test_rate_limit_that_names_its_wait_passes(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        status=429,
        headers={"Retry-After": "2"},
        body={"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}},
    )
    provider_server.reply(text="1")
    calls = Calls(provider_server)

    result = await calls.ask()

    assert result.answer is not None
    assert result.record.tries == 2
    assert calls.time.waits == [2]
    assert calls.retried == [CallRetried("main", 'main said 429 "Rate limit reached"', 1, 2.0)]


async def test_three_failures_then_an_answer(provider_server: ScriptedServer) -> None:
    for _ in range(3):
        provider_server.reply(status=500, body=OVERLOADED)
    provider_server.reply(text="Paris")
    calls = Calls(provider_server, retry=RetrySettings(tries=4))

    result = await calls.ask()

    assert result.answer is not None
    assert result.record.tries == 4
    assert calls.time.waits == [0.5, 1, 2]


async def test_tries_end(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED, repeat=True)

    result = await Calls(provider_server).ask()

    assert isinstance(result.error, ProviderStatusError)
    assert result.error.message == 'main said 503 "The server is overloaded"'
    assert (result.error.tries, result.record.tries) == (3, 3)
    assert len(provider_server.requests) == 3
    assert result.answer is None
    assert result.error.__traceback__ is None


@pytest.mark.parametrize("failure", ["reset", "half_body"])
async def test_broken_connection_is_tried_again(
    provider_server: ScriptedServer, failure: Any
) -> None:
    provider_server.reply(failure=failure)
    provider_server.reply(text="Paris")

    result = await Calls(provider_server).ask()

    assert result.answer is not None
    assert result.record.tries == 2


async def test_refused_connection_is_tried_again() -> None:
    with refusing_url() as url:
        result = await Calls(None, base_url=url).ask()

    assert isinstance(result.error, ProviderConnectionError)
    assert "connection refused" in result.error.message
    assert result.record.tries == 3


async def test_timeout_is_tried_again(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="timeout", repeat=True)
    calls = Calls(provider_server, timeout_s=Decimal("0.1"), retry=RetrySettings(tries=2))

    result = await calls.ask()

    assert isinstance(result.error, ProviderTimeoutError)
    assert result.record.tries == 2
    assert len(provider_server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_refusal_of_the_request_is_tried_once(
    provider_server: ScriptedServer, status: int
) -> None:
    provider_server.reply(status=status, body=OVERLOADED, headers={"Retry-After": "1"})
    calls = Calls(provider_server)

    result = await calls.ask()

    assert isinstance(result.error, ProviderStatusError)
    assert (result.error.status, result.record.tries) == (status, 1)
    assert calls.time.waits == []


async def test_429_about_money_is_tried_once(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        status=429, body={"error": {"message": "No money.", "type": "insufficient_quota"}}
    )

    result = await Calls(provider_server).ask()

    assert isinstance(result.error, ProviderStatusError)
    assert len(provider_server.requests) == 1


async def test_reply_of_the_wrong_shape_is_tried_once(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"choices": []})

    result = await Calls(provider_server).ask()

    assert isinstance(result.error, ProviderReplyError)
    assert len(provider_server.requests) == 1


async def test_wait_over_two_minutes_ends_with_a_message(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=429, body=OVERLOADED, headers={"Retry-After": "3600"})
    calls = Calls(provider_server)

    result = await calls.ask()

    assert result.error is not None
    assert result.error.message == (
        'main said 429 "The server is overloaded"; it asks to wait 3600 s, and evalcli waits '
        "120 s at most"
    )
    assert calls.time.waits == []
    assert len(provider_server.requests) == 1


async def test_total_time_is_bounded(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED, headers={"Retry-After": "50"}, repeat=True)
    calls = Calls(provider_server, retry=RetrySettings(tries=20))

    result = await calls.ask()

    assert calls.time.waits == [50, 50]
    assert result.record.tries == 3


async def test_later_try_ends_with_the_total(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED)
    provider_server.reply(failure="timeout")
    calls = Calls(
        provider_server,
        retry=RetrySettings(tries=3, delay_s=Decimal("0.05"), total_s=Decimal("0.2")),
    )

    result = await calls.ask()

    assert isinstance(result.error, ProviderTimeoutError)
    assert "no answer in 2 tries within 0.2 s (retry.total_s)" in result.error.message
    assert result.record.tries == 2


# --- limits ---


async def test_concurrency_of_a_provider_is_bounded(provider_server: ScriptedServer) -> None:
    release = threading.Event()
    provider_server.reply(text="ok", repeat=True, until=release)
    calls = Calls(provider_server, concurrency=3)

    async with calls.pipeline:
        tasks = [
            asyncio.create_task(
                calls.pipeline.ask_chat(calls.target, REQUEST, data_class=DataClass.EDITOR_CONTENT)
            )
            for _ in range(10)
        ]
        await asyncio.to_thread(provider_server.wait_for_requests, 3)
        release.set()
        await asyncio.gather(*tasks)

    assert provider_server.peak_in_flight == 3
    assert len(provider_server.requests) == 10


async def test_each_try_takes_its_turn(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED)
    provider_server.reply(text="ok")
    calls = Calls(provider_server, requests_per_minute=30)

    await calls.ask()

    assert calls.time.waits == [0.5, 1.5]


async def test_cancellation_passes(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="timeout", repeat=True)
    calls = Calls(provider_server)
    task = asyncio.create_task(calls.ask())
    await asyncio.to_thread(provider_server.wait_for_requests, 1)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.retried == []


# --- what is refused before the first request ---


async def check(calls: Calls, data_class: DataClass | None = None) -> None:
    async with calls.pipeline:
        calls.pipeline.check(calls.target, data_class=data_class)


async def test_check_sends_nothing(provider_server: ScriptedServer) -> None:
    await check(Calls(provider_server), DataClass.EDITOR_CONTENT)

    assert provider_server.requests == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"api_key": "env:OTHER_KEY"}, "the variable OTHER_KEY is not set"),
        ({"type": "opena"}, 'unknown type "opena"; write "openai"'),
        ({"base_url": "http://llm.example"}, "plain HTTP"),
        ({"headers": {"X-Token": "file:gone"}}, "headers.X-Token: the file gone cannot be read"),
    ],
)
async def test_check_refuses(entry: dict[str, Any], message: str) -> None:
    calls = Calls(None, **{"base_url": "https://llm.example", **entry})

    with pytest.raises(ConfigurationError) as caught:
        await check(calls)

    assert str(caught.value).startswith('provider "main"')
    assert message in str(caught.value)


async def test_check_refuses_data_above_the_trust_zone(provider_server: ScriptedServer) -> None:
    with pytest.raises(TrustZoneError):
        await check(Calls(provider_server), DataClass.SOURCE_CODE)
    await check(Calls(provider_server, trust_zone=TrustZone.LOCAL), DataClass.SECRET_ADJACENT)


async def test_call_above_the_trust_zone_is_not_sent(provider_server: ScriptedServer) -> None:
    calls = Calls(provider_server)

    with pytest.raises(TrustZoneError):
        await calls.pipeline.ask_chat(calls.target, REQUEST, data_class=DataClass.SOURCE_CODE)
    assert provider_server.requests == []


async def test_key_is_in_no_result(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        status=401,
        body={"error": {"message": f"Incorrect API key provided: {KEY}. Check your key."}},
    )

    result = await Calls(provider_server).ask()

    assert result.error is not None
    assert (
        result.error.message == 'main said 401 "Incorrect API key provided: [key]. Check your key."'
    )
    assert KEY not in repr(result) + repr(vars(result.error))


async def test_declared_models_and_root_reach_the_adapter() -> None:
    entry = ProviderEntry(type="replay")
    workspace = WorkspaceFile(
        providers={"main": entry, "other": entry},
        models={"a": ModelEntry(provider="main"), "b": ModelEntry(provider="other")},
    )
    target = ResolvedConfiguration("main/a", "main", entry, "a")

    async with Pipeline(workspace, root=None, environ={}) as pipeline:
        with pytest.raises(ConfigurationError, match="path"):
            pipeline.check(target)


# --- pure parts ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, (None, None)),
        ("", (None, "")),
        ("Paris", (None, "Paris")),
        ("<think>a</think>b", ("a", "b")),
        (" \n<think>\na\n</think>\n\n b \n", ("a", "b \n")),
        ("<think></think>\n\nb", ("", "b")),
        ("<think>a</think>", ("a", None)),
        ("<think>a</think> \n", ("a", None)),
        ("<think>a", ("a", None)),
        ("<think>", ("", None)),
        ("Say <think>a</think>", (None, "Say <think>a</think>")),
        ("a</think>b", (None, "a</think>b")),
        ("<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
        ("<thinking>a</thinking>b", (None, "<thinking>a</thinking>b")),
    ],
)
def test_reasoning_is_split_off(text: str | None, expected: tuple[str | None, str | None]) -> None:
    assert split_reasoning(text) == expected


@given(st.text())
def test_text_without_a_block_stays_as_it_came(text: str) -> None:
    reasoning, rest = split_reasoning(text)

    if "<think>" not in text:
        assert (reasoning, rest) == (None, text)


PRICES = Prices(input=Decimal("2"), cached_input=Decimal("0.5"), output=Decimal("10"))


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(1_000_000, 0), "2"),
        (Usage(0, 1_000_000), "10"),
        (Usage(1_000_000, 0, cached_input_tokens=400_000), "1.4"),
        (Usage(1, 1), "0.000012"),
        (Usage(0, 0), "0"),
        (Usage(10, 0, cached_input_tokens=20), "0.000005"),
    ],
)
def test_tokens_are_priced_exactly(usage: Usage, cost: str) -> None:
    assert price_usage(usage, PRICES) == Decimal(cost)


@pytest.mark.parametrize(
    ("usage", "prices"),
    [
        (Usage(None, 1), PRICES),
        (Usage(1, None), PRICES),
        (Usage(1, 1), None),
        (Usage(1, 1), Prices(input=Decimal(1))),
        (Usage(1, 1), Prices(output=Decimal(1))),
        (Usage(2, 1, cached_input_tokens=1), Prices(input=Decimal(1), output=Decimal(1))),
    ],
)
def test_what_is_unknown_makes_the_cost_unknown(usage: Usage, prices: Prices | None) -> None:
    assert price_usage(usage, prices) is None


@pytest.mark.parametrize("cached", [None, 0, 3])
def test_price_of_zero_is_known(cached: int | None) -> None:
    free = Prices(input=Decimal(0), output=Decimal(0))

    assert price_usage(Usage(5, 5, cached_input_tokens=cached), free) == 0


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(1000, None), "0.001"),
        (Usage(1000, 7), "0.001"),
        (Usage(1000, None, cached_input_tokens=0), "0.001"),
    ],
)
def test_what_is_free_needs_no_count(usage: Usage, cost: str) -> None:
    prices = Prices(input=Decimal(1), output=Decimal(0))

    assert price_usage(usage, prices) == Decimal(cost)
