"""evalcli eval run against a real language model behind HTTP, by somebody else's server.

What a small model says is its own affair: asserted is what must hold whatever it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.llama import LlamaServer
from tests.support.server import ScriptedServer
from tests.support.workspace import CliWorkspace

pytestmark = pytest.mark.slow

CONFIG = """\
providers:
  llama: {{type: openai, base_url: '{url}/v1', concurrency: 2, timeout_s: 300}}
models:
  smollm2-135m: {{provider: llama}}
configurations:
  bot:
    model: smollm2-135m
    system: The office is open from Monday to Friday. The door is green.
    temperature: 0
    max_output_tokens: 24
eval: {{configuration: bot}}
"""
SET = """\
kind: prompts
identifier: office.smoke
name: Office
prompts:
  - {id: open, prompt: When is the office open?, assertions: [{contains: Monday}]}
  - {id: door, prompt: What colour is the door?, assertions: [{contains: green}]}
"""
WORSE = "The office is open on Sunday only. The door is red."


@pytest.fixture
def workspace(tmp_path: Path, provider_server: ScriptedServer) -> Iterator[CliWorkspace]:
    with LlamaServer() as llama:
        folder = tmp_path / "workspace"
        folder.mkdir()
        made = CliWorkspace(folder, provider_server)
        made.write("evalcli.yaml", CONFIG.format(url=llama.url))
        made.write("sets/office.yaml", SET)
        yield made


def test_worse_system_prompt_is_a_regression_in_this_history_and_in_another(
    workspace: CliWorkspace,
) -> None:
    first = workspace.run("eval", "run", "office.smoke", "--fail-on-regression")
    again = workspace.run("eval", "run", "office.smoke", "--fail-on-regression")
    worse = workspace.run("eval", "run", "office.smoke", "--fail-on-regression", "--system", WORSE)

    assert (first.exit, again.exit, worse.exit) == (0, 0, 1)
    assert "REGRESSION" in worse.stdout
    assert "system prompt changed" in worse.stdout
    assert "door" in worse.stdout

    exported = workspace.run("baseline", "export", "office.smoke").stdout
    workspace.write("baselines/office.json", exported)
    workspace.configure("eval:", "history: {path: other/history.db}\neval:")
    words = ("--baseline", "baselines/office.json", "--fail-on-regression")
    same = workspace.run("eval", "run", "office.smoke", *words)
    worse = workspace.run("eval", "run", "office.smoke", *words, "--system", WORSE)

    assert (same.exit, worse.exit) == (0, 1)
    assert "REGRESSION" in worse.stdout


def test_answers_repeat_and_tokens_are_counted(workspace: CliWorkspace) -> None:
    documents = [
        workspace.run("eval", "run", "office.smoke", "--format", "json").json for _ in range(2)
    ]

    answers = [document["prompts"][0]["answer"] for document in documents]
    assert "Monday" in answers[0]
    assert answers[0] == answers[1]
    assert documents[0]["prompts"][0]["output_tokens"] > 0
    assert documents[0]["run"]["models_reported"] == documents[1]["run"]["models_reported"]
