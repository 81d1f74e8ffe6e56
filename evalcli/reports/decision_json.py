"""Decisions as JSON documents, for programs.

The shape is published in `docs/schemas/decision_report.schema.json`.
"""

from __future__ import annotations

import math
from decimal import Decimal

from evalcli.errors import ExitStatus
from evalcli.records import CallRecord, DecisionAnswer, DecisionResult, JudgedDecision

SCHEMA_VERSION = 1
"""Raised when a field is taken away or comes to mean something else."""

Document = dict[str, object]


def decision_document(decision: JudgedDecision, *, exit_status: ExitStatus) -> Document:
    """Describe one decision, its call, and how it compares with what was required."""
    result = decision.result
    return {
        "schema_version": SCHEMA_VERSION,
        "decision": result_facts(result),
        "call": _call_facts(result.call),
        "requirements": [
            {
                "requirement": one.requirement,
                "key": one.key,
                "is_met": one.is_met,
                "value": one.value,
                "choice": one.choice,
            }
            for one in decision.requirements
        ],
        "notes": list(result.notes),
        "exit_status": int(exit_status),
    }


def result_facts(result: DecisionResult) -> Document:
    """Describe a result by what does not change when it is made again: no time, no request id."""
    return {
        "profile": result.profile,
        "version": result.version,
        "configuration": result.configuration,
        "provider": result.provider,
        "model": result.model,
        "probability_kind": result.probability_kind.value,
        "answers": {key: _answer_facts(answer) for key, answer in result.answers.items()},
        "input_tokens": result.input_tokens,
        "output_tokens": result.output_tokens,
        "cost_usd": _money(result.cost_usd),
    }


def _answer_facts(answer: DecisionAnswer) -> Document:
    return {
        "value": answer.value,
        "choice": answer.choice,
        "probabilities": dict(answer.probabilities),
        "confidence": answer.confidence,
    }


def _call_facts(call: CallRecord) -> Document:
    latency = call.latency_ms
    return {
        "operation": call.operation.value,
        "requested_model": call.requested_model,
        "tries": call.tries,
        "latency_ms": round(latency, 3) if latency is not None and math.isfinite(latency) else None,
        "request_id": call.request_id,
        "is_fallback": call.is_fallback,
        "cost_usd": _money(call.cost_usd),
    }


def _money(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"
