"""The calls behind a retriever's answer, summed up."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from evalcli.records import CallRecord, Operation, Usage
from evalcli.retrieval.call_ledger import collected_calls, note_call, sum_calls


def make_call(
    provider: str = "main", *, tokens: int | None = 5, cost: str | None = "0.1", model: str = "m-1"
) -> CallRecord:
    """Make the record of one embedding call of 20 ms."""
    return CallRecord(
        Operation.EMBEDDING,
        provider,
        requested_model="m",
        reported_model=model,
        tries=2,
        latency_ms=20.0,
        usage=Usage(input_tokens=tokens, output_tokens=0),
        cost_usd=None if cost is None else Decimal(cost),
        request_id="r-1",
    )


@pytest.mark.anyio
async def test_calls_of_tasks_within_are_collected_and_others_are_not() -> None:
    async def work(name: str) -> None:
        await asyncio.sleep(0)
        note_call(make_call(name))

    async def ask(names: list[str]) -> list[str]:
        with collected_calls() as calls:
            async with asyncio.TaskGroup() as group:
                for name in names:
                    group.create_task(work(name))
        return sorted(call.provider for call in calls)

    first, second = await asyncio.gather(ask(["a", "b"]), ask(["c"]))

    assert (first, second) == (["a", "b"], ["c"])


def test_without_anybody_who_collects_nothing_happens() -> None:
    note_call(make_call())
    with collected_calls() as calls:
        pass
    assert calls == []


def test_one_call_stays_what_it_is_and_none_is_none() -> None:
    call = make_call()
    assert sum_calls([call]) is call
    assert sum_calls([]) is None


def test_several_are_one_with_sums_and_both_names() -> None:
    total = sum_calls([make_call("b", model="m-2"), make_call("a")])

    assert total is not None
    assert (total.provider, total.requested_model, total.reported_model) == (
        "a, b",
        "m",
        "m-1, m-2",
    )
    assert (total.tries, total.latency_ms, total.cost_usd) == (4, 40.0, Decimal("0.2"))
    assert total.usage == Usage(input_tokens=10, output_tokens=0)
    assert total.request_id is None


def test_what_one_call_does_not_know_the_sum_does_not_know() -> None:
    total = sum_calls([make_call(tokens=None), make_call(cost=None)])

    assert total is not None
    assert (total.usage.input_tokens, total.cost_usd) == (None, None)
