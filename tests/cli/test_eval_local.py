"""The default of a person without key and configuration: the small model in the same process."""

from __future__ import annotations

import signal

import pytest

from tests.support.llama import MODEL, model_file
from tests.support.workspace import CliWorkspace

pytestmark = pytest.mark.slow


@pytest.fixture
def workspace(cli_workspace: CliWorkspace) -> CliWorkspace:
    """A workspace that declares nothing to ask, so that the built-in defaults serve."""
    model_file()
    cli_workspace.write("evalcli.yaml", "history: {content: full}\n")
    return cli_workspace


def test_first_run_is_the_baseline_and_the_second_equals_it(workspace: CliWorkspace) -> None:
    first = workspace.process("eval", "run", "nr.smoke")
    assert first.exit == 0
    assert f"configuration local ({MODEL.model}, on this machine)" in first.stdout
    assert "This run is now the baseline" in first.stdout
    assert "a small model for trying evalcli out" in first.stdout
    answers = [prompt["answer"] for prompt in workspace.last_run()["prompts"]]

    second = workspace.process("eval", "run", "nr.smoke", "--fail-on-regression")
    assert second.exit == 0
    assert "PASSED" in second.stdout
    assert [prompt["answer"] for prompt in workspace.last_run()["prompts"]] == answers


def test_json_is_all_there_is_on_stdout_and_llama_says_nothing(workspace: CliWorkspace) -> None:
    result = workspace.process("eval", "run", "nr.smoke", "--format", "json")
    assert {prompt["id"] for prompt in result.json["prompts"]} == {
        "capital-of-france",
        "two-plus-two",
        "echo-token",
    }
    assert "llama" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_within_an_answer_ends_in_order(
    workspace: CliWorkspace, number: signal.Signals
) -> None:
    workspace.write(
        "evalcli.yaml",
        f"""\
providers: {{local: {{type: local, concurrency: 2, threads: 1}}}}
models: {{{MODEL.model}: {{provider: local}}}}
configurations: {{local: {{model: {MODEL.model}, max_output_tokens: 1500}}}}
eval: {{configuration: local}}
""",
    )
    workspace.write_set(
        "my.long", {"short": "Say hi.", "dog": "Tell a long story about a dog, then one of a cat."}
    )
    with workspace.popen("-v", "eval", "run", "my.long") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "short" in line:
                break
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)  # the story alone takes longer
    assert process.returncode == 130
    assert "--resume" in stderr


def test_model_of_another_name_is_refused_before_anything_is_stored(
    workspace: CliWorkspace,
) -> None:
    result = workspace.run("eval", "run", "nr.smoke", "--model", "gpt-2", "--provider", "local")
    assert result.exit == 2
    assert "names no file" in result.stderr
    assert workspace.run_count() == 0
