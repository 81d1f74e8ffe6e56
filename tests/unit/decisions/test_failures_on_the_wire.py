"""Each row of the table of failures, against a real server; and what each costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalcli.calls.pipeline import CallResult, Pipeline
from evalcli.decisions.profile_memory import remember_profile
from evalcli.decisions.service import DecisionService
from evalcli.declarations.profile import Profile
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import (
    BudgetError,
    ConfigurationError,
    DecisionCode,
    DecisionError,
    DeclarationError,
    ExitStatus,
    Fault,
    ProviderConnectionError,
    ProviderError,
    ProviderStatusError,
    ProviderTimeoutError,
    TrustZoneError,
    UsageError,
)
from evalcli.history.store import History
from evalcli.records import DecisionRequest, DecisionResult, Subject
from tests.support.builders import STARTED_AT
from tests.support.decisions import (
    ENVIRON,
    SUBJECT,
    SYSTEM_ONE_ANSWERS,
    make_profile,
    make_question,
    make_workspace,
    open_service,
    system_one_reply,
)
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

OVERLOADED = {"detail": {"error_type": "overloaded", "message": "Try again later."}}


async def decide(
    workspace: WorkspaceFile,
    *profiles: Profile,
    subject: Subject = SUBJECT,
    profile: str | Profile = "acme.answer",
    configuration: str | None = None,
    **options: Any,
) -> DecisionResult:
    async with open_service(workspace, *profiles, **options) as service:
        return await service.evaluate(DecisionRequest(profile, subject, configuration))


async def refusal(workspace: WorkspaceFile, *profiles: Profile, **options: Any) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        await decide(workspace, *profiles, **options)
    return caught.value


async def failure(server: ScriptedServer, **options: Any) -> DecisionError:
    return await refusal(make_workspace(server.url), **options)


# --- before anything is sent: exit 2 ---


async def test_unknown_profile(provider_server: ScriptedServer) -> None:
    error = await failure(provider_server, profile="acme.anwser")

    assert error.code is DecisionCode.UNKNOWN_PROFILE
    assert error.exit_status is ExitStatus.USAGE
    assert isinstance(error.__cause__, UsageError)
    assert provider_server.requests == []


async def test_invalid_profile_names_the_fault(provider_server: ScriptedServer) -> None:
    fault = Fault("profiles/a.yaml", 9, 4, "questions.q.options", "needs 2 to 255 options, has 1")

    def find(identifier: str) -> Profile:
        raise DeclarationError(f'profile "{identifier}" is set aside: 1 fault', faults=[fault])

    error = await failure(provider_server, find_profile=find)

    assert error.code is DecisionCode.INVALID_PROFILE
    assert error.exit_status is ExitStatus.USAGE
    assert "profiles/a.yaml:9:4: questions.q.options: needs 2 to 255 options" in error.message
    assert isinstance(error.__cause__, DeclarationError)
    assert provider_server.requests == []


async def test_profile_that_changed_without_a_new_version(
    provider_server: ScriptedServer, tmp_path: Path
) -> None:
    with History.open(tmp_path / "history.db") as history:
        first = make_question(type="yes_no", instructions="Is it?")
        remember_profile(history, first, first_use="batch", used_at=STARTED_AT)
        error = await failure(provider_server, history=history)

    assert error.code is DecisionCode.INVALID_PROFILE
    assert error.exit_status is ExitStatus.USAGE
    assert "acme.answer@1 has changed since its first use (batch of 2026-11-18)" in error.message
    assert provider_server.requests == []


@pytest.mark.parametrize(
    ("subject", "missing"),
    [
        (Subject(), "task and candidate and evidence"),
        (Subject("", "", ()), "evidence"),
        (Subject("t", None, ("e",)), "candidate"),
    ],
    ids=["all", "no-passage", "null"],
)
async def test_missing_subject_field(
    provider_server: ScriptedServer, subject: Subject, missing: str
) -> None:
    profile = make_profile(requires=["task", "candidate", "evidence"])

    error = await refusal(make_workspace(provider_server.url), profile, subject=subject)

    assert error.code is DecisionCode.MISSING_SUBJECT_FIELD
    assert error.exit_status is ExitStatus.USAGE
    assert f"requires {missing}, which the subject lacks" in error.message
    assert provider_server.requests == []


async def test_an_empty_text_is_present(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())
    profile = make_profile(requires=["task", "candidate", "evidence"])

    await decide(make_workspace(provider_server.url), profile, subject=Subject("", "", ("",)))

    assert provider_server.requests[0].body["state"] == {
        "task": "",
        "candidate": "",
        "evidence": [""],
    }


async def test_no_configuration(provider_server: ScriptedServer) -> None:
    workspace = make_workspace(provider_server.url, decision=None)
    workspace = workspace.model_copy(
        update={"eval": workspace.eval.model_copy(update={"configuration": "judge"})}
    )

    error = await refusal(workspace)

    assert error.code is DecisionCode.NO_CONFIGURATION
    assert error.exit_status is ExitStatus.USAGE
    assert provider_server.requests == []


async def test_unknown_configuration(provider_server: ScriptedServer) -> None:
    error = await failure(provider_server, configuration="jugde")

    assert error.code is DecisionCode.UNKNOWN_CONFIGURATION
    assert error.exit_status is ExitStatus.USAGE
    assert 'write "judge"' in error.advice
    assert isinstance(error.__cause__, ConfigurationError)
    assert provider_server.requests == []


async def test_inactive_configuration(provider_server: ScriptedServer) -> None:
    workspace = make_workspace(provider_server.url, configuration={"active": False})

    error = await refusal(workspace)

    assert error.code is DecisionCode.UNKNOWN_CONFIGURATION
    assert "is inactive" in error.message
    assert provider_server.requests == []


async def test_data_class_not_permitted(provider_server: ScriptedServer) -> None:
    profile = make_profile(data_class="source_code")

    error = await refusal(make_workspace(provider_server.url), profile)

    assert error.code is DecisionCode.DATA_CLASS_NOT_PERMITTED
    assert error.exit_status is ExitStatus.USAGE
    assert isinstance(error.__cause__, TrustZoneError)
    assert provider_server.requests == []


# --- the provider refused: exit 3 ---

_FASTAPI = {
    "detail": [
        {"loc": ["body", "questions", "q"], "msg": "Field required", "type": "missing"},
    ]
}


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, {"error": {"code": 400, "message": "bad criteria"}}, "bad criteria"),
        (400, {"detail": {"error_type": "bad_request", "message": "no state"}}, "no state"),
        (401, {"detail": {"error_type": "authentication_error", "message": "bad key"}}, "bad key"),
        (403, {"message": "verify your account", "error_type": "x"}, "verify your account"),
        (404, {"detail": "no such path"}, "no such path"),
        (413, {"detail": {"error_type": "max_tokens_exceeded", "message": "too long"}}, "too long"),
        (422, _FASTAPI, "body.questions.q: Field required"),
        (422, {"detail": {"error_type": "validation_error", "message": "no option"}}, "no option"),
    ],
    ids=["400-error", "400-detail", "401", "403-flat", "404", "413", "422-list", "422-object"],
)
async def test_rejected(
    provider_server: ScriptedServer, status: int, body: Mapping[str, object], said: str
) -> None:
    provider_server.reply(status=status, body=body)

    error = await failure(provider_server)

    assert error.code is DecisionCode.REJECTED
    assert error.exit_status is ExitStatus.INCOMPLETE
    assert f'judge said {status} "{said}"' in error.message
    assert isinstance(error.__cause__, ProviderStatusError)
    assert len(provider_server.requests) == 1


# --- answered, but not validly: exit 3 ---

_YES = {"type": "noul", "noul": 0.9}


def changed(key: str, **fields: object) -> dict[str, object]:
    return {**SYSTEM_ONE_ANSWERS, key: {**SYSTEM_ONE_ANSWERS[key], **fields}}


def without(key: str) -> dict[str, object]:
    return {name: answer for name, answer in SYSTEM_ONE_ANSWERS.items() if name != key}


_MALFORMED: dict[str, tuple[Mapping[str, object], str]] = {
    "missing": (without("verdict"), "verdict: no answer"),
    "null": ({**SYSTEM_ONE_ANSWERS, "verdict": None}, "verdict: the answer is no object"),
    "extra": ({**SYSTEM_ONE_ANSWERS, "other": _YES}, '"other" was not asked'),
    "wrong type": ({**SYSTEM_ONE_ANSWERS, "verdict": _YES}, "verdict: the answer is not of the"),
    "not offered": (changed("verdict", choice="approve"), 'verdict: "approve" is none of its'),
    "choice is a number": (changed("verdict", choice=1), "verdict: `choice` is no text"),
    "no choice": (changed("verdict", choice=None), "verdict: `choice` is missing"),
    "NaN": (changed("supported", noul=float("nan")), "supported: its value is not finite"),
    "Infinity": (changed("supported", noul=float("inf")), "supported: its value is not finite"),
    "above 1": (changed("supported", noul=1.0000001), "1.0000001 is not in 0 to 1"),
    "negative": (changed("supported", noul=-0.01), "-0.01 is not in 0 to 1"),
    "huge": (changed("supported", noul=10**400), "supported: `noul` is out of range"),
    "string number": (changed("supported", noul="0.9"), "supported: `noul` is no number"),
    "boolean": (changed("supported", noul=True), "supported: `noul` is no number"),
    "level above the top": (changed("answers_task", score=2.01), "2.01 is not in 0 to 2"),
    "level as text": (changed("answers_task", score="2"), "answers_task: `score` is no number"),
    "probability not offered": (
        changed("verdict", probabilities={"publish": 0.5, "approve": 0.5}),
        'a probability of "approve", which was not offered',
    ),
    "probability as text": (
        changed("verdict", probabilities={"publish": "0.5"}),
        "verdict: `a value of probabilities` is no number",
    ),
    "probabilities as a list": (
        changed("verdict", probabilities=[0.3, 0.6, 0.1]),
        "verdict: `probabilities` is no object",
    ),
    "sum too far from 1": (
        changed("verdict", probabilities={"publish": 0.3, "revise": 0.6, "discard": 0.05}),
        "verdict: its probabilities add up to 0.95, not to 1",
    ),
    "confidence above 1": (
        changed("verdict", confidence=1.5),
        "verdict: its confidence 1.5 is not in 0 to 1",
    ),
    "confidence as text": (changed("verdict", confidence="high"), "`confidence` is no number"),
}


@pytest.mark.parametrize("name", _MALFORMED)
async def test_invalid_answer(provider_server: ScriptedServer, name: str) -> None:
    answers, why = _MALFORMED[name]
    provider_server.reply(body=system_one_reply(answers))

    error = await failure(provider_server)

    assert error.code is DecisionCode.INVALID_ANSWER
    assert error.exit_status is ExitStatus.INCOMPLETE
    assert error.message.startswith("INVALID_ANSWER: judge ")
    assert why in error.message
    assert len(provider_server.requests) == 1


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"<html>Bad gateway</html>", "not JSON"),
        (b"[]", "holds no answers"),
        (b'{"model": "m"}', "holds no answers"),
        (b'{"answers": [1]}', "holds no answers"),
        (b'{"answers": {"q": {"noul": 1}}, "answers": {"q": {"noul": 0}}}', "has a key twice"),
        (b'{"answers": {"q": {"noul": 1}, "q": {"noul": 0}}}', "has a key twice"),
        (b'{"answers": {"q": {"noul": 1, "noul": 0}}}', "has a key twice"),
        (b"", "it is empty"),
    ],
    ids=["html", "list", "none", "answers-list", "twice", "question-twice", "value-twice", "empty"],
)
async def test_invalid_reply(provider_server: ScriptedServer, raw: bytes, why: str) -> None:
    provider_server.reply(raw=raw)
    profile = make_question(type="yes_no")

    error = await refusal(make_workspace(provider_server.url), profile)

    assert error.code is DecisionCode.INVALID_ANSWER
    assert why in error.message
    assert isinstance(error.__cause__, ProviderError)
    assert len(provider_server.requests) == 1


async def test_many_faults_are_not_all_said(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply({f"x{n}": _YES for n in range(9)}))

    error = await failure(provider_server)

    assert error.message.endswith("answers_task: no answer; and 9 more faults")


# --- everything else: exit 3 ---


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_outage(provider_server: ScriptedServer, status: int) -> None:
    provider_server.reply(status=status, body=OVERLOADED, repeat=True)

    error = await failure(provider_server)

    assert error.code is DecisionCode.FAILED
    assert error.exit_status is ExitStatus.INCOMPLETE
    assert "Try again later." in error.message
    assert isinstance(error.__cause__, ProviderStatusError)
    assert len(provider_server.requests) == 2


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "2"}, {"retry-after-ms": "2000"}])
async def test_rate_limit(provider_server: ScriptedServer, headers: Mapping[str, str]) -> None:
    provider_server.reply(status=429, body=OVERLOADED, headers=headers, repeat=True)

    error = await failure(provider_server)

    assert error.code is DecisionCode.FAILED
    assert len(provider_server.requests) == 2


async def test_rate_limit_that_passes(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=429, body=OVERLOADED, headers={"Retry-After": "1"})
    provider_server.reply(body=system_one_reply())

    result = await decide(make_workspace(provider_server.url))

    assert result.call.tries == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, {"detail": "Payment required"}),
        (429, {"detail": {"error_type": "insufficient_credits", "message": "No money."}}),
    ],
)
async def test_no_money(
    provider_server: ScriptedServer, status: int, body: Mapping[str, object]
) -> None:
    provider_server.reply(status=status, body=body)

    error = await failure(provider_server)

    assert error.code is DecisionCode.FAILED
    assert error.exit_status is ExitStatus.INCOMPLETE
    assert len(provider_server.requests) == 1


async def test_timeout(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="timeout", repeat=True)

    error = await refusal(make_workspace(provider_server.url, timeout_s="0.1"))

    assert error.code is DecisionCode.FAILED
    assert isinstance(error.__cause__, ProviderTimeoutError)


@pytest.mark.parametrize("failing", ["reset", "half_body"])
async def test_broken_connection(provider_server: ScriptedServer, failing: Any) -> None:
    provider_server.reply(failure=failing, body=system_one_reply(), repeat=True)

    error = await failure(provider_server)

    assert error.code is DecisionCode.FAILED
    assert isinstance(error.__cause__, ProviderConnectionError)


async def test_refused_connection() -> None:
    with refusing_url() as url:
        error = await refusal(make_workspace(url))

    assert error.code is DecisionCode.FAILED
    assert isinstance(error.__cause__, ProviderConnectionError)


@pytest.mark.parametrize("error_body", [{"error": "broken"}, {"error": {"message": "broken"}}])
async def test_an_error_inside_a_success(
    provider_server: ScriptedServer, error_body: Mapping[str, object]
) -> None:
    provider_server.reply(body=error_body)

    error = await failure(provider_server)

    assert error.code is DecisionCode.FAILED
    assert "broken" in error.message


async def test_exhausted_fallbacks_chain_every_cause(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, body=OVERLOADED, repeat=True)
    with refusing_url() as url:
        backup = {"type": "typesafe", "base_url": url}
        error = await refusal(make_workspace(provider_server.url, backup=backup))

    assert error.code is DecisionCode.FAILED
    assert isinstance(error.__cause__, ProviderConnectionError)
    assert isinstance(error.__cause__.__cause__, ProviderStatusError)
    assert "connection refused" in error.message
    assert 'before that, judge said 503 "Try again later."' in error.message


async def test_a_fallback_that_refuses_has_exhausted_them(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=503, path="/judge/systemone", repeat=True)
    provider_server.reply(status=401, path="/backup/systemone", body={"detail": "bad key"})
    backup = {"type": "typesafe", "base_url": f"{provider_server.url}/backup"}
    workspace = make_workspace(
        provider_server.url, base_url=f"{provider_server.url}/judge", backup=backup
    )

    error = await refusal(workspace)

    assert error.code is DecisionCode.FAILED


# --- no such answer ---


async def test_no_such_answer(provider_server: ScriptedServer) -> None:
    provider_server.reply(body=system_one_reply())
    result = await decide(make_workspace(provider_server.url))

    with pytest.raises(DecisionError) as caught:
        result.answer("verdcit")

    assert caught.value.code is DecisionCode.NO_SUCH_ANSWER
    assert "verdict, supported, answers_task" in caught.value.advice
    assert result.answer("supported").value == 0.86


# --- what is no decision error ---


class Denying(Pipeline):
    """A pipeline that refuses inside, as a budget or a guardrail does."""

    def __init__(self, workspace: WorkspaceFile, error: Exception) -> None:
        super().__init__(workspace, root=None, environ=ENVIRON)
        self._error = error

    async def ask_decision(self, *words: Any, **options: Any) -> CallResult:
        raise self._error


@pytest.mark.parametrize(
    "denial",
    [BudgetError("the budget is spent"), TrustZoneError("a guardrail"), KeyError("a bug")],
    ids=["budget", "trust-zone", "bug"],
)
async def test_denials_and_bugs_pass_through(denial: Exception) -> None:
    workspace = make_workspace("http://127.0.0.1:1")
    async with Denying(workspace, denial) as pipeline:
        service = DecisionService(workspace, pipeline, lambda _: make_profile())
        with pytest.raises(type(denial)) as caught:
            await service.evaluate(DecisionRequest("acme.answer", SUBJECT))

    assert caught.value is denial


async def test_a_missing_key_is_a_fault_of_the_configuration(
    provider_server: ScriptedServer,
) -> None:
    with pytest.raises(ConfigurationError, match="JUDGE_KEY"):
        await decide(make_workspace(provider_server.url), environ={})

    assert provider_server.requests == []


# --- failures as values ---


async def test_a_failure_after_something_was_sent_is_a_value_with_its_call(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(body=system_one_reply(without("verdict")))
    async with open_service(make_workspace(provider_server.url)) as service:
        outcome = await service.ask(DecisionRequest("acme.answer", SUBJECT))

    assert outcome.result is None
    assert outcome.error is not None
    assert outcome.error.code is DecisionCode.INVALID_ANSWER
    assert (outcome.call.usage.input_tokens, outcome.call.tries) == (318, 1)
    assert outcome.call.cost_usd is not None


# --- what errors do not say ---


@pytest.mark.parametrize("status", [200, 400, 422, 500])
async def test_an_error_echoes_no_subject_and_no_key(
    provider_server: ScriptedServer, status: int
) -> None:
    subject = Subject(
        task="Summarise the secret plan for the harbour.",
        candidate="The harbour is moved to the north in May.",
        evidence=("Harbour file 17: moved north, not public.",),
    )
    echo = " | ".join([*subject.texts(), ENVIRON["JUDGE_KEY"]])
    body: dict[str, object] = {"detail": {"message": f"cannot judge: {echo}" + "!" * 500}}
    if status == 200:
        body = system_one_reply(changed("verdict", choice=echo))
    provider_server.reply(status=status, body=body, repeat=True)

    error = await failure(provider_server, subject=subject)

    shown = f"{error} {error.__cause__} {getattr(error.__cause__, 'detail', '')}"
    for text in (*subject.texts(), ENVIRON["JUDGE_KEY"]):
        assert text not in shown
    assert "harbour" not in shown.lower()
    assert len(error.message) < 600
