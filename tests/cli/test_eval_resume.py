"""evalcli eval run: killed, interrupted, resumed, and side by side with others."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack

import pytest

from tests.support.command_process import wait_until
from tests.support.workspace import CliWorkspace

TEN = [f"q{number:02}" for number in range(1, 11)]


def interrupted_workspace(workspace: CliWorkspace, number: signal.Signals) -> int:
    """Run ten prompts of which four are answered, then send a signal; gives the exit status."""
    workspace.write_set("ten.smoke", TEN)
    workspace.answer(right=TEN[:4])
    for prompt_id in TEN[4:]:
        workspace.server.reply(to=f"Answer with {prompt_id}.", failure="timeout")
    with workspace.start("eval", "run", "ten.smoke", "--fail-on-regression") as process:
        # All have come: a request that is still on its way would be counted after the signal.
        workspace.server.wait_for_requests(len(TEN))
        wait_until(lambda: workspace.graded_count() == 4)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    assert "Traceback" not in stdout + stderr
    if number is not signal.SIGKILL:
        assert "--resume" in stdout + stderr
    workspace.server.reset()
    return process.returncode


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_resume_asks_exactly_what_is_missing(
    cli_workspace: CliWorkspace, number: signal.Signals, status: int
) -> None:
    assert interrupted_workspace(cli_workspace, number) == status
    document = cli_workspace.last_run()
    assert document["run"]["status"] == "incomplete"
    run_id = document["run"]["id"]
    cli_workspace.answer(right=TEN[4:])

    result = cli_workspace.run("eval", "run", "ten.smoke", "--resume", run_id)

    assert result.exit == 0
    asked = sorted(request.user_text for request in cli_workspace.server.requests)
    assert asked == [f"Answer with {prompt_id}." for prompt_id in TEN[4:]]
    document = cli_workspace.last_run()
    assert document["run"]["id"] == run_id
    assert document["run"]["status"] == "complete"
    assert document["summary"]["pass_rate"] == 1.0
    assert document["comparison"]["state"] == "baseline"
    assert cli_workspace.run_count() == 1


@pytest.mark.parametrize("change", ["set", "configuration", "model", "trials"])
def test_resume_is_refused_after_a_change(cli_workspace: CliWorkspace, change: str) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    cli_workspace.answer(right=TEN[:4])
    cli_workspace.server.reply(status=400, body={"error": {"message": "no"}}, repeat=True)
    assert cli_workspace.run("eval", "run", "ten.smoke").exit == 3
    cli_workspace.server.reset()
    run_id = cli_workspace.last_run()["run"]["id"]
    words = ["eval", "run", "ten.smoke", "--resume", run_id]
    if change == "set":
        texts = {i: f"Answer with {i}." for i in TEN}
        cli_workspace.write_set("ten.smoke", {**texts, "q09": "Do answer with q09."})
    elif change == "configuration":
        cli_workspace.configure("bot: {model: model-a}", "bot: {model: model-a, temperature: 1}")
    elif change == "model":
        words += ["--model", "model-b"]
    else:
        words += ["--trials", "2"]

    result = cli_workspace.run(*words)

    assert result.exit == 2
    named = {
        "set": "q09",
        "configuration": "temperature",
        "model": "model-b",
        "trials": "number of trials",
    }
    assert named[change] in result.output
    assert cli_workspace.server.requests == []


def test_resume_keeps_what_the_first_command_said(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a"])
    cli_workspace.server.reply(to="with b.", status=400, body={"error": {"message": "no"}})
    first = cli_workspace.run(
        "eval", "run", "two.smoke", "--system", "Be odd.", "--model", "model-z", "--draft"
    )
    assert first.exit == 3
    cli_workspace.answer(right=["b"])

    result = cli_workspace.run("eval", "run", "two.smoke", "--resume", "latest")

    assert result.exit == 0
    body = cli_workspace.server.requests[-1].body
    assert body["model"] == "model-z"
    assert body["messages"][0]["content"] == "Be odd."
    assert cli_workspace.last_run()["run"]["is_draft"] is True


def incomplete_regression(workspace: CliWorkspace, *words: str) -> None:
    """Set a baseline, then leave a run of two wrong answers with one prompt unanswered."""
    workspace.write_set("four.smoke", ["a", "b", "c", "d"])
    workspace.answer(right=["a", "b", "c", "d"])
    workspace.run("eval", "run", "four.smoke")
    workspace.answer(right=["a"], wrong=["b", "c"])
    workspace.server.reply(to="with d.", status=400, body={"error": {"message": "no"}})
    assert workspace.run("eval", "run", "four.smoke", *words).exit == 3
    workspace.answer(right=["d"])


def test_gate_stays_armed_when_its_run_is_resumed(cli_workspace: CliWorkspace) -> None:
    incomplete_regression(cli_workspace, "--fail-on-regression")

    result = cli_workspace.run("eval", "run", "four.smoke", "--resume", "latest")

    assert result.exit == 1
    assert "REGRESSION" in result.stdout


def test_baseline_named_on_resuming_is_the_one_that_counts(cli_workspace: CliWorkspace) -> None:
    incomplete_regression(cli_workspace)
    exported = cli_workspace.run("baseline", "export", "four.smoke").stdout
    cli_workspace.write("baselines/four.json", exported)

    result = cli_workspace.run(
        *("eval", "run", "four.smoke", "--resume", "latest", "--format", "json"),
        *("--baseline", "baselines/four.json"),
    )

    assert result.exit == 0
    assert result.json["baseline"]["source"] == "baselines/four.json"


def test_run_resumed_as_a_draft_moves_no_baseline(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a"])
    cli_workspace.server.reply(to="with b.", status=400, body={"error": {"message": "no"}})
    cli_workspace.run("eval", "run", "two.smoke")
    cli_workspace.answer(right=["b"])

    result = cli_workspace.run(
        *("eval", "run", "two.smoke", "--resume", "latest", "--draft", "--format", "json")
    )

    assert result.exit == 0
    assert result.json["baseline"]["move"] == "none"


def test_complete_run_cannot_be_resumed(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.answer(right=["a"])
    cli_workspace.run("eval", "run", "one.smoke")

    result = cli_workspace.run("eval", "run", "one.smoke", "--resume", "latest")

    assert result.exit == 2
    assert "complete" in result.output


def test_running_run_cannot_be_resumed_by_another_process(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a"])
    release = threading.Event()
    cli_workspace.server.reply(to="with b.", text="b", until=release)
    with cli_workspace.start("eval", "run", "two.smoke") as process:
        wait_until(lambda: cli_workspace.graded_count() == 1)

        result = cli_workspace.run("eval", "run", "two.smoke", "--resume", "latest")
        release.set()
        process.communicate(timeout=30)

    assert result.exit == 2
    assert process.returncode == 0
    assert len(cli_workspace.server.requests) == 2


def test_four_sets_start_one_history_together(cli_workspace: CliWorkspace) -> None:
    names = ["a.smoke", "b.smoke", "c.smoke", "d.smoke"]
    for name in names:
        cli_workspace.write_set(name, ["A"])
    cli_workspace.server.reply(text="A", repeat=True)

    with ExitStack() as stack:
        processes = [
            stack.enter_context(cli_workspace.start("eval", "run", name)) for name in names
        ]
        outputs = [process.communicate(timeout=60) for process in processes]

    for process, (stdout, stderr) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, stderr
        for word in ("locked", "already exists", "duplicate column", "Traceback"):
            assert word not in stdout + stderr
    assert cli_workspace.run_count() == 4


def test_what_is_the_baseline_is_what_it_was_at_the_start(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a"])
    release = threading.Event()
    cli_workspace.server.reply(to="with b.", text="no idea", until=release)
    with cli_workspace.start("eval", "run", "two.smoke", "--fail-on-regression") as process:
        wait_until(lambda: cli_workspace.graded_count() == 1)
        cli_workspace.answer(right=["a", "b"])
        assert cli_workspace.run("eval", "run", "two.smoke").exit == 0
        release.set()
        process.communicate(timeout=30)

    assert process.returncode == 0
    baseline = cli_workspace.run("baseline", "show", "two.smoke", "--format", "json").json
    assert {i: row["score"] for i, row in baseline["prompts"].items()} == {"a": "1/1", "b": "1/1"}
