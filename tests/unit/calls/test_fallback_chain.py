"""A failed provider's call goes down the fallback chain of its configuration."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evalcli.calls.pipeline import CallResult, Pipeline
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import resolve_configuration
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    ModelEntry,
    Prices,
    ProviderEntry,
    WorkspaceFile,
)
from evalcli.errors import (
    ConfigurationError,
    ProviderConnectionError,
    ProviderStatusError,
    TrustZoneError,
)
from evalcli.records import CallRetried, ChatRequest, Operation
from tests.support.calls import JumpingTime
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

OVERLOADED = {"error": {"message": "The server is overloaded"}}


def workspace_of(server: ScriptedServer, **spare: Any) -> WorkspaceFile:
    """Provider `main` under /main, and its fallbacks `spare` and `last`."""

    def provider(name: str, **fields: Any) -> ProviderEntry:
        entry = {"type": "openai", "base_url": f"{server.url}/{name}", "retry": {"tries": 2}}
        return ProviderEntry.model_validate(entry | fields)

    return WorkspaceFile(
        providers={
            "main": provider("main"),
            "spare": provider("spare", **spare),
            "last": provider("last"),
        },
        models={
            "model-a": ModelEntry(provider="main"),
            "model-b": ModelEntry(
                provider="spare",
                id="model-b-2026",
                prices=Prices(input=Decimal(1), output=Decimal(1)),
            ),
            "model-c": ModelEntry(provider="last"),
        },
        configurations={
            "bot": ConfigurationEntry(
                model="model-a",
                system="Be brief.",
                temperature=Decimal("0.5"),
                fallback=("spare", "last"),
            ),
            "spare": ConfigurationEntry(
                model="model-b", system="Not lent.", temperature=Decimal(1)
            ),
            "last": ConfigurationEntry(model="model-c"),
        },
    )


async def ask(
    workspace: WorkspaceFile,
    *,
    data_class: DataClass = DataClass.EDITOR_CONTENT,
    retried: list[CallRetried] | None = None,
) -> CallResult:
    time = JumpingTime()
    target = resolve_configuration(workspace, configuration="bot")
    request = ChatRequest(target.model_id, "Hello", target.system, target.temperature)
    async with Pipeline(
        workspace,
        root=None,
        environ={},
        on_retry=(retried if retried is not None else []).append,
        clock=time.clock,
        sleep=time.sleep,
        random=lambda: 0.0,
    ) as pipeline:
        return await pipeline.ask_chat(target, request, data_class=data_class)


def paths(server: ScriptedServer) -> list[str]:
    return [request.path.split("/")[1] for request in server.requests]


async def test_the_first_that_answers_serves(provider_server: ScriptedServer) -> None:
    provider_server.reply(path="/main/chat/completions", text="mine")

    result = await ask(workspace_of(provider_server))

    assert not result.record.is_fallback
    assert paths(provider_server) == ["main"]


async def test_a_fallback_serves_with_its_model_and_nothing_else_of_its_own(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(path="/main/chat/completions", status=503, body=OVERLOADED, repeat=True)
    provider_server.reply(path="/spare/chat/completions", text="spare", model="model-b-2026-1")
    retried: list[CallRetried] = []

    result = await ask(workspace_of(provider_server), retried=retried)

    assert result.answer is not None
    assert result.answer.text == "spare"
    served = provider_server.requests[-1].body
    assert served["model"] == "model-b-2026"
    assert served["messages"][0] == {"role": "system", "content": "Be brief."}
    assert served["temperature"] == 0.5
    assert "4711" not in str(served)
    record = result.record
    assert (record.operation, record.provider, record.is_fallback) == (
        Operation.CHAT,
        "spare",
        True,
    )
    assert (record.requested_model, record.reported_model) == ("model-b-2026", "model-b-2026-1")
    assert (record.tries, record.cost_usd) == (3, Decimal("0.000015"))
    assert [(event.provider, event.wait_s) for event in retried] == [("main", 0.5), ("main", 0)]


async def test_the_chain_ends_with_every_cause(provider_server: ScriptedServer) -> None:
    provider_server.reply(path="/main/chat/completions", status=503, body=OVERLOADED, repeat=True)
    provider_server.reply(path="/spare/chat/completions", status=500, raw=b"", repeat=True)
    with refusing_url() as url:
        workspace = workspace_of(provider_server)
        last = workspace.providers["last"].model_copy(update={"base_url": url})
        workspace.providers["last"] = last
        result = await ask(workspace)

    error = result.error
    assert isinstance(error, ProviderConnectionError)
    assert isinstance(error.__cause__, ProviderStatusError)
    assert isinstance(error.__cause__.__cause__, ProviderStatusError)
    assert error.message.endswith(
        'before that, spare said 500 Internal Server Error; before that, main said 503 "The server '
        'is overloaded"'
    )
    assert (result.record.provider, result.record.tries) == ("last", 6)
    assert paths(provider_server) == ["main", "main", "spare", "spare"]


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_a_refusal_is_no_failure(provider_server: ScriptedServer, status: int) -> None:
    provider_server.reply(path="/main/chat/completions", status=status, body=OVERLOADED)

    result = await ask(workspace_of(provider_server))

    assert result.error is not None
    assert result.error.status == status
    assert paths(provider_server) == ["main"]


async def test_no_money_is_a_failure(provider_server: ScriptedServer) -> None:
    provider_server.reply(path="/main/chat/completions", status=402, body=OVERLOADED)
    provider_server.reply(path="/spare/chat/completions", text="spare")

    assert (await ask(workspace_of(provider_server))).record.provider == "spare"


async def test_a_fallback_that_may_not_receive_the_data_stops_the_call(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(text="leaked", repeat=True)
    workspace = workspace_of(provider_server)
    for name in ("main", "last"):
        workspace.providers[name] = workspace.providers[name].model_copy(
            update={"trust_zone": "local"}
        )

    with pytest.raises(TrustZoneError, match='"spare"'):
        await ask(workspace, data_class=DataClass.SOURCE_CODE)

    assert provider_server.requests == []


async def test_a_fallback_without_its_key_is_found_before_the_first_request(
    provider_server: ScriptedServer,
) -> None:
    workspace = workspace_of(provider_server, api_key="env:SPARE_KEY")
    target = resolve_configuration(workspace, configuration="bot")
    async with Pipeline(workspace, root=None, environ={}) as pipeline:
        with pytest.raises(ConfigurationError, match="SPARE_KEY"):
            pipeline.check(target, data_class=DataClass.EDITOR_CONTENT)


async def test_a_decision_server_is_refused_as_a_chat_model_before_anything(
    provider_server: ScriptedServer,
) -> None:
    workspace = workspace_of(provider_server, type="typesafe")
    target = resolve_configuration(workspace, configuration="bot")
    async with Pipeline(workspace, root=None, environ={}) as pipeline:
        with pytest.raises(ConfigurationError, match="answers decisions only"):
            pipeline.check(target)

    assert provider_server.requests == []
