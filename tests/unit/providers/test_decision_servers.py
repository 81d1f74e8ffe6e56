"""System One servers and the decision sidecar on the wire: what is sent, what is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest

from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import (
    ConfigurationError,
    ProviderConnectionError,
    ProviderReplyError,
    ProviderStatusError,
)
from evalcli.protocols import ProviderSetup
from evalcli.providers.decision_servers import DecisionSidecar, TypeSafe
from evalcli.providers.native_decision import NativeDecisionProvider
from evalcli.records import (
    ChatRequest,
    Decision,
    DecisionAnswer,
    Operation,
    ProbabilityKind,
    QuestionsRequest,
    Subject,
)
from tests.support.decisions import (
    SUBJECT,
    SYSTEM_ONE_ANSWERS,
    make_profile,
    make_question,
    system_one_reply,
)
from tests.support.server import ScriptedServer

pytestmark = pytest.mark.anyio

KEY = "key-judge-4711"
ADAPTERS = {"typesafe": TypeSafe, "decision_sidecar": DecisionSidecar}


def setup_of(url: str | None, type_: str = "typesafe", **entry: Any) -> ProviderSetup:
    return ProviderSetup(
        "judge",
        ProviderEntry(type=type_, base_url=f"{url}/v1" if url else None, **entry),
        api_key=KEY,
        keys=(KEY,),
    )


@asynccontextmanager
async def adapter_at(
    url: str, type_: str = "typesafe", **entry: Any
) -> AsyncIterator[NativeDecisionProvider]:
    adapter = ADAPTERS[type_](setup_of(url, type_, **entry))
    try:
        yield adapter
    finally:
        await adapter.aclose()


async def ask(server: ScriptedServer, type_: str = "typesafe", **options: Any) -> Decision:
    profile = options.pop("profile", make_profile())
    subject = options.pop("subject", SUBJECT)
    async with adapter_at(server.url, type_, **options) as adapter:
        return await adapter.ask_decision(
            QuestionsRequest("jev-1.14.0", subject, profile.questions)
        )


# --- what is sent ---


async def test_system_one_request(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())

    await ask(provider_server)

    (request,) = provider_server.requests
    assert (request.method, request.path) == ("POST", "/v1/systemone")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "jev-1.14.0",
        "state": {
            "task": SUBJECT.task,
            "candidate": SUBJECT.candidate,
            "evidence": list(SUBJECT.evidence),
        },
        "questions": {
            "verdict": {
                "type": "choice",
                "instructions": "What should happen to `candidate`?",
                "criteria": {
                    "publish": None,
                    "revise": "Right in substance, needs rework",
                    "discard": None,
                },
            },
            "supported": {
                "type": "noul",
                "instructions": "Is every claim in `candidate` supported by `evidence`?",
                "criteria": {
                    "true": "Every claim is backed by a passage.",
                    "false": "At least one claim has no passage behind it.",
                },
            },
            "answers_task": {
                "type": "score",
                "instructions": "How completely does `candidate` answer `task`?",
                "criteria": ["Not at all", "Partly", "Completely"],
            },
        },
    }


@pytest.mark.parametrize(
    ("fields", "criteria"),
    [
        ({}, None),
        ({"yes": "It is."}, {"true": "It is."}),
        ({"no": "It is not."}, {"false": "It is not."}),
    ],
)
async def test_criteria_of_yes_and_no_are_optional(
    provider_server: ScriptedServer, fields: dict[str, str], criteria: object
) -> None:
    provider_server.reply(body={"answers": {}})

    await ask(provider_server, profile=make_question(type="yes_no", **fields))

    question = provider_server.requests[0].body["questions"]["q"]
    assert question.get("criteria") == criteria
    assert ("criteria" in question) is (criteria is not None)


async def test_sidecar_request(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"answers": {}})
    profile = make_profile(
        {
            "a": {"type": "yes_no", "instructions": "Is it?", "yes": "It is."},
            "b": {"type": "choice", "instructions": "Which?", "options": ["x", "y"]},
            "c": {
                "type": "choice",
                "instructions": "Which?",
                "options": ["x", "y"],
                "descriptions": {"x": "This."},
            },
            "d": {"type": "score", "instructions": "How much?", "levels": ["a", "b"]},
        }
    )

    await ask(provider_server, "decision_sidecar", profile=profile, subject=Subject(task="t"))

    (request,) = provider_server.requests
    assert (request.method, request.path) == ("POST", "/v1/decide")
    assert request.body == {"state": {"task": "t"}, "questions": profile_json(profile)}


def profile_json(profile: Any) -> dict[str, Any]:
    """The questions as they stand in YAML: nothing that was left out."""
    return {
        key: {name: value for name, value in question.items() if value != {}}
        for key, question in profile.content().items()
    }


@pytest.mark.parametrize("type_", ADAPTERS)
@pytest.mark.parametrize("name", ["0", "yes", "ä🙂", 'q"uote', "a\nb"])
async def test_option_names_are_opaque(
    provider_server: ScriptedServer, type_: str, name: str
) -> None:
    answer = {"choice": name, "probabilities": {name: 1, "other": 0}}
    provider_server.reply(body={"answers": {"q": answer}})

    decision = await ask(
        provider_server, type_, profile=make_question(type="choice", options=[name, "other"])
    )

    question = provider_server.requests[0].body["questions"]["q"]
    sent = question["criteria"] if type_ == "typesafe" else question["options"]
    assert list(sent) == [name, "other"]
    assert decision.answers["q"] == DecisionAnswer(choice=name, probabilities={name: 1, "other": 0})


# --- what is read ---


async def test_system_one_reply(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply(), headers={"x-typesafe-request-id": "req-1"})

    decision = await ask(provider_server)

    assert decision.model == "jev-1.14.0"
    assert decision.request_id == "req-1"
    assert (decision.usage.input_tokens, decision.usage.output_tokens) == (318, 0)
    assert decision.answers["answers_task"] == DecisionAnswer(
        value=1.72, probabilities={"0": 0.04, "1": 0.2, "2": 0.76}, confidence=0.61
    )


async def test_openrouter_reply(provider_server: ScriptedServer) -> None:
    answers = {
        "verdict": {"type": "choice", "choice": "revise"},
        "supported": {"type": "noul", "noul": 0.86},
        "answers_task": {"type": "score", "score": 1.72},
    }
    provider_server.reply(
        body=system_one_reply(
            answers,
            id="gen-17",
            provider="TypeSafe",
            model="typesafe/jev-1.14-20261014",
            usage={"input_tokens": 318, "output_tokens": 0, "cost": 1.3e-05},
        )
    )

    decision = await ask(provider_server)

    assert decision.request_id == "gen-17"
    assert decision.usage.cost_usd == Decimal("0.000013")
    assert decision.answers["verdict"] == DecisionAnswer(choice="revise")


async def test_an_answer_need_not_say_its_type(provider_server: ScriptedServer) -> None:
    answers = {
        key: {name: value for name, value in answer.items() if name != "type"}
        for key, answer in SYSTEM_ONE_ANSWERS.items()
    }
    provider_server.reply(body=system_one_reply(answers))

    assert (await ask(provider_server)).answers["supported"].value == 0.86


async def test_a_confidence_of_yes_and_no_is_kept_where_one_is_reported(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(body={"answers": {"q": {"noul": 0.9, "confidence": 0.8}}})

    decision = await ask(provider_server, profile=make_question(type="yes_no"))

    assert decision.answers["q"] == DecisionAnswer(value=0.9, confidence=0.8)


@pytest.mark.parametrize("cost", [None, "x", -1, True, float("nan"), [1]])
async def test_a_cost_that_is_none(provider_server: ScriptedServer, cost: object) -> None:
    provider_server.reply(body=system_one_reply(usage={"cost": cost}))

    assert (await ask(provider_server)).usage.cost_usd is None


# --- errors ---


@pytest.mark.parametrize("type_", ADAPTERS)
@pytest.mark.parametrize(
    ("status", "body", "said", "is_retryable"),
    [
        (400, {"detail": {"error_type": "bad_request", "message": "no"}}, "no", False),
        (401, {"detail": {"error_type": "authentication_error", "message": "no"}}, "no", False),
        (402, {"error": {"code": 402, "message": "no money"}}, "no money", False),
        (403, {"message": "no", "error_type": "customer_verification_required"}, "no", False),
        (404, {"detail": "no path"}, "no path", False),
        (413, {"detail": "too big"}, "too big", False),
        (422, {"detail": [{"loc": ["body", "state"], "msg": "no"}]}, "body.state: no", False),
        (422, {"detail": {"error_type": "max_tokens_exceeded"}}, "max_tokens_exceeded", False),
        (429, {"detail": {"error_type": "rate_limited", "message": "slow"}}, "slow", True),
        (500, {"detail": "inference failed"}, "inference failed", True),
        (501, {"error": {"code": 501, "message": "no vision", "type": "x"}}, "no vision", True),
        (503, {"detail": "busy"}, "busy", True),
        (529, {"detail": {"error_type": "overloaded", "message": "full"}}, "full", True),
    ],
)
async def test_errors_of_every_shape(
    provider_server: ScriptedServer,
    type_: str,
    status: int,
    body: object,
    said: str,
    is_retryable: bool,
) -> None:
    provider_server.reply(status=status, body=body, headers={"retry-after-ms": "1500"})

    with pytest.raises(ProviderStatusError) as caught:
        await ask(provider_server, type_)

    error = caught.value
    assert said in error.detail
    assert (error.status, error.is_retryable) == (status, is_retryable)
    assert error.retry_after_s == 1.5


async def test_an_html_error(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        status=502, raw=b"<html><title>Bad gateway</title></html>", headers={}, failure=None
    )

    with pytest.raises(ProviderStatusError, match="Bad gateway"):
        await ask(provider_server)


@pytest.mark.parametrize("type_", ADAPTERS)
async def test_an_error_echoes_neither_subject_nor_key(
    provider_server: ScriptedServer, type_: str
) -> None:
    echo = f"state {SUBJECT.candidate} and {SUBJECT.evidence[0]} by {KEY}"
    provider_server.reply(
        status=422, body={"detail": [{"loc": ["body", "state"], "msg": echo, "input": echo}]}
    )

    with pytest.raises(ProviderStatusError) as caught:
        await ask(provider_server, type_)

    assert caught.value.detail == "body.state: state [prompt] and [prompt] by [key]"


@pytest.mark.parametrize("failure", ["reset", "half_body"])
async def test_a_broken_connection(provider_server: ScriptedServer, failure: Any) -> None:
    provider_server.reply(failure=failure, body=system_one_reply())

    with pytest.raises(ProviderConnectionError) as caught:
        await ask(provider_server)

    assert caught.value.is_retryable


@pytest.mark.parametrize(
    ("type_", "answer", "why"),
    [
        ("typesafe", {"type": "choice", "choice": "a"}, 'is not of the type "noul"'),
        ("typesafe", {"type": None, "noul": 1}, 'is not of the type "noul"'),
        ("typesafe", {"noul": None}, "`noul` is missing"),
        ("typesafe", {"probability_of_yes": 1}, "`noul` is missing"),
        ("typesafe", {"noul": "1"}, "`noul` is no number"),
        ("typesafe", {"noul": 1, "confidence": []}, "`confidence` is no number"),
        ("typesafe", [], "the answer is no object"),
        ("decision_sidecar", {"noul": 1}, "`probability_of_yes` is missing"),
        ("decision_sidecar", {"type": "noul", "probability_of_yes": 1}, 'the type "yes_no"'),
        ("decision_sidecar", {"probability_of_yes": False}, "is no number"),
    ],
)
async def test_answers_are_read_strictly(
    provider_server: ScriptedServer, type_: str, answer: object, why: str
) -> None:
    provider_server.reply(body={"answers": {"q": answer}})

    with pytest.raises(ProviderReplyError) as caught:
        await ask(provider_server, type_, profile=make_question(type="yes_no"))

    assert caught.value.status == 200
    assert caught.value.message.startswith("judge gave no valid answer: q: ")
    assert why in caught.value.message


# --- what is known without asking ---


async def test_typesafe_itself_is_the_default_and_calibrated() -> None:
    adapter = TypeSafe(setup_of(None))

    assert adapter.probability_kind is ProbabilityKind.CALIBRATED
    await adapter.aclose()


@pytest.mark.parametrize(
    ("base_url", "kind"),
    [
        ("https://api.typesafe.ai/v1", "calibrated"),
        ("https://eu.typesafe.ai/v1", "calibrated"),
        ("https://openrouter.ai/api/v1", "distribution"),
        ("https://typesafe.ai.example/v1", "distribution"),
        ("https://nottypesafe.ai/v1", "distribution"),
    ],
)
async def test_only_typesafe_is_known_to_calibrate(base_url: str, kind: str) -> None:
    adapter = TypeSafe(
        ProviderSetup("judge", ProviderEntry(type="typesafe", base_url=base_url), api_key=KEY)
    )

    assert adapter.probability_kind == kind
    await adapter.aclose()


def test_typesafe_itself_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="neither api_key nor base_url"):
        TypeSafe(ProviderSetup("judge", ProviderEntry(type="typesafe")))


async def test_a_server_of_ones_own_needs_none(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())
    entry = ProviderEntry(type="typesafe", base_url=provider_server.url)
    adapter = TypeSafe(ProviderSetup("judge", entry))

    await adapter.ask_decision(QuestionsRequest("m", SUBJECT, make_profile().questions))
    await adapter.aclose()

    assert "authorization" not in provider_server.requests[0].headers


async def test_declared_headers_go_before_the_keys(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())
    adapter = TypeSafe(
        ProviderSetup(
            "judge",
            ProviderEntry(type="typesafe", base_url=provider_server.url),
            api_key=KEY,
            headers={"Authorization": "Basic dG9rZW46UEFU", "x-databricks-workspace-id": "17"},
        )
    )

    await adapter.ask_decision(QuestionsRequest("m", SUBJECT, make_profile().questions))
    await adapter.aclose()

    headers = provider_server.requests[0].headers
    assert headers["authorization"] == "Basic dG9rZW46UEFU"
    assert headers["x-databricks-workspace-id"] == "17"


@pytest.mark.parametrize("type_", ADAPTERS)
@pytest.mark.parametrize("operation", [Operation.CHAT, Operation.EMBEDDING])
async def test_it_refuses_what_it_does_not_do(type_: str, operation: Operation) -> None:
    async with adapter_at("http://127.0.0.1:1", type_) as adapter:
        adapter.check_operation(Operation.DECISION)
        with pytest.raises(ConfigurationError, match=f"was asked for {operation.value}"):
            adapter.check_operation(operation)
        with pytest.raises(ConfigurationError, match="answers decisions only"):
            if operation is Operation.CHAT:
                await adapter.ask_chat(ChatRequest("m", "Hello"))
            else:
                await adapter.embed(["Hello"])


# --- models ---


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"models": [{"name": "jev-1.14.0"}, {"name": 1}, "x"]}, ("jev-1.14.0",)),
        ({"data": [{"id": "typesafe/jev-1.14"}]}, ("typesafe/jev-1.14",)),
        ({"models": []}, ()),
    ],
)
async def test_models(
    provider_server: ScriptedServer, document: object, names: tuple[str, ...]
) -> None:
    provider_server.reply(path="/v1/models", body=document)

    async with adapter_at(provider_server.url) as adapter:
        assert await adapter.list_models() == names


async def test_a_list_of_models_that_is_none(provider_server: ScriptedServer) -> None:
    provider_server.reply(path="/v1/models", body={"models": "jev"})

    async with adapter_at(provider_server.url) as adapter:
        with pytest.raises(ProviderReplyError, match="no list of models"):
            await adapter.list_models()
