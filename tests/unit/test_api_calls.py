"""evalcli.api as other programs call it: in threads, in event loops, with handlers of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

import evalcli
from evalcli.errors import UsageError
from evalcli.records import RunEvent, Subject, TrialFinished
from tests.support.workspace import CliWorkspace


@pytest.fixture
def workspace(cli_workspace: CliWorkspace, monkeypatch: pytest.MonkeyPatch) -> CliWorkspace:
    """A workspace with a set of two prompts, of which both are answered rightly."""
    for name, value in cli_workspace.environ.items():
        monkeypatch.setenv(name, value)
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a", "b"])
    return cli_workspace


@pytest.fixture
def own_handlers() -> Iterator[list[int]]:
    """Signal handlers of the calling program; gives what they were called with."""
    seen: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {
        number: signal.signal(number, lambda number, _: seen.append(number)) for number in numbers
    }
    yield seen
    for number, handler in before.items():
        signal.signal(number, handler)


def test_handlers_of_the_caller_are_back_after_a_run(
    workspace: CliWorkspace, own_handlers: list[int]
) -> None:
    evalcli.run_prompts("two.smoke", workspace=workspace.folder)

    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)

    assert own_handlers == [signal.SIGTERM, signal.SIGINT]


def test_signal_interrupts_a_run_and_not_its_caller(
    workspace: CliWorkspace, own_handlers: list[int]
) -> None:
    def stop(event: RunEvent) -> None:
        if isinstance(event, TrialFinished):
            os.kill(os.getpid(), signal.SIGTERM)

    # The second answer is held back: had it come already, nothing would be interrupted.
    released = threading.Event()
    workspace.server.reset()
    workspace.answer(right=["a"])
    workspace.server.reply(text="b", until=released)
    options = evalcli.RunOptions(concurrency=1)
    with pytest.raises(evalcli.EvalcliError, match="keeps 1 of 2 prompts"):
        evalcli.run_prompts("two.smoke", options, workspace=workspace.folder, listeners=[stop])
    released.set()

    assert own_handlers == []


def test_signal_at_the_last_answer_loses_nothing(
    workspace: CliWorkspace, own_handlers: list[int]
) -> None:
    def stop(event: RunEvent) -> None:
        if isinstance(event, TrialFinished) and event.done == event.total:
            os.kill(os.getpid(), signal.SIGTERM)

    outcome = evalcli.run_prompts("two.smoke", workspace=workspace.folder, listeners=[stop])

    assert outcome.run.status is evalcli.RunStatus.COMPLETE
    assert own_handlers == []


def test_run_in_another_thread(workspace: CliWorkspace) -> None:
    found: list[evalcli.RunOutcome] = []
    thread = threading.Thread(
        target=lambda: found.append(evalcli.run_prompts("two.smoke", workspace=workspace.folder))
    )
    thread.start()
    thread.join()

    assert found[0].run.status is evalcli.RunStatus.COMPLETE


def test_running_event_loop_is_refused_with_the_way_out(workspace: CliWorkspace) -> None:
    async def call() -> None:
        with pytest.raises(UsageError, match="to_thread"):
            evalcli.run_prompts("two.smoke", workspace=workspace.folder)
        await asyncio.to_thread(evalcli.run_prompts, "two.smoke", workspace=workspace.folder)

    asyncio.run(call())
    assert len(workspace.server.requests) == 2


@pytest.mark.parametrize("limit", [0, -1, 10**20])
def test_list_of_no_length_is_refused(workspace: CliWorkspace, limit: int) -> None:
    with pytest.raises(UsageError, match="limit"):
        evalcli.list_runs(limit=limit, workspace=workspace.folder)


def test_age_beyond_all_time_removes_nothing(workspace: CliWorkspace) -> None:
    assert evalcli.prune_history(timedelta.max, workspace=workspace.folder).removed == 0


def test_negative_age_is_refused(workspace: CliWorkspace) -> None:
    with pytest.raises(UsageError, match="negative"):
        evalcli.prune_history(timedelta(days=-1), workspace=workspace.folder)


def test_decision_in_a_running_event_loop_is_refused_with_the_way_out(
    workspace: CliWorkspace,
) -> None:
    async def call() -> None:
        with pytest.raises(UsageError, match=r"to_thread\(\.\.\.\)"):
            evalcli.decide(
                "nr.task_fulfilment",
                Subject(task="t", candidate="c"),
                configuration="bot",
                workspace=workspace.folder,
            )

    asyncio.run(call())
    assert workspace.server.requests == []
