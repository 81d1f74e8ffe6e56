"""What every decision model must do: the built-in ones, and one from an installed package."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evalcli.decisions.verify import find_answer_faults
from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import ConfigurationError, ProviderConnectionError, ProviderError
from evalcli.plugins import load_chat_adapter
from evalcli.protocols import ChatModel, DecisionModel, OperationChecker, ProviderSetup
from evalcli.records import (
    ChatRequest,
    Decision,
    Operation,
    ProbabilityKind,
    QuestionsRequest,
)
from tests.support.decisions import SUBJECT, SYSTEM_ONE_ANSWERS, make_profile
from tests.support.plugin_package import install_package
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

KEY = "key-judge-4711"
WEIGHER = Path(__file__).parents[1] / "data" / "weigher"


def load_weigher() -> ModuleType:
    """Load the example package's code from its folder."""
    path = WEIGHER / "evalcli_weigher" / "__init__.py"
    spec = importlib.util.spec_from_file_location("evalcli_weigher_example", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Case:
    """A decision model, and valid answers of its server to the questions of `make_profile`."""

    type: str
    answers: Mapping[str, Any]

    def make(self, base_url: str) -> Any:
        entry = ProviderEntry(type=self.type, base_url=base_url)
        factory = load_weigher().Weigher if self.type == "weigher" else load_chat_adapter(self.type)
        return factory(ProviderSetup("judge", entry, api_key=KEY, keys=(KEY,)))


CASES = [
    Case("typesafe", SYSTEM_ONE_ANSWERS),
    Case(
        "decision_sidecar",
        {
            "verdict": {"choice": "revise", "probabilities": {"revise": 0.9, "publish": 0.1}},
            "supported": {"probability_of_yes": 0.86},
            "answers_task": {"score": 1.7, "probabilities": {"0": 0.1, "1": 0.1, "2": 0.8}},
        },
    ),
    Case(
        "weigher",
        {
            "verdict": {"weights": {"publish": 0.1, "revise": 0.9, "discard": 0.0}},
            "supported": {"weights": {"yes": 0.86, "no": 0.14}},
            "answers_task": {"weights": {"0": 0.1, "1": 0.1, "2": 0.8}},
        },
    ),
]

each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)


@asynccontextmanager
async def opened(case: Case, base_url: str) -> AsyncIterator[Any]:
    adapter = case.make(base_url)
    try:
        yield adapter
    finally:
        await adapter.aclose()


async def ask(case: Case, server: ScriptedServer) -> Decision:
    async with opened(case, server.url) as adapter:
        decision = await adapter.ask_decision(
            QuestionsRequest("model-a", SUBJECT, make_profile().questions)
        )
    assert isinstance(decision, Decision)
    return decision


@each
async def test_it_is_an_adapter_that_decides(case: Case) -> None:
    async with opened(case, "http://127.0.0.1:1") as adapter:
        assert isinstance(adapter, ChatModel)
        assert isinstance(adapter, DecisionModel)
        assert isinstance(adapter, OperationChecker)


@each
async def test_its_answers_are_valid(provider_server: ScriptedServer, case: Case) -> None:
    provider_server.reply(body={"model": "m-2026", "answers": case.answers})

    decision = await ask(case, provider_server)

    faults = find_answer_faults(make_profile().questions, decision.answers, quote=str)
    assert faults == ()
    assert decision.answers["verdict"].choice == "revise"
    assert decision.answers["supported"].value == 0.86
    assert decision.answers["answers_task"].value == pytest.approx(1.7, abs=0.03)
    assert decision.model == "m-2026"
    assert decision.probability_kind is not ProbabilityKind.NONE


@each
async def test_what_is_not_reported_is_unknown(provider_server: ScriptedServer, case: Case) -> None:
    provider_server.reply(body={"answers": case.answers})

    decision = await ask(case, provider_server)

    assert (decision.model, decision.request_id) == (None, None)
    assert (decision.usage.input_tokens, decision.usage.output_tokens) == (None, None)


@each
async def test_answers_to_nothing_asked_are_given_on(
    provider_server: ScriptedServer, case: Case
) -> None:
    provider_server.reply(body={"answers": {**case.answers, "other": 17}})

    decision = await ask(case, provider_server)

    faults = find_answer_faults(make_profile().questions, decision.answers, quote=str)
    assert faults == ("other was not asked",)


@each
@pytest.mark.parametrize("broken", [None, 17, [], {}, "revise"], ids=str)
async def test_a_broken_answer_is_a_reply_error(
    provider_server: ScriptedServer, case: Case, broken: object
) -> None:
    provider_server.reply(body={"answers": {**case.answers, "verdict": broken}})

    with pytest.raises(ProviderError) as caught:
        await ask(case, provider_server)

    assert (caught.value.status, caught.value.is_retryable) == (200, False)
    assert "verdict" in caught.value.message


@each
@pytest.mark.parametrize("status", [401, 422, 503])
async def test_an_error_names_the_provider_and_no_secret(
    provider_server: ScriptedServer, case: Case, status: int
) -> None:
    provider_server.reply(status=status, body={"detail": f"{KEY} {SUBJECT.candidate}"})

    with pytest.raises(ProviderError) as caught:
        await ask(case, provider_server)

    error = caught.value
    assert (error.provider, error.status, error.is_retryable) == ("judge", status, status == 503)
    assert KEY not in str(error)
    assert SUBJECT.candidate is not None
    assert SUBJECT.candidate not in str(error)


@each
async def test_a_refused_connection(case: Case) -> None:
    with refusing_url() as url:
        async with opened(case, url) as adapter:
            with pytest.raises(ProviderConnectionError) as caught:
                await adapter.ask_decision(QuestionsRequest("m", SUBJECT, make_profile().questions))

    assert caught.value.is_retryable


@each
async def test_it_refuses_chat(case: Case) -> None:
    async with opened(case, "http://127.0.0.1:1") as adapter:
        with pytest.raises(ConfigurationError):
            adapter.check_operation(Operation.CHAT)
        with pytest.raises(ConfigurationError):
            await adapter.ask_chat(ChatRequest("m", "Hello"))


# --- from a package that is really installed ---

_DECIDE = """
import asyncio, json, sys
from evalcli.calls.pipeline import Pipeline
from evalcli.decisions.service import DecisionService
from evalcli.declarations.profile import Profile
from evalcli.loading.catalog import load_workspace
from evalcli.records import DecisionRequest, Subject
from pathlib import Path

async def decide():
    loaded = load_workspace(Path(sys.argv[1]), {}, Path.cwd())
    profile = Profile.model_validate(json.loads(sys.argv[2]))
    async with Pipeline(loaded.file, root=loaded.root, environ={}) as pipeline:
        service = DecisionService(loaded.file, pipeline, lambda _: profile)
        result = await service.evaluate(DecisionRequest("a.b", Subject(task="t")))
    print(json.dumps([result.provider, result.answer("q").choice, str(result.probability_kind)]))

asyncio.run(decide())
"""


@pytest.mark.slow
def test_a_package_brings_a_decision_model(tmp_path: Path, provider_server: ScriptedServer) -> None:
    environ = install_package(WEIGHER, tmp_path)
    (tmp_path / "evalcli.yaml").write_text(
        f"providers: {{scales: {{type: weigher, base_url: '{provider_server.url}'}}}}\n"
        "models: {heavy: {provider: scales, capabilities: [decision]}}\n"
        "configurations: {judge: {model: heavy}}\n"
        "decision: {configuration: judge}\n",
        encoding="utf-8",
    )
    profile = {
        "kind": "profile",
        "identifier": "a.b",
        "version": 1,
        "questions": {"q": {"type": "choice", "instructions": "Which?", "options": ["x", "y"]}},
    }
    provider_server.reply(body={"answers": {"q": {"weights": {"x": 0.2, "y": 0.8}}}})

    done = subprocess.run(
        [sys.executable, "-c", _DECIDE, str(tmp_path), json.dumps(profile)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["scales", "y", "distribution"]
    (request,) = provider_server.requests
    assert request.body["questions"] == [{"key": "q", "text": "Which?", "labels": ["x", "y"]}]
