"""Many jobs, n at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


async def perform_jobs(
    jobs: Iterable[JobT],
    perform: Callable[[JobT], Awaitable[ResultT]],
    keep: Callable[[JobT, ResultT], None],
    *,
    concurrency: int,
) -> None:
    """Perform every job, at most `concurrency` at once, and hand each result on as it comes.

    `keep` runs before its worker takes the next job, so that at most `concurrency` results are
    not kept yet at any moment. The first exception of `perform` or `keep` ends the others and is
    raised as itself.
    """
    queue = iter(jobs)

    async def work() -> None:
        for job in queue:
            keep(job, await perform(job))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except BaseExceptionGroup as group_error:
        raise _first_leaf(group_error) from group_error


def _first_leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_leaf(first) if isinstance(first, BaseExceptionGroup) else first
