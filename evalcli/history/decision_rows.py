"""Decisions as rows of the history, one each, with its call."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlite_utils import Database

from evalcli.history.cells import (
    Cell,
    decimal_cell,
    flag_cell,
    integer_cell,
    json_cell,
    text_cell,
    time_cell,
)
from evalcli.records import StoredDecision

_COLUMNS = (
    "made_at",
    "batch",
    "line",
    "profile",
    "version",
    "configuration",
    "data_class",
    "operation",
    "provider",
    "requested_model",
    "reported_model",
    "probability_kind",
    "error_code",
    "error_message",
    "tries",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "request_id",
    "caller",
    "caller_operation",
    "is_fallback",
    "answers",
    "subject",
)
_ADD = (
    f"INSERT INTO decisions ({', '.join(_COLUMNS)}) "  # noqa: S608 - names from this module
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)


def add_rows(db: Database, decisions: Sequence[StoredDecision], *, keep_texts: bool) -> None:
    """Add decisions, in this order."""
    db.conn.executemany(_ADD, [_cells(one, keep_texts=keep_texts) for one in decisions])


def _cells(decision: StoredDecision, *, keep_texts: bool) -> tuple[Cell, ...]:
    call, result, error = (
        decision.outcome.call,
        decision.outcome.result,
        decision.outcome.error,
    )
    latency_ms = call.latency_ms
    return (
        time_cell(decision.made_at),
        text_cell(decision.batch),
        decision.line,
        text_cell(decision.profile),
        decision.version,
        text_cell(decision.configuration),
        decision.data_class,
        call.operation.value,
        text_cell(call.provider),
        text_cell(call.requested_model),
        text_cell(call.reported_model),
        None if result is None else result.probability_kind.value,
        None if error is None else error.code.value,
        # A message may quote what a model said.
        text_cell(error.message) if error is not None and keep_texts else None,
        call.tries,
        latency_ms if latency_ms is not None and math.isfinite(latency_ms) else None,
        integer_cell(call.usage.input_tokens),
        integer_cell(call.usage.output_tokens),
        decimal_cell(call.cost_usd),
        text_cell(call.request_id),
        text_cell(call.caller),
        text_cell(call.caller_operation),
        flag_cell(call.is_fallback),
        None if result is None else json_cell(result.answers),
        json_cell(decision.subject) if keep_texts else None,
    )
