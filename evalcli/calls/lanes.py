"""The way to one provider: slots, rate, retry, adapter; shared by all calls to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from evalcli.calls.limits import RateLimit, RetryPolicy
from evalcli.calls.secrets import resolve_headers, resolve_secret
from evalcli.declarations.resolution import known_names
from evalcli.declarations.workspace import ProviderEntry, WorkspaceFile
from evalcli.errors import ConfigurationError, ProviderError, ProviderTimeoutError
from evalcli.plugins import load_chat_adapter, plugin_names
from evalcli.protocols import ChatModel, DecisionModel, EmbeddingModel, ProviderSetup, SchemaModel
from evalcli.records import CallRecord, CallRetried
from evalcli.redaction import Redactor

ReplyT = TypeVar("ReplyT")


@dataclass(frozen=True, slots=True)
class Tried(Generic[ReplyT]):
    """What came of all tries at one provider: a reply or an error, and the record either way."""

    record: CallRecord
    reply: ReplyT | None = None
    error: ProviderError | None = None


@dataclass(frozen=True, slots=True)
class Clockwork:
    """Time and chance, and who is told of every failed try that another one follows.

    Units: `clock` and `sleep` in seconds; `random` gives numbers in 0..1.
    """

    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    random: Callable[[], float]
    on_retry: Callable[[CallRetried], None] | None = None

    def tell(
        self,
        provider: str,
        error: ProviderError,
        tries: int,
        wait_s: float,
        *,
        fallback: str | None = None,
    ) -> None:
        """Tell of a failed try that another one follows, or a fallback."""
        if self.on_retry is not None:
            self.on_retry(CallRetried(provider, error.message, tries, wait_s, fallback))


@dataclass(frozen=True, slots=True)
class OpenAdapter:
    """An adapter, and the secrets that must not be in anything a provider says."""

    adapter: ChatModel
    keys: tuple[str, ...] = field(default=(), repr=False)


class Lane:
    """All that the calls to one provider share.

    `decider` is the adapter where it decides, `embedder` where it embeds, `schema` where it holds
    models to a JSON schema;
    both are found out once, since asking whether an object has a protocol takes long.
    `redactor` knows the provider's secrets.
    """

    def __init__(
        self, name: str, entry: ProviderEntry, opened: OpenAdapter, clockwork: Clockwork
    ) -> None:
        self.adapter = adapter = opened.adapter
        self.decider = adapter if isinstance(adapter, DecisionModel) else None
        self.schema = adapter if isinstance(adapter, SchemaModel) else None
        self.embedder = adapter if isinstance(adapter, EmbeddingModel) else None
        self.redactor = Redactor(opened.keys)
        self._name = name
        self._time = clockwork
        self._slots = asyncio.Semaphore(entry.concurrency)
        self._rate = RateLimit(
            entry.requests_per_minute, clock=clockwork.clock, sleep=clockwork.sleep
        )
        self._retry = RetryPolicy.of(entry.retry)

    async def ask(self, send: Callable[[], Awaitable[ReplyT]], record: CallRecord) -> Tried[ReplyT]:
        """Try until there is a reply or no other try follows; `record` is filled in.

        The provider's slot is kept through the waits: who is asked to slow down is not asked by
        others instead. Each try takes its turn in the rate limit.
        """
        async with self._slots:
            return await self._ask_with_retry(send, record)

    async def _ask_with_retry(
        self, send: Callable[[], Awaitable[ReplyT]], record: CallRecord
    ) -> Tried[ReplyT]:
        clock, retry = self._time.clock, self._retry
        await self._rate.wait_for_turn()
        started_at = tried_at = clock()
        tries = 1
        while True:
            reply: ReplyT | None = None
            error: ProviderError | None = None
            try:
                reply = await self._try(send, tries, tried_at - started_at)
            except ProviderError as exc:
                error = exc.with_traceback(None)  # as a value, it must not keep the frames alive
            now = clock()
            record = replace(record, tries=tries, latency_ms=(now - tried_at) * 1000)
            if error is None:
                return Tried(record, reply)
            error.tries = tries
            decision = retry.decide(
                error, tries=tries, elapsed_s=now - started_at, random=self._time.random
            )
            if decision.wait_s is None:
                if decision.note:
                    error.message = f"{error.message}; {decision.note}"
                return Tried(record, error=error)
            self._time.tell(self._name, error, tries, decision.wait_s)
            await self._time.sleep(decision.wait_s)
            await self._rate.wait_for_turn()
            tried_at = clock()
            if tried_at - started_at >= retry.total_s:  # the turn came too late
                return Tried(record, error=error)
            tries += 1

    async def _try(
        self, send: Callable[[], Awaitable[ReplyT]], tries: int, elapsed_s: float
    ) -> ReplyT:
        """Send one request. The adapter bounds its time; later tries end with the total, too."""
        if tries == 1:
            return await send()
        try:
            async with asyncio.timeout(self._retry.total_s - elapsed_s):
                return await send()
        except TimeoutError:
            raise ProviderTimeoutError(
                self._name,
                f"{self._name}: timed out: no answer in {tries} tries within "
                f"{self._retry.total_s:g} s (retry.total_s)",
            ) from None


def open_adapter(
    name: str,
    entry: ProviderEntry,
    workspace: WorkspaceFile,
    *,
    root: Path | None,
    environ: Mapping[str, str],
) -> OpenAdapter:
    """Make the adapter of a provider entry; opens no connection.

    Raises:
        ConfigurationError: there is no such adapter, it cannot be made, or a secret is missing.
    """
    where = f'provider "{name}"'
    try:
        factory = load_chat_adapter(entry.type)
    except KeyError:
        raise ConfigurationError(
            f'{where}: unknown type "{entry.type}"',
            advice=known_names(plugin_names("providers"), entry.type),
        ) from None
    api_key = None
    if entry.api_key is not None:
        api_key = resolve_secret(
            entry.api_key, where=f"{where}: api_key", environ=environ, root=root
        )
    headers = resolve_headers(entry.headers, where=f"{where}: headers", environ=environ, root=root)
    keys = headers.keys if api_key is None else (api_key, *headers.keys)
    models = {key: model for key, model in workspace.models.items() if model.provider == name}
    setup = ProviderSetup(
        name,
        entry,
        api_key=api_key,
        headers=headers.headers,
        keys=keys,
        environ=environ,
        models=models,
        root=root,
    )
    return OpenAdapter(factory(setup), keys)
