"""What the calls behind a retriever's answer were: usage and price of the embeddings it asked for.

A retriever gives documents, not bills. Whoever asks one collects the calls that are made
meanwhile, also by its parts, in tasks of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal

from evalcli.records import CallRecord, Usage

_CALLS: ContextVar[list[CallRecord] | None] = ContextVar("evalcli_retrieval_calls", default=None)


@contextmanager
def collected_calls() -> Iterator[list[CallRecord]]:
    """Collect the calls that are noted within this context."""
    calls: list[CallRecord] = []
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)


def note_call(record: CallRecord) -> None:
    """Note a call; nothing happens where nobody collects them."""
    calls = _CALLS.get()
    if calls is not None:
        calls.append(record)


def sum_calls(calls: Sequence[CallRecord]) -> CallRecord | None:
    """Sum calls up as one: None where there is none, the call itself where there is one.

    Tokens and costs are None where one call's are. Providers and models are listed where they
    differ, in order of name, so that the same parts give the same words.
    """
    if len(calls) < 2:
        return calls[0] if calls else None
    inputs = [call.usage.input_tokens for call in calls]
    costs = [call.cost_usd for call in calls]
    latencies = [call.latency_ms for call in calls if call.latency_ms is not None]
    return replace(
        calls[0],
        provider=_listed(call.provider for call in calls),
        requested_model=_listed(call.requested_model for call in calls),
        reported_model=_listed(call.reported_model or "" for call in calls) or None,
        tries=sum(call.tries for call in calls),
        latency_ms=sum(latencies) if latencies else None,
        usage=Usage(input_tokens=_total(inputs), output_tokens=0),
        cost_usd=sum((one for one in costs if one is not None), Decimal(0))
        if None not in costs
        else None,
        request_id=None,
    )


def _listed(names: Iterator[str]) -> str:
    return ", ".join(sorted({name for name in names if name}))


def _total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
