"""llama.cpp in this process: models in memory, and one answer put together from its pieces.

Answers are asked for as streams, because that is the one way to stop llama.cpp in the middle of an
answer: a call that is cancelled frees its slot within a token or a batch of the prompt. That
matters at the end of the process too, which would crash with an answer still under way.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from evalcli.errors import ProviderReplyError, ProviderStatusError
from evalcli.providers.local_models import RUNTIME
from evalcli.providers.openai import read_usage
from evalcli.records import Answer, FinishReason
from evalcli.redaction import Redactor

SLOTS: Final = 4
"""Answers that one loaded model works on at the same time."""

_BATCH_TOKENS: Final = 128  # of the prompt; a stop is heard between two batches


class ChatServer(Protocol):
    """What is used of llama.cpp's server."""

    def handle_chat_completions(
        self, document: dict[str, object], take: Callable[[Mapping[str, object]], bool]
    ) -> None:
        """Answer one request, piece by piece, until `take` returns True."""
        ...


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What makes two uses of a model share one in memory."""

    path: Path
    context_tokens: int
    threads: int


@dataclass(slots=True)
class LoadedModel:
    """A model in memory and how many adapters hold it."""

    server: ChatServer
    holders: int = 0


_LOADED: dict[ModelKey, LoadedModel] = {}
_LOADED_LOCK = threading.Lock()


def hold_model(key: ModelKey) -> LoadedModel:
    """Load a model, or share the one this process has; give it back with `release_model`.

    Raises:
        RuntimeError, ValueError, ImportError, MemoryError: it cannot be loaded.
    """
    with _LOADED_LOCK:
        loaded = _LOADED.get(key)
        if loaded is None:
            loaded = _LOADED[key] = LoadedModel(_start_server(key))
        loaded.holders += 1
        return loaded


def release_model(key: ModelKey) -> None:
    """Give a model back; the last one to do so frees its memory."""
    with _LOADED_LOCK:
        loaded = _LOADED[key]
        loaded.holders -= 1
        if not loaded.holders:
            del _LOADED[key]


def _start_server(key: ModelKey) -> ChatServer:
    """Load a model; takes about a second for a small one.

    llama.cpp opens a port in any case: on loopback, a free one, and behind a key nobody knows.
    """
    llama = import_module(RUNTIME)
    params = llama.CommonParams()
    params.model.path = str(key.path)
    params.model_alias = {key.path.stem}
    params.n_ctx = key.context_tokens * SLOTS
    params.n_parallel = SLOTS
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = key.threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_threads_http = 1
    params.api_keys = [secrets.token_hex(16)]
    params.ui = params.endpoint_slots = False
    params.cache_ram_mib = 0
    params.verbosity = 0  # stdout is for results
    server: ChatServer = llama.Server(params)
    return server


# --- one answer -----------------------------------------------------------------------------------


@dataclass(slots=True)
class AnswerPieces:
    """The pieces of a streamed answer."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    facts: dict[str, object] = field(default_factory=dict)
    error: Mapping[str, object] | None = None

    def take(self, chunk: Mapping[str, object]) -> None:
        """Take one piece."""
        error = chunk.get("error")
        if isinstance(error, Mapping):
            self.error = error
            return
        self.facts.update({key: value for key, value in chunk.items() if value is not None})
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            delta = choice.get("delta") or {}
            self.text.append(delta.get("content") or "")
            self.reasoning.append(delta.get("reasoning_content") or "")

    def answer(self) -> Answer:
        """Put the pieces together."""
        model, fingerprint = self.facts.get("model"), self.facts.get("system_fingerprint")
        return Answer(
            text="".join(self.text),
            finish=_FINISH.get(self.finish_reason, FinishReason.OTHER),
            finish_raw=self.finish_reason,
            reasoning="".join(self.reasoning) or None,
            model=model if isinstance(model, str) else None,
            usage=read_usage(self.facts.get("usage")),
            system_fingerprint=fingerprint if isinstance(fingerprint, str) else None,
        )


_FINISH: Final[Mapping[str | None, FinishReason]] = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


def collect_answer(
    provider: str,
    model: LoadedModel,
    document: Mapping[str, object],
    stop: threading.Event,
    *,
    private: Sequence[str] = (),
) -> Answer:
    """Ask for one answer and wait for its end, or until `stop` is set.

    `private` are texts that may not be in an error.

    Raises:
        ProviderStatusError: the request was refused, for example as too long.
        ProviderReplyError: the answer broke off.
    """
    pieces = AnswerPieces()

    def take(chunk: Mapping[str, object]) -> bool:
        pieces.take(chunk)
        return stop.is_set()

    try:
        model.server.handle_chat_completions(dict(document), take)
    except (RuntimeError, ValueError) as exc:
        detail = Redactor().clean(str(exc), private)
        raise ProviderReplyError(
            provider, f"{provider} could not answer: {detail}", detail=detail
        ) from exc
    if pieces.error is not None:
        raise _refusal(provider, pieces.error, private)
    if pieces.finish_reason is None:
        raise ProviderReplyError(provider, f"{provider} broke the answer off")
    return pieces.answer()


def _refusal(
    provider: str, error: Mapping[str, object], private: Sequence[str]
) -> ProviderStatusError:
    code, detail = error.get("code"), Redactor().clean(str(error.get("message", "")), private)
    is_too_long = error.get("type") == "exceed_context_size_error"
    return ProviderStatusError(
        provider,
        f"{provider} refused the request: {detail}",
        status=code if isinstance(code, int) else None,
        detail=detail,
        advice="raise `context_tokens` in the model's entry" if is_too_long else "",
    )
