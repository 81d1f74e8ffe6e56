"""The official TypeSafe client and our adapter, both against the System One test server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typesafe_sdk import (
    Choice,
    Noul,
    NoulCriteria,
    Question,
    RetryPolicy,
    Score,
    TypeSafeAuthenticationError,
    TypeSafeBadRequestError,
    TypeSafeClient,
    TypeSafeUnprocessableEntityError,
)

from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import ProviderStatusError
from evalcli.protocols import ProviderSetup
from evalcli.providers.decision_servers import TypeSafe
from evalcli.records import Decision, QuestionsRequest
from tests.support.decisions import SUBJECT, make_profile, make_question
from tests.support.system_one import SystemOneServer

KEY = "key-judge-4711"
QUESTIONS: dict[str, Question] = {
    "verdict": Choice(
        instructions="What should happen to `candidate`?",
        criteria={
            "publish": None,
            "revise": "Right in substance, needs rework",
            "discard": None,
        },
    ),
    "supported": Noul(
        instructions="Is every claim in `candidate` supported by `evidence`?",
        criteria=NoulCriteria(
            true="Every claim is backed by a passage.",
            false="At least one claim has no passage behind it.",
        ),
    ),
    "answers_task": Score(
        instructions="How completely does `candidate` answer `task`?",
        criteria=["Not at all", "Partly", "Completely"],
    ),
}


@pytest.fixture
def server() -> Iterator[SystemOneServer]:
    with SystemOneServer(key=KEY) as server:
        yield server


def sdk_for(server: SystemOneServer, key: str = KEY) -> TypeSafeClient:
    return TypeSafeClient(
        api_key=key,
        base_url=server.url,
        retry=RetryPolicy(max_retries=0),
        timeout=10,
        compression=False,
    )


async def ask(
    server: SystemOneServer, *, key: str = KEY, model: str = "jev-1.14.0", **fields: object
) -> Decision:
    profile = make_question(**fields) if fields else make_profile()
    entry = ProviderEntry(type="typesafe", base_url=server.base_url)
    adapter = TypeSafe(ProviderSetup("judge", entry, api_key=key, keys=(key,)))
    try:
        return await adapter.ask_decision(QuestionsRequest(model, SUBJECT, profile.questions))
    finally:
        await adapter.aclose()


def state() -> dict[str, str | list[str] | None]:
    return {
        "task": SUBJECT.task,
        "candidate": SUBJECT.candidate,
        "evidence": list(SUBJECT.evidence),
    }


@pytest.mark.anyio
async def test_both_clients_send_the_same_and_read_the_same(server: SystemOneServer) -> None:
    with sdk_for(server) as sdk:
        theirs = sdk.system_one(state=state(), questions=QUESTIONS, model="jev-latest")
    ours = await ask(server, model="jev-latest")

    assert server.bodies[0] == server.bodies[1]
    assert theirs.model == ours.model == "jev-1.14.0"
    assert theirs.nouls["supported"].noul == ours.answers["supported"].value
    verdict, answers_task = ours.answers["verdict"], ours.answers["answers_task"]
    assert theirs.choices["verdict"].choice == verdict.choice
    assert theirs.choices["verdict"].probabilities == verdict.probabilities
    assert theirs.choices["verdict"].confidence == verdict.confidence
    assert theirs.scores["answers_task"].score == answers_task.value
    assert {
        str(level): value for level, value in theirs.scores["answers_task"].probabilities.items()
    } == answers_task.probabilities
    assert theirs.usage.input_tokens is not None
    assert theirs.usage.output_tokens == ours.usage.output_tokens == 0


@pytest.mark.anyio
async def test_both_clients_list_the_models(server: SystemOneServer) -> None:
    with sdk_for(server) as sdk:
        theirs = [model.name for model in sdk.models.list().models]
    adapter = TypeSafe(
        ProviderSetup(
            "judge", ProviderEntry(type="typesafe", base_url=server.base_url), api_key=KEY
        )
    )
    ours = await adapter.list_models()
    await adapter.aclose()

    assert theirs == list(ours) == ["jev-1.14.0"]


@pytest.mark.anyio
async def test_both_clients_are_told_of_a_wrong_key(server: SystemOneServer) -> None:
    with sdk_for(server, "key-wrong-0000") as sdk, pytest.raises(TypeSafeAuthenticationError):
        sdk.system_one(state="x", questions={"q": Noul(instructions="Is it?")}, model="jev-1.14.0")
    with pytest.raises(ProviderStatusError) as caught:
        await ask(server, key="key-wrong-0000")

    assert (caught.value.status, caught.value.detail) == (401, "The key is unknown.")


@pytest.mark.anyio
async def test_both_clients_are_told_of_an_unknown_model(server: SystemOneServer) -> None:
    with sdk_for(server) as sdk, pytest.raises(TypeSafeBadRequestError):
        sdk.system_one(state="x", questions={"q": Noul(instructions="Is it?")}, model="jev-9")
    with pytest.raises(ProviderStatusError) as caught:
        await ask(server, model="jev-9")

    assert (caught.value.status, caught.value.detail) == (400, "Unknown model jev-9")


def test_the_server_refuses_what_the_sdk_calls_unprocessable(server: SystemOneServer) -> None:
    with sdk_for(server) as sdk, pytest.raises(TypeSafeUnprocessableEntityError):
        sdk.system_one(
            state="x",
            questions={"q": Score(instructions="How much?", criteria=["only one"])},
            model="jev-1.14.0",
        )


@pytest.mark.anyio
@pytest.mark.parametrize("count", [2, 255])
async def test_options_up_to_the_limit(server: SystemOneServer, count: int) -> None:
    options = [f"option {number}" for number in range(count)]

    decision = await ask(server, type="choice", options=options)

    assert decision.answers["q"].choice in options
    assert list(decision.answers["q"].probabilities) == options


@pytest.mark.anyio
@pytest.mark.parametrize("count", [2, 10])
async def test_levels_up_to_the_limit(server: SystemOneServer, count: int) -> None:
    decision = await ask(server, type="score", levels=[f"level {n}" for n in range(count)])

    assert list(decision.answers["q"].probabilities) == [str(n) for n in range(count)]
