"""evalcli.runs.executor."""

from __future__ import annotations

import asyncio

import pytest

from evalcli.runs.executor import perform_jobs

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_every_job_is_performed_once_and_never_more_at_a_time(concurrency: int) -> None:
    kept: list[tuple[int, int]] = []
    running = peak = 0

    async def perform(job: int) -> int:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        return job * 2

    await perform_jobs(
        range(20), perform, lambda job, result: kept.append((job, result)), concurrency=concurrency
    )

    assert sorted(kept) == [(job, job * 2) for job in range(20)]
    assert peak == min(concurrency, 20)


async def test_result_is_kept_before_the_worker_takes_the_next_job() -> None:
    order: list[str] = []

    async def perform(job: int) -> int:
        order.append(f"perform {job}")
        return job

    await perform_jobs(range(3), perform, lambda job, _: order.append(f"keep {job}"), concurrency=1)

    assert order == ["perform 0", "keep 0", "perform 1", "keep 1", "perform 2", "keep 2"]


async def test_first_failure_ends_the_others_and_comes_out_as_itself() -> None:
    ended: list[int] = []

    async def perform(job: int) -> int:
        if job == 2:
            raise OSError("disk")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(job)
        return job

    with pytest.raises(OSError, match="disk"):
        await perform_jobs(range(5), perform, lambda _job, _result: None, concurrency=5)

    assert sorted(ended) == [0, 1, 3, 4]


async def test_cancellation_passes() -> None:
    started = asyncio.Event()

    async def perform(_: int) -> int:
        started.set()
        await asyncio.Event().wait()
        return 0

    task = asyncio.create_task(
        perform_jobs([1], perform, lambda _job, _result: None, concurrency=1)
    )
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
