"""The conductor: performs a run's jobs and tells listeners what happened.

It knows neither history nor progress bar: both listen to events. The history's listener returns
only when an answer is committed, so an event is also the promise that nothing before it is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TypeVar

from evalcli.records import Run, RunEvent, RunStarted, Trial, TrialFinished
from evalcli.runs.executor import perform_jobs

JobT = TypeVar("JobT")

Listener = Callable[[RunEvent], None]


async def conduct_run(
    run: Run,
    jobs: Sequence[JobT],
    perform: Callable[[JobT], Awaitable[Trial]],
    listeners: Sequence[Listener],
    *,
    concurrency: int,
    done: int = 0,
    notes: tuple[str, ...] = (),
) -> None:
    """Perform the jobs of a run, `concurrency` at a time.

    `done` counts trials that an earlier session already measured, `notes` say what a person
    should know before the first job. Listeners are called in their order, on the event loop,
    before the worker takes its next job.
    """
    total = done + len(jobs)
    finished = done

    def tell(event: RunEvent) -> None:
        for listener in listeners:
            listener(event)

    def keep(_: JobT, trial: Trial) -> None:
        nonlocal finished
        # An unmeasured trial is done with here; a resumed run asks for it again.
        finished += 1
        tell(TrialFinished(run.run_id, trial, finished, total))

    tell(RunStarted(run, done, notes))
    await perform_jobs(jobs, perform, keep, concurrency=min(concurrency, max(1, len(jobs))))


async def was_interrupted(work: Awaitable[None]) -> bool:
    """Do work to its end; tell whether it was cancelled instead.

    Who cancels (Ctrl-C, SIGTERM) wants an end, and a run that says how far it got.
    """
    try:
        await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        return True
    return False


class RunStack(AsyncExitStack):
    """Closes what a run has opened; a signal that comes only then takes no outcome away."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            return await super().__aexit__(kind, error, trace)
        except asyncio.CancelledError:
            if kind is not None:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            return False
