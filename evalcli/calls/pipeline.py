"""The one way to a provider: the order of steps, written once.

    data class → rate limit → retry → adapter → reasoning, usage and price

Guardrails, budget and cache come after the data class, the circuit breaker before the retry. Where
a provider fails, the steps from the rate limit on are gone through with the next fallback.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import random as random_number
from types import TracebackType
from typing import Self, TypeVar

from evalcli.calls.failures import FailureKind, failure_kind
from evalcli.calls.lanes import Clockwork, Lane, Tried, open_adapter
from evalcli.calls.trust import check_reachable
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import ResolvedConfiguration
from evalcli.declarations.workspace import Prices, WorkspaceFile
from evalcli.errors import ConfigurationError, ProviderError
from evalcli.protocols import (
    DecisionModel,
    EmbeddingModel,
    ModelAdviser,
    ModelChecker,
    OperationChecker,
)
from evalcli.records import (
    Answer,
    CallRecord,
    CallRetried,
    ChatRequest,
    Decision,
    Embedding,
    EmbeddingRequest,
    Operation,
    QuestionsRequest,
    Usage,
)
from evalcli.redaction import Redactor

_THINK_START = "<think>"
_THINK_END = "</think>"

_MAX_MODEL_NAME = 300

ReplyT = TypeVar("ReplyT")


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of one call: an answer or an error, and the record of it either way.

    `answer` is what `ask_chat` got, `decision` and `embedding` what the others got.
    """

    record: CallRecord
    answer: Answer | None = None
    error: ProviderError | None = None
    decision: Decision | None = None
    embedding: Embedding | None = None


class Pipeline:
    """Asks providers; an async context manager that closes what it opened.

    `root` is the folder that relative paths of provider entries start from. `on_retry` is told of
    every failed try that another one follows.
    Units: `clock` and `sleep` in seconds; `random` gives numbers in 0..1.
    """

    def __init__(
        self,
        workspace: WorkspaceFile,
        *,
        root: Path | None,
        environ: Mapping[str, str],
        on_retry: Callable[[CallRetried], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random_number,
    ) -> None:
        self._workspace = workspace
        self._root = root
        self._environ = environ
        self._clockwork = Clockwork(clock, sleep, random, on_retry)
        self._lanes: dict[str, Lane] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async with AsyncExitStack() as stack:
            for lane in self._lanes.values():
                stack.push_async_callback(lane.adapter.aclose)
            self._lanes.clear()

    # --- before the first request ---------------------------------------------------------------

    def check(
        self,
        target: ResolvedConfiguration,
        *,
        data_class: DataClass | None = None,
        operation: Operation = Operation.CHAT,
    ) -> None:
        """Refuse all that can be refused before the first request; opens no connection.

        Raises:
            ConfigurationError: the key of a provider that the call can reach cannot be read, there
                is no such adapter or it does not do this, or the address may not be asked.
            TrustZoneError: such a provider may not receive data of this class.
        """
        if data_class is not None:
            check_reachable(target, data_class)
        for leg in target.legs:
            lane = self._lane_of(leg)
            adapter = lane.adapter
            if isinstance(adapter, OperationChecker):
                adapter.check_operation(operation)
            if operation is Operation.DECISION:
                _deciding(leg, lane)
            if operation is Operation.EMBEDDING:
                _embedding(leg, lane)
            if isinstance(adapter, ModelChecker):
                adapter.check_model(leg.model_id)

    def can_do(self, target: ResolvedConfiguration, operation: Operation) -> bool:
        """Whether the adapter of a target has an operation; opens no connection.

        Raises:
            ConfigurationError: the adapter cannot be made.
        """
        lane = self._lane_of(target)
        adapter = lane.adapter
        if operation is Operation.DECISION and lane.decider is None:
            return False
        if isinstance(adapter, OperationChecker):
            try:
                adapter.check_operation(operation)
            except ConfigurationError:
                return False
        return True

    def model_notes(self, target: ResolvedConfiguration) -> tuple[str, ...]:
        """Say what a person should know of the models that a call can reach."""
        notes: list[str] = []
        for leg in target.legs:
            adapter = self._lane_of(leg).adapter
            if isinstance(adapter, ModelAdviser):
                notes += adapter.model_notes(leg.model_id)
        return tuple(dict.fromkeys(notes))

    def clean(self, provider: str, said: str, *, private: Sequence[str] = ()) -> str:
        """Make what a provider said fit to be shown: one line of 200 characters at most.

        Its own secrets and the `private` texts of the request are taken out.
        """
        lane = self._lanes.get(provider)
        return (lane.redactor if lane is not None else Redactor()).clean(said, private)

    def tell_of_fallback(self, record: CallRecord, error: ProviderError, fallback: str) -> None:
        """Tell `on_retry` of a provider that failed, before its fallback is asked."""
        self._clockwork.tell(record.provider, error, record.tries, 0.0, fallback=fallback)

    # --- calls ----------------------------------------------------------------------------------

    async def ask_chat(
        self,
        target: ResolvedConfiguration,
        request: ChatRequest,
        *,
        data_class: DataClass,
        caller: str | None = None,
        caller_operation: str | None = None,
    ) -> CallResult:
        """Ask once, with all tries and fallbacks it takes; a provider's failure is a value.

        The request's model is the target's; a fallback's own takes its place. A JSON schema goes
        only where the adapter can hold the model to it.

        Raises:
            ConfigurationError, TrustZoneError: as `check`.
        """

        def send(leg: ResolvedConfiguration, lane: Lane) -> Awaitable[Answer]:
            return lane.adapter.ask_chat(_chat_request(request, leg, lane))

        record = CallRecord(
            Operation.CHAT,
            target.provider,
            request.model,
            caller=caller,
            caller_operation=caller_operation,
            is_fallback=target.is_fallback,
        )
        tried, leg = await self._ask(target, send, record, data_class)
        if tried.reply is None:
            return CallResult(tried.record, error=tried.error)
        answer = _without_reasoning(tried.reply)
        return CallResult(_complete(tried.record, answer, leg), answer)

    async def ask_decision(
        self,
        target: ResolvedConfiguration,
        request: QuestionsRequest,
        *,
        data_class: DataClass,
        caller: str | None = None,
        caller_operation: str | None = None,
    ) -> CallResult:
        """Ask a decision model; as `ask_chat`. The decision in the result is not verified.

        Raises:
            ConfigurationError, TrustZoneError: as `check`.
        """

        def send(leg: ResolvedConfiguration, lane: Lane) -> Awaitable[Decision]:
            asked = replace(request, model=leg.model_id) if leg.is_fallback else request
            return _deciding(leg, lane).ask_decision(asked)

        record = CallRecord(
            Operation.DECISION,
            target.provider,
            request.model,
            caller=caller,
            caller_operation=caller_operation,
            is_fallback=target.is_fallback,
        )
        tried, leg = await self._ask(target, send, record, data_class)
        if tried.reply is None:
            return CallResult(tried.record, error=tried.error)
        return CallResult(_complete(tried.record, tried.reply, leg), decision=tried.reply)

    async def ask_embedding(
        self,
        target: ResolvedConfiguration,
        request: EmbeddingRequest,
        *,
        data_class: DataClass,
        caller: str | None = None,
        caller_operation: str | None = None,
    ) -> CallResult:
        """Ask an embedding model; as `ask_chat`.

        Raises:
            ConfigurationError, TrustZoneError: as `check`.
        """

        def send(leg: ResolvedConfiguration, lane: Lane) -> Awaitable[Embedding]:
            asked = replace(request, model=leg.model_id) if leg.is_fallback else request
            return _embedding(leg, lane).ask_embedding(asked)

        record = CallRecord(
            Operation.EMBEDDING,
            target.provider,
            request.model,
            caller=caller,
            caller_operation=caller_operation,
            is_fallback=target.is_fallback,
        )
        tried, leg = await self._ask(target, send, record, data_class)
        if tried.reply is None:
            return CallResult(tried.record, error=tried.error)
        return CallResult(_complete(tried.record, tried.reply, leg), embedding=tried.reply)

    # --- within ---------------------------------------------------------------------------------

    async def _ask(
        self,
        target: ResolvedConfiguration,
        send: Callable[[ResolvedConfiguration, Lane], Awaitable[ReplyT]],
        record: CallRecord,
        data_class: DataClass,
    ) -> tuple[Tried[ReplyT], ResolvedConfiguration]:
        """Ask a target, then its fallbacks while providers fail; gives the leg that was last.

        What refuses, or replies with what is no answer, has not failed: that ends the call.
        """
        check_reachable(target, data_class)
        tried, leg = await self._ask_leg(target, send, record), target
        for fallback in target.fallbacks:
            if tried.error is None or failure_kind(tried.error) is not FailureKind.FAILED:
                break
            self.tell_of_fallback(tried.record, tried.error, fallback.provider)
            before, leg = tried, fallback
            record = replace(
                record, provider=leg.provider, requested_model=leg.model_id, is_fallback=True
            )
            tried = _after(before, await self._ask_leg(leg, send, record))
        return tried, leg

    async def _ask_leg(
        self,
        leg: ResolvedConfiguration,
        send: Callable[[ResolvedConfiguration, Lane], Awaitable[ReplyT]],
        record: CallRecord,
    ) -> Tried[ReplyT]:
        lane = self._lane_of(leg)
        return await lane.ask(partial(send, leg, lane), record)

    def _lane_of(self, leg: ResolvedConfiguration) -> Lane:
        lane = self._lanes.get(leg.provider)
        if lane is None:
            opened = open_adapter(
                leg.provider,
                leg.entry,
                self._workspace,
                root=self._root,
                environ=self._environ,
            )
            lane = self._lanes[leg.provider] = Lane(
                leg.provider, leg.entry, opened, self._clockwork
            )
        return lane


def _chat_request(request: ChatRequest, leg: ResolvedConfiguration, lane: Lane) -> ChatRequest:
    """Fit a request to who is asked: the fallback's model, no schema where it has no effect."""
    if leg.is_fallback:
        request = replace(request, model=leg.model_id)
    if request.json_schema is None:
        return request
    if lane.schema is not None and lane.schema.takes_json_schema(leg.model):
        return request
    return replace(request, json_schema=None)


def _deciding(leg: ResolvedConfiguration, lane: Lane) -> DecisionModel:
    """Take an adapter as the decision model it must be."""
    if lane.decider is not None:
        return lane.decider
    raise ConfigurationError(
        f'provider "{leg.provider}" is of the type "{leg.entry.type}", which makes no decisions',
        advice="take `decision` off the capabilities of its models, or name another provider",
    )


def _embedding(leg: ResolvedConfiguration, lane: Lane) -> EmbeddingModel:
    """Take an adapter as the embedding model it must be."""
    if lane.embedder is not None:
        return lane.embedder
    raise ConfigurationError(
        f'provider "{leg.provider}" is of the type "{leg.entry.type}", which embeds no texts',
        advice="take `embedding` off the capabilities of its models, or name another provider",
    )


def _after(before: Tried[ReplyT], tried: Tried[ReplyT]) -> Tried[ReplyT]:
    """Count the requests of a provider that failed to those of its fallback; chain the errors."""
    record = replace(tried.record, tries=before.record.tries + tried.record.tries)
    if tried.error is not None and before.error is not None:
        tried.error.__cause__ = before.error
        tried.error.message = f"{tried.error.message}; before that, {before.error.message}"
    return Tried(record, tried.reply, tried.error)


def _without_reasoning(answer: Answer) -> Answer:
    """Take a leading block of reasoning out of the text."""
    thought, text = split_reasoning(answer.text)
    if thought is None:
        return answer
    known = [part for part in (answer.reasoning, thought) if part]
    return replace(answer, text=text, reasoning="\n\n".join(known) or None)


def _complete(
    record: CallRecord, reply: Answer | Decision | Embedding, leg: ResolvedConfiguration
) -> CallRecord:
    """Record model, usage and price, by the prices of the model that served.

    What is longer than any name is cut: it becomes a part of yardsticks and of every report.
    """
    model = reply.model
    if model is not None and len(model) > _MAX_MODEL_NAME:
        model = f"{model[: _MAX_MODEL_NAME - 1]}…"
    usage = reply.usage
    cost_usd = usage.cost_usd
    if cost_usd is None:
        cost_usd = price_usage(usage, leg.model.prices if leg.model else None)
    return replace(
        record,
        reported_model=model,
        usage=usage,
        cost_usd=cost_usd,
        request_id=reply.request_id,
    )


def split_reasoning(text: str | None) -> tuple[str | None, str | None]:
    """Split a leading `<think>…</think>` block off an answer: (reasoning, answer).

    Only white space may stand before the block. The white space after it is its separator and is
    dropped; the answer is otherwise as it came, and None where nothing is left or where the block
    never closes. Without a block the reasoning is None.
    """
    if text is None or _THINK_START not in text:
        return None, text
    rest = text.lstrip()
    if not rest.startswith(_THINK_START):
        return None, text
    thought, end, answer = rest.removeprefix(_THINK_START).partition(_THINK_END)
    return thought.strip(), (answer.lstrip() or None) if end else None


def price_usage(usage: Usage, prices: Prices | None) -> Decimal | None:
    """Price the tokens of a call in USD; None where a price or a count that is needed is unknown.

    Cached tokens are part of the input tokens and have their own price; where the input is free,
    they are too. What is free needs no count: decision models often report no output tokens.
    """
    if prices is None:
        return None
    cached = usage.cached_input_tokens or 0
    uncached = usage.input_tokens
    if uncached is not None:
        cached = min(cached, uncached)
        uncached -= cached
    cached_price = prices.cached_input
    if cached_price is None and prices.input == 0:
        cached_price = prices.input
    total = Decimal(0)
    for tokens, price in (
        (uncached, prices.input),
        (cached, cached_price),
        (usage.output_tokens, prices.output),
    ):
        if tokens == 0 or price == 0:
            continue
        if price is None or tokens is None:
            return None
        total += (price * tokens).scaleb(-6)
    return total
