"""One call to a provider: what is asked, what comes back, how it went."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class Operation(StrEnum):
    """What a call asks for."""

    CHAT = "chat"
    DECISION = "decision"
    EMBEDDING = "embedding"


class FinishReason(StrEnum):
    """Why a model stopped; an unknown word is kept verbatim beside OTHER."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    TOOL_CALLS = "tool_calls"
    ERROR = "error"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as reported; None where not reported.

    Units: tokens. `input_tokens` includes cached and cache-writing ones, `output_tokens` includes
    reasoning. `cost_usd` only where the provider itself reported a cost.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked of a chat model, without anything that belongs to a provider.

    `model` is the id to send. `json_schema` asks for constrained output where the adapter can.
    """

    model: str
    prompt: str
    system: str | None = None
    temperature: Decimal | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    json_schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model sent back, as it came.

    `text` is the answer without reasoning; None where the reply held no text at all.
    `refusal` is the model's refusal text where the provider marks one.
    """

    text: str | None
    finish: FinishReason = FinishReason.STOP
    finish_raw: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    has_tool_calls: bool = False
    model: str | None = None
    usage: Usage = Usage()
    request_id: str | None = None
    system_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to be turned into vectors, without anything that belongs to a provider.

    `model` is the id to send; no text is empty.
    """

    model: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of a request's texts, in their order.

    Shapes: one vector a text, all of the same length.
    """

    vectors: tuple[Sequence[float], ...]
    model: str | None = None
    usage: Usage = Usage()
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One stored call: who asked, what served, how it went.

    `provider` and `requested_model` are those that served, or failed last; `is_fallback` says that
    they are not the configuration's own.
    Units: `latency_ms` is the last try's, in milliseconds; `tries` counts requests sent, to all
    providers of the call.
    `cost_usd` is reported by the provider, or tokens times the model's prices, or None.
    """

    operation: Operation
    provider: str
    requested_model: str
    reported_model: str | None = None
    tries: int = 1
    latency_ms: float | None = None
    usage: Usage = Usage()
    cost_usd: Decimal | None = None
    request_id: str | None = None
    caller: str | None = None
    caller_operation: str | None = None
    is_cached: bool = False
    is_fallback: bool = False


_encode_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def request_sha256(system: str | None, prompt: str) -> str:
    """Name what was asked by its content, so that a recorded answer can be found again.

    Source: SHA-256 of the JSON list [system, prompt], ASCII only, without spaces.
    """
    text = _encode_json([system, prompt])
    return hashlib.sha256(text.encode("ascii")).hexdigest()
