"""evalcli.testing: the stand-ins answer what was queued, and are what they stand for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import DecisionCode, DecisionError
from evalcli.protocols import ChatModel, Decider, DecisionModel, ProviderSetup, Retriever
from evalcli.records import (
    ChatRequest,
    Decision,
    DecisionAnswer,
    DecisionRequest,
    ProbabilityKind,
    QuestionsRequest,
    Subject,
)
from evalcli.testing import FakeDecisionService, FakeProvider, FakeRetriever, make_result
from tests.support.decisions import make_profile

REQUEST = DecisionRequest("acme.answer", Subject(candidate="x"))


def test_each_fake_is_what_it_stands_for() -> None:
    assert isinstance(FakeDecisionService(), Decider)
    assert isinstance(FakeProvider(), ChatModel)
    assert isinstance(FakeProvider(), DecisionModel)
    assert isinstance(FakeRetriever(), Retriever)


@pytest.mark.anyio
async def test_results_come_in_the_order_they_were_queued() -> None:
    service = FakeDecisionService()
    service.queue_answers(q=DecisionAnswer(0.25))
    service.queue(make_result({"q": DecisionAnswer(0.75)}))

    results = [await service.evaluate(REQUEST) for _ in range(2)]

    assert [result.answer("q").value for result in results] == [0.25, 0.75]
    assert service.requests == [REQUEST, REQUEST]


@pytest.mark.anyio
async def test_error_is_raised_once_and_costs_no_result() -> None:
    service = FakeDecisionService()
    service.queue_answers(q=DecisionAnswer(0.25))
    service.fail_once(DecisionError(DecisionCode.FAILED, "outage"))

    with pytest.raises(DecisionError, match="outage"):
        await service.evaluate(REQUEST)

    assert (await service.evaluate(REQUEST)).answer("q").value == 0.25
    assert len(service.requests) == 2


@pytest.mark.anyio
async def test_empty_queue_is_an_error_of_the_test() -> None:
    with pytest.raises(LookupError, match="request 1"):
        await FakeDecisionService().evaluate(REQUEST)


def test_nothing_is_checked_and_every_check_recorded() -> None:
    service = FakeDecisionService()
    available = service.assert_available("no.such_profile", "judge")
    assert (available.profile.identifier, available.configuration) == ("no.such_profile", "judge")
    assert service.checks == [("no.such_profile", "judge", None)]
    assert service.assert_available(make_profile()).profile == make_profile()


@pytest.mark.anyio
async def test_provider_chats_and_decides_from_its_queues() -> None:
    provider = FakeProvider()
    provider.queue("one", "two")
    provider.queue_decisions(Decision({"q": DecisionAnswer(1.0)}, ProbabilityKind.CALIBRATED))
    chat = ChatRequest("fake", "Say one.")
    questions = QuestionsRequest("fake", Subject(task="t"), {})

    texts = [(await provider.ask_chat(chat)).text for _ in range(2)]
    decision = await provider.ask_decision(questions)

    assert texts == ["one", "two"]
    assert decision.answers["q"].value == 1.0
    assert provider.requests == [chat, chat, questions]
    with pytest.raises(LookupError, match="request 4"):
        await provider.ask_chat(chat)


@pytest.mark.anyio
async def test_provider_is_its_own_factory_and_remembers_its_end() -> None:
    provider = FakeProvider()
    setup = ProviderSetup("main", ProviderEntry(type="fake"))

    assert provider(setup) is provider
    await provider.aclose()

    assert provider.setups == [setup]
    assert provider.is_closed


@pytest.mark.anyio
async def test_retriever_ranks_what_was_set_and_nothing_else() -> None:
    retriever = FakeRetriever()
    retriever.rank("Where?", ["a", "b"])
    retriever.fail_once(RuntimeError("down"))

    with pytest.raises(RuntimeError, match="down"):
        await retriever.retrieve("Where?", 1)

    assert await retriever.retrieve("Where?", 1) == ("a", "b")
    assert await retriever.retrieve("When?", 3) == ()
    assert retriever.questions == [("Where?", 1), ("Where?", 1), ("When?", 3)]


def test_fixtures_are_there_for_who_asks_for_them(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["evalcli.testing"]\n')
    (tmp_path / "test_it.py").write_text(
        "def test_it(fake_decisions, fake_provider, fake_retriever):\n"
        "    assert fake_decisions.requests == fake_provider.requests == []\n"
        "    assert fake_retriever.questions == []\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
