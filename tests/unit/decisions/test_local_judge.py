"""A real model as the judge: constrained generation in this process, and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evalcli.declarations.workspace import WorkspaceFile
from evalcli.loading.catalog import Catalog, LoadedWorkspace
from evalcli.loading.workspace_rules import DEFAULTS
from evalcli.records import DecisionRequest, DecisionResult, ProbabilityKind, Subject
from tests.support.decisions import SUBJECT, make_workspace, open_service
from tests.support.llama import LlamaServer, model_file

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


async def decide(workspace: WorkspaceFile, configuration: str) -> DecisionResult:
    async with open_service(workspace) as service:
        return await service.evaluate(
            DecisionRequest("acme.answer", SUBJECT, configuration=configuration)
        )


def check(result: DecisionResult) -> None:
    """Whatever the model thinks, it thinks it within what was offered."""
    assert result.answers["verdict"].choice in ("publish", "revise", "discard")
    assert result.answers["supported"].value in (0.0, 1.0)
    assert result.answers["answers_task"].value in (0.0, 1.0, 2.0)
    assert result.probability_kind is ProbabilityKind.NONE
    assert result.call.tries == 1
    assert result.input_tokens is not None
    assert result.input_tokens > 100


async def test_the_local_model_is_held_to_the_schema_and_repeats_itself() -> None:
    model_file()

    first = await decide(DEFAULTS, "local")
    second = await decide(DEFAULTS, "local")

    check(first)
    assert first.answers == second.answers


async def test_the_built_in_profile_on_the_local_model() -> None:
    model_file()
    profile = Catalog(LoadedWorkspace(None, DEFAULTS)).find_profile("nr.task_fulfilment")

    async with open_service(DEFAULTS, profile) as service:
        result = await service.evaluate(
            DecisionRequest(profile, Subject("What is 2 + 2?", "4", ("4",)), "local")
        )

    assert result.answer("fulfilment").value in (0, 1, 2, 3, 4)


async def test_llama_over_http_is_held_to_the_schema(llama: LlamaServer) -> None:
    model: dict[str, Any] = {
        "id": "smollm2-135m",
        "capabilities": ["chat", "structured_output"],
    }

    check(
        await decide(make_workspace(llama.url, type="openai", model=model, timeout_s=120), "judge")
    )
