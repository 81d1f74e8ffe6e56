"""Which model answers, what its result holds, and that nothing goes where it may not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.workspace import ModelEntry, TrustZone, WorkspaceFile
from evalcli.errors import ConfigurationError, DecisionCode, DecisionError
from evalcli.records import (
    DecisionAnswer,
    DecisionRequest,
    DecisionResult,
    Operation,
    ProbabilityKind,
)
from tests.support.decisions import (
    LABELS,
    SUBJECT,
    make_profile,
    make_question,
    make_workspace,
    open_service,
    system_one_reply,
)
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

SIDECAR_ANSWERS: dict[str, object] = {
    "verdict": {
        "choice": "revise",
        "probabilities": {"publish": 0.3, "revise": 0.6, "discard": 0.1},
    },
    "supported": {"probability_of_yes": 0.8},
    "answers_task": {"score": 1.5, "probabilities": {"0": 0.1, "1": 0.3, "2": 0.6}},
}


async def decide(workspace: WorkspaceFile, profile: Profile | None = None) -> DecisionResult:
    async with open_service(workspace) as service:
        return await service.evaluate(
            DecisionRequest(profile or "acme.answer", SUBJECT, caller="acme", caller_operation="qa")
        )


async def refusal(workspace: WorkspaceFile, profile: Profile | None = None) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        await decide(workspace, profile)
    return caught.value


def chat_workspace(url: str, **fields: Any) -> WorkspaceFile:
    model = {"capabilities": ("chat",), **fields.pop("model", {})}
    return make_workspace(url, type="openai", model=model, **fields)


# --- a model that declares `decision`: natively ---


async def test_system_one(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply(), headers={"x-typesafe-request-id": "req-7"})

    result = await decide(make_workspace(provider_server.url))

    (request,) = provider_server.requests
    assert (request.method, request.path) == ("POST", "/v1/systemone")
    assert request.headers["authorization"] == "Bearer key-judge-4711"
    assert (result.profile, result.version, result.configuration) == ("acme.answer", 1, "judge")
    assert (result.provider, result.model) == ("judge", "jev-1.14.0")
    assert result.answers == {
        "verdict": DecisionAnswer(
            choice="revise",
            probabilities={"publish": 0.31, "revise": 0.62, "discard": 0.07},
            confidence=0.43,
        ),
        "supported": DecisionAnswer(value=0.86),
        "answers_task": DecisionAnswer(
            value=1.72, probabilities={"0": 0.04, "1": 0.2, "2": 0.76}, confidence=0.61
        ),
    }
    assert (result.input_tokens, result.output_tokens) == (318, 0)
    assert result.cost_usd == result.call.cost_usd == Decimal("0.000013356")
    call = result.call
    assert (call.operation, call.request_id) == (Operation.DECISION, "req-7")
    assert (call.caller, call.caller_operation) == ("acme", "qa")
    assert (call.requested_model, call.reported_model) == ("jev-1.14.0", "jev-1.14.0")


async def test_decision_sidecar(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        body={"model": "mdeberta", "answers": SIDECAR_ANSWERS, "usage": {"input_tokens": 40}}
    )

    result = await decide(make_workspace(provider_server.url, type="decision_sidecar"))

    assert provider_server.requests[0].path == "/v1/decide"
    assert result.probability_kind is ProbabilityKind.DISTRIBUTION
    assert result.answers["supported"] == DecisionAnswer(value=0.8)
    assert result.answers["verdict"].choice == "revise"
    assert result.answers["answers_task"].value == 1.5
    assert all(answer.confidence is None for answer in result.answers.values())
    assert (result.input_tokens, result.output_tokens) == (40, None)
    assert result.cost_usd == Decimal(
        "0.00000168"
    )  # the output is free, so its count is not needed


async def test_the_providers_cost_goes_before_prices(provider_server: ScriptedServer) -> None:
    usage = {"input_tokens": 10, "output_tokens": 0, "cost": 0.5}
    provider_server.reply(body=system_one_reply(usage=usage))

    result = await decide(make_workspace(provider_server.url))

    assert result.cost_usd == result.call.cost_usd == Decimal("0.5")


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": None}, {"input_tokens": -1, "output_tokens": "0"}]
)
async def test_what_is_not_reported_is_null(provider_server: ScriptedServer, usage: Any) -> None:
    provider_server.reply(body=system_one_reply(usage=usage, model=None))

    result = await decide(make_workspace(provider_server.url))

    assert (result.input_tokens, result.output_tokens, result.cost_usd) == (None, None, None)
    assert result.model is None


async def test_a_bare_answer_stays_bare(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        body=system_one_reply(
            {
                "verdict": {"type": "choice", "choice": "publish"},
                "supported": {"type": "noul", "noul": 1},
                "answers_task": {"type": "score", "score": 0, "probabilities": None},
            }
        )
    )

    result = await decide(make_workspace(provider_server.url))

    assert [answer.probabilities for answer in result.answers.values()] == [{}, {}, {}]
    assert [answer.confidence for answer in result.answers.values()] == [None, None, None]
    assert result.answer("supported").value == 1.0


async def test_a_model_that_declares_both_decides(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())

    workspace = make_workspace(provider_server.url, model={"capabilities": ("chat", "decision")})
    result = await decide(workspace)

    assert result.call.operation is Operation.DECISION


# --- what probabilities are worth ---


@pytest.mark.parametrize("type_", ["typesafe", "decision_sidecar"])
@pytest.mark.parametrize("kind", [None, "calibrated", "distribution"])
async def test_the_provider_entry_says_what_probabilities_are(
    provider_server: ScriptedServer, type_: str, kind: str | None
) -> None:
    answers = system_one_reply()["answers"] if type_ == "typesafe" else SIDECAR_ANSWERS
    provider_server.reply(body={"answers": answers})
    entry: dict[str, Any] = {"probabilities": kind} if kind else {}

    result = await decide(make_workspace(provider_server.url, type=type_, **entry))

    assert result.probability_kind == (kind or "distribution")


# --- a model that declares `chat`, or nothing: hard labels ---


@pytest.mark.parametrize("capabilities", [("chat",), ()], ids=["chat", "nothing"])
async def test_chat_models_give_hard_labels(
    provider_server: ScriptedServer, capabilities: tuple[str, ...]
) -> None:
    provider_server.reply(text=LABELS, model="gpt-6-luna-2026-09-30")

    result = await decide(
        make_workspace(provider_server.url, type="openai", model={"capabilities": capabilities})
    )

    assert provider_server.requests[0].path == "/v1/chat/completions"
    assert result.answers == {
        "verdict": DecisionAnswer(choice="revise"),
        "supported": DecisionAnswer(value=1.0),
        "answers_task": DecisionAnswer(value=2.0),
    }
    assert result.probability_kind is ProbabilityKind.NONE
    assert result.call.operation is Operation.CHAT
    assert (result.call.caller, result.call.caller_operation) == ("acme", "qa")
    assert result.model == "gpt-6-luna-2026-09-30"


async def test_cost_by_chat_is_the_completions_own(provider_server: ScriptedServer) -> None:
    provider_server.reply(text=LABELS)

    result = await decide(chat_workspace(provider_server.url))

    assert (result.input_tokens, result.output_tokens) == (12, 3)
    assert result.cost_usd is None
    assert result.call.cost_usd == Decimal("0.000000504")


async def test_cost_by_chat_where_the_completion_reports_one(
    provider_server: ScriptedServer,
) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25}
    provider_server.reply(text=LABELS, usage=usage)

    result = await decide(chat_workspace(provider_server.url))

    assert result.cost_usd == result.call.cost_usd == Decimal("0.25")


# --- a model that cannot ---


@pytest.mark.parametrize("capabilities", [("embedding",), ("embedding", "structured_output")])
async def test_a_model_that_declares_something_else_only(
    provider_server: ScriptedServer, capabilities: tuple[str, ...]
) -> None:
    error = await refusal(make_workspace(provider_server.url, model={"capabilities": capabilities}))

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert provider_server.requests == []


async def test_a_model_that_declares_decisions_on_an_adapter_that_makes_none(
    provider_server: ScriptedServer,
) -> None:
    error = await refusal(make_workspace(provider_server.url, type="openai"))

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert 'the type "openai" of provider "judge" makes no decisions' in error.message
    assert provider_server.requests == []


async def test_a_model_that_declares_chat_on_an_adapter_that_only_decides(
    provider_server: ScriptedServer,
) -> None:
    error = await refusal(make_workspace(provider_server.url, model={"capabilities": ("chat",)}))

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert error.advice == "write `capabilities: [decision]` in its entry"


async def test_a_silent_model_on_an_adapter_that_only_decides_decides(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(body=system_one_reply())

    result = await decide(make_workspace(provider_server.url, model={"capabilities": ()}))

    assert result.call.operation is Operation.DECISION


@pytest.mark.parametrize(
    "model",
    [{"active": False}, {"provider": "gone"}],
    ids=["inactive", "of-no-provider"],
)
async def test_a_model_that_cannot_be_asked(
    provider_server: ScriptedServer, model: dict[str, object]
) -> None:
    error = await refusal(make_workspace(provider_server.url, model=model))

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert isinstance(error.__cause__, ConfigurationError)


# --- criteria ---


def criteria_workspace(url: str, criteria: dict[str, object], **models: Any) -> WorkspaceFile:
    workspace = make_workspace(url, configuration={"model": {"criteria": criteria}})
    chat = workspace.providers["judge"].model_copy(update={"type": "openai"})
    return workspace.model_copy(
        update={
            "providers": {**workspace.providers, "chat": chat},
            "models": {name: ModelEntry.model_validate(one) for name, one in models.items()},
        }
    )


async def test_criteria_choose_a_model_that_declares_decisions(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(body=system_one_reply())
    workspace = criteria_workspace(
        provider_server.url,
        {},
        luna={"provider": "chat", "capabilities": ["chat"]},
        jev={"provider": "judge", "capabilities": ["decision"]},
    )

    await decide(workspace)

    assert provider_server.requests[0].body["model"] == "jev"


async def test_criteria_fall_to_chat_models(provider_server: ScriptedServer) -> None:
    provider_server.reply(text=LABELS)
    workspace = criteria_workspace(
        provider_server.url,
        {"min_context": 10},
        jev={"provider": "judge", "capabilities": ["decision"]},
        luna={"provider": "chat", "capabilities": ["chat"], "context_tokens": 10},
    )

    result = await decide(workspace)

    assert provider_server.requests[0].body["model"] == "luna"
    assert result.probability_kind is ProbabilityKind.NONE


async def test_criteria_that_ask_for_decisions_do_not_fall(provider_server: ScriptedServer) -> None:
    workspace = criteria_workspace(
        provider_server.url,
        {"capabilities": ["decision"]},
        luna={"provider": "chat", "capabilities": ["chat"]},
    )

    error = await refusal(workspace)

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert "no declared model meets the criteria (capabilities: decision)" in error.message
    assert provider_server.requests == []


# --- fallbacks ---


def with_backup(server: ScriptedServer, backup_model: dict[str, object], type_: str) -> Any:
    """The judge under /judge, its fallback under /backup."""
    return make_workspace(
        server.url,
        base_url=f"{server.url}/judge",
        backup={"type": type_, "base_url": f"{server.url}/backup", "api_key": "env:BACKUP_KEY"},
        backup_model=backup_model,
    )


async def test_a_native_fallback(provider_server: ScriptedServer) -> None:
    provider_server.reply(path="/judge/systemone", status=503, repeat=True)
    provider_server.reply(path="/backup/systemone", body=system_one_reply(model="spare-2026"))
    prices = {"input": "1", "output": 0}
    workspace = with_backup(
        provider_server, {"id": "spare", "prices": prices, "capabilities": ["decision"]}, "typesafe"
    )

    result = await decide(workspace)

    served = provider_server.requests[-1]
    assert (served.path, served.body["model"]) == ("/backup/systemone", "spare")
    assert served.headers["authorization"] == "Bearer key-backup-4711"
    assert (result.provider, result.model, result.configuration) == (
        "backup",
        "spare-2026",
        "judge",
    )
    assert result.call.is_fallback
    assert (result.call.tries, result.call.requested_model) == (3, "spare")
    assert result.cost_usd == Decimal("0.000318")


async def test_a_chat_model_as_the_fallback_of_a_decision_model(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(path="/judge/systemone", status=503, repeat=True)
    provider_server.reply(path="/backup/chat/completions", text=LABELS)
    workspace = with_backup(provider_server, {"capabilities": ["chat"]}, "openai")

    result = await decide(workspace)

    served = provider_server.requests[-1]
    assert served.body["model"] == "backup-model"
    assert "Not lent." not in str(served.body)
    assert (result.provider, result.probability_kind) == ("backup", ProbabilityKind.NONE)
    assert result.call.is_fallback
    assert result.call.operation is Operation.CHAT
    assert result.call.tries == 3
    assert (result.input_tokens, result.output_tokens) == (12, 3)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"status": 422, "body": {"detail": "no"}}, DecisionCode.REJECTED),
        ({"body": {"answers": {}}}, DecisionCode.INVALID_ANSWER),
        ({"raw": b"<html>"}, DecisionCode.INVALID_ANSWER),
    ],
    ids=["refused", "invalid", "no-json"],
)
async def test_a_provider_that_answered_has_not_failed(
    provider_server: ScriptedServer, reply: dict[str, Any], code: DecisionCode
) -> None:
    provider_server.reply(path="/judge/systemone", **reply)
    workspace = with_backup(provider_server, {"capabilities": ["decision"]}, "typesafe")

    error = await refusal(workspace)

    assert error.code is code
    assert [request.path for request in provider_server.requests] == ["/judge/systemone"]


@pytest.mark.parametrize("status", [402, 429, 500, 503])
async def test_what_makes_a_provider_fail(provider_server: ScriptedServer, status: int) -> None:
    provider_server.reply(path="/judge/systemone", status=status, repeat=True)
    provider_server.reply(path="/backup/systemone", body=system_one_reply())
    workspace = with_backup(provider_server, {"capabilities": ["decision"]}, "typesafe")

    result = await decide(workspace)

    assert result.provider == "backup"


async def test_an_unreachable_fallback_is_not_asked_while_the_judge_answers(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(body=system_one_reply())
    with refusing_url() as url:
        workspace = make_workspace(
            provider_server.url, backup={"type": "typesafe", "base_url": url}
        )
        result = await decide(workspace)

    assert (result.provider, result.call.is_fallback) == ("judge", False)


@pytest.mark.parametrize(
    "model", [{"capabilities": ["embedding"]}, {"capabilities": ["chat"]}], ids=["other", "chat"]
)
async def test_a_fallback_that_cannot_decide_is_refused_before_anything(
    provider_server: ScriptedServer, model: dict[str, object]
) -> None:
    workspace = with_backup(provider_server, model, "typesafe")

    error = await refusal(workspace)

    assert error.code is DecisionCode.MODEL_CANNOT_DECIDE
    assert '"backup-model"' in error.message
    assert provider_server.requests == []


# --- data classes ---

_CEILINGS = {
    TrustZone.LOCAL: DataClass.SECRET_ADJACENT,
    TrustZone.PRIVATE_HOSTED: DataClass.SYSTEM_DIAGNOSTICS,
    TrustZone.EXTERNAL_EU: DataClass.INTERNAL_CONFIGURATION,
    TrustZone.EXTERNAL_GLOBAL: DataClass.EDITOR_CONTENT,
}
_ORDER = list(DataClass)
_ABOVE = [
    (zone, _ORDER[_ORDER.index(ceiling) + 1])
    for zone, ceiling in _CEILINGS.items()
    if ceiling is not _ORDER[-1]
]


@pytest.mark.parametrize(("zone", "data_class"), _CEILINGS.items())
async def test_data_up_to_the_ceiling_of_a_zone_is_sent(
    provider_server: ScriptedServer, zone: TrustZone, data_class: DataClass
) -> None:
    provider_server.reply(body=system_one_reply())
    workspace = make_workspace(provider_server.url, trust_zone=zone)

    await decide(workspace, make_profile(data_class=data_class))

    assert len(provider_server.requests) == 1


@pytest.mark.parametrize(("zone", "data_class"), _ABOVE)
async def test_data_above_the_ceiling_of_a_zone_is_not(
    provider_server: ScriptedServer, zone: TrustZone, data_class: DataClass
) -> None:
    workspace = make_workspace(provider_server.url, trust_zone=zone)

    error = await refusal(workspace, make_profile(data_class=data_class))

    assert error.code is DecisionCode.DATA_CLASS_NOT_PERMITTED
    assert provider_server.requests == []


@pytest.mark.parametrize(("zone", "data_class"), _ABOVE)
@pytest.mark.parametrize(("kind", "capability"), [("typesafe", "decision"), ("openai", "chat")])
async def test_data_above_the_ceiling_of_a_fallbacks_zone_is_not(
    provider_server: ScriptedServer,
    zone: TrustZone,
    data_class: DataClass,
    kind: str,
    capability: str,
) -> None:
    backup = {"type": kind, "base_url": provider_server.url, "trust_zone": zone}
    workspace = make_workspace(
        provider_server.url,
        trust_zone=TrustZone.LOCAL,
        backup=backup,
        backup_model={"capabilities": (capability,)},
    )

    error = await refusal(workspace, make_profile(data_class=data_class))

    assert error.code is DecisionCode.DATA_CLASS_NOT_PERMITTED
    assert 'provider "backup"' in error.message
    assert provider_server.requests == []


@pytest.mark.parametrize("asked", [DataClass.SOURCE_CODE, DataClass.SECRET_ADJACENT])
async def test_the_more_sensitive_of_request_and_profile_counts(
    provider_server: ScriptedServer, asked: DataClass
) -> None:
    async with open_service(make_workspace(provider_server.url)) as service:
        with pytest.raises(DecisionError) as caught:
            await service.evaluate(DecisionRequest("acme.answer", SUBJECT, data_class=asked))

    assert caught.value.code is DecisionCode.DATA_CLASS_NOT_PERMITTED
    assert provider_server.requests == []


async def test_a_request_cannot_lower_the_profiles_class(provider_server: ScriptedServer) -> None:
    profile = make_profile(data_class="source_code")
    async with open_service(make_workspace(provider_server.url), profile) as service:
        request = DecisionRequest(profile, SUBJECT, data_class=DataClass.PUBLIC_CONTENT)
        with pytest.raises(DecisionError) as caught:
            await service.evaluate(request)

    assert caught.value.code is DecisionCode.DATA_CLASS_NOT_PERMITTED


# --- resolved once ---


async def test_the_model_that_was_checked_serves(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply(), repeat=True)
    models: dict[str, Any] = {
        "jev": {"provider": "judge", "capabilities": ["decision"]},
    }
    workspace = criteria_workspace(provider_server.url, {}, **models)

    async with open_service(workspace) as service:
        available = service.assert_available("acme.answer")
        # A model that would be chosen now, in a zone that must not be reached.
        workspace.models.clear()
        workspace.models["other"] = ModelEntry(provider="chat", capabilities=("decision",))
        await service.evaluate(DecisionRequest("acme.answer", SUBJECT))

    assert available.model == "jev"
    assert [request.body["model"] for request in provider_server.requests] == ["jev"]


# --- pre-flight ---


async def test_available(provider_server: ScriptedServer) -> None:
    async with open_service(make_workspace(provider_server.url)) as service:
        available = service.assert_available("acme.answer", data_class=DataClass.PUBLIC_CONTENT)

    assert (available.configuration, available.provider) == ("judge", "judge")
    assert (available.model, available.operation) == ("jev-1.14.0", Operation.DECISION)
    assert available.profile == make_profile()
    assert available.data_class is DataClass.EDITOR_CONTENT
    assert available.notes == ()
    assert provider_server.requests == []


async def test_available_by_chat_says_so(provider_server: ScriptedServer) -> None:
    async with open_service(chat_workspace(provider_server.url)) as service:
        assert service.assert_available("acme.answer").operation is Operation.CHAT


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("acme.anwser",), DecisionCode.UNKNOWN_PROFILE),
        (("acme.answer", "jugde"), DecisionCode.UNKNOWN_CONFIGURATION),
        (
            ("acme.answer", None, DataClass.SOURCE_CODE),
            DecisionCode.DATA_CLASS_NOT_PERMITTED,
        ),
    ],
)
async def test_not_available(
    provider_server: ScriptedServer, words: tuple[Any, ...], code: DecisionCode
) -> None:
    async with open_service(make_workspace(provider_server.url)) as service:
        with pytest.raises(DecisionError) as caught:
            service.assert_available(*words)

    assert caught.value.code is code
    assert provider_server.requests == []


async def test_a_key_that_cannot_be_read_is_found_before_anything() -> None:
    workspace = make_workspace("http://127.0.0.1:1")
    async with open_service(workspace, environ={}) as service:
        with pytest.raises(ConfigurationError, match="JUDGE_KEY"):
            service.assert_available("acme.answer")


async def test_a_profile_that_is_declared_nowhere(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"answers": {"q": {"type": "noul", "noul": 0.25}}})
    profile = make_question(type="yes_no")

    result = await decide(make_workspace(provider_server.url), profile)

    assert result.answer("q").value == 0.25


# --- moving aliases ---


@pytest.mark.parametrize(
    ("model_id", "is_alias"),
    [
        ("jev-latest", True),
        ("jev-preview", True),
        ("typesafe/jev-latest", True),
        ("~typesafe/jev-latest", True),
        ("jev-1.14.0", False),
        ("jev-latest-2", False),
    ],
)
async def test_aliases_are_warned_about(
    provider_server: ScriptedServer, model_id: str, is_alias: bool
) -> None:
    provider_server.reply(body=system_one_reply())
    workspace = make_workspace(provider_server.url, model={"id": model_id})

    async with open_service(workspace) as service:
        available = service.assert_available("acme.answer")
        result = await service.evaluate(DecisionRequest("acme.answer", SUBJECT))

    assert available.notes == result.notes
    assert bool(result.notes) is is_alias
    assert not is_alias or f'"{model_id}" is an alias that moves' in result.notes[0]
    assert result.model == "jev-1.14.0"
