"""The `local` adapter: a GGUF model in this process. Nothing leaves the machine."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from evalcli.declarations.workspace import ModelEntry
from evalcli.errors import ConfigurationError, ProviderError, ProviderTimeoutError
from evalcli.protocols import ProviderSetup
from evalcli.providers.llama import (
    SLOTS,
    LoadedModel,
    ModelKey,
    collect_answer,
    hold_model,
    release_model,
)
from evalcli.providers.local_models import (
    HOW_TO_GET_ONE,
    PACKAGED_MODELS,
    RUNTIME,
    find_packaged_model,
    has_runtime,
)
from evalcli.records import Answer, ChatRequest
from evalcli.redaction import Redactor

CONTEXT_TOKENS: Final = 2048
"""Room for prompt and answer together where the model's entry has no `context_tokens`."""

MAX_OUTPUT_TOKENS: Final = 512
"""Where the configuration sets no limit: a small model that repeats itself never stops."""

_SEEDS: Final = 2**32 - 1  # that very number would mean "random"


class Local:
    """Chat with GGUF models in this process.

    A model is loaded at the first request and shared by all adapters of the process that use the
    same file in the same way.
    """

    def __init__(self, setup: ProviderSetup) -> None:
        """Check that there is something to run.

        Raises:
            ConfigurationError: llama.cpp is not installed, or the file is missing or no GGUF.
        """
        self._provider = setup.name
        self._setup = setup
        self._threads = setup.entry.threads or default_threads()
        self._timeout_s = float(setup.entry.timeout_s)
        self._slots = asyncio.Semaphore(SLOTS)
        self._workers = ThreadPoolExecutor(SLOTS, thread_name_prefix="evalcli-local")
        self._held: dict[ModelKey, LoadedModel] = {}
        self._failures: dict[ModelKey, str] = {}
        self._lock = threading.Lock()
        if not has_runtime():
            raise ConfigurationError(
                f'provider "{setup.name}" cannot run: the package {RUNTIME} is not installed',
                advice=HOW_TO_GET_ONE,
            )
        if setup.entry.path is not None:
            self._checked_path(setup.entry.path)

    def check_model(self, model: str) -> None:
        """Check that the file of a model is there.

        Raises:
            ConfigurationError: it is not, or nothing says which file the model is.
        """
        self._key(model)

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Answer one request; where it names no temperature, at 0, so that a rerun is equal.

        Raises:
            ConfigurationError: the model's file is missing.
            ProviderError: the model cannot be loaded, refuses the request, or takes too long.
        """
        key = self._key(request.model)
        document = chat_document(request)
        stop = threading.Event()
        private = [text for text in (request.prompt, request.system) if text]

        def work() -> Answer:
            return collect_answer(self._provider, self._load(key), document, stop, private=private)

        async with self._slots:  # the time-out is for the answer, not for the wait for a slot
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await asyncio.get_running_loop().run_in_executor(self._workers, work)
            except TimeoutError:
                raise ProviderTimeoutError(
                    self._provider,
                    f"{self._provider}: timed out after {self._timeout_s:g} s",
                    advice="lower max_output_tokens, or raise timeout_s",
                ) from None
            finally:
                stop.set()

    def takes_json_schema(self, model: ModelEntry | None) -> bool:
        """Say yes: llama.cpp holds every model to a schema."""
        return True

    async def list_models(self) -> tuple[str, ...]:
        """Name the declared models whose file is there, and the packaged ones."""
        found = [packaged.model for packaged in PACKAGED_MODELS if packaged.find_file()]
        for name, entry in self._setup.models.items():
            path = entry.path or self._setup.entry.path
            if path is not None and (self._root / Path(path).expanduser()).is_file():
                found.append(entry.id or name)
        return tuple(dict.fromkeys(found))

    async def aclose(self) -> None:
        """Wait for the answers under way, which were told to stop, and let go of the models."""
        await asyncio.to_thread(self._workers.shutdown, wait=True, cancel_futures=True)
        for key in self._held:
            release_model(key)
        self._held.clear()

    # --- which file ---------------------------------------------------------------------------

    @property
    def _root(self) -> Path:
        return self._setup.root or Path()

    def _key(self, model: str) -> ModelKey:
        entry = self._find_entry(model)
        context = (entry.context_tokens if entry is not None else None) or CONTEXT_TOKENS
        return ModelKey(self._find_file(model, entry), context, self._threads)

    def _find_entry(self, model: str) -> ModelEntry | None:
        for name, entry in self._setup.models.items():
            if (entry.id or name) == model:
                return entry
        return None

    def _find_file(self, model: str, entry: ModelEntry | None) -> Path:
        declared = (entry.path if entry is not None else None) or self._setup.entry.path
        if declared is not None:
            return self._checked_path(declared)
        packaged = find_packaged_model(model)
        if packaged is None:
            known = ", ".join(item.model for item in PACKAGED_MODELS)
            raise ConfigurationError(
                f'model "{model}" of provider "{self._provider}" names no file',
                advice=f"write `path: FILE.gguf` in its entry under models; without one: {known}",
            )
        path = packaged.find_file()
        if path is None:
            raise ConfigurationError(
                f"the local model {model} is not installed", advice=HOW_TO_GET_ONE
            )
        return path

    def _checked_path(self, declared: str) -> Path:
        path = self._root / Path(declared).expanduser()
        try:
            with path.open("rb") as file:
                is_gguf = file.read(4) == b"GGUF"
        except OSError as exc:
            raise ConfigurationError(
                f'model file {path} of provider "{self._provider}" cannot be read: '
                f"{exc.strerror or exc}"
            ) from exc
        if not is_gguf:
            raise ConfigurationError(
                f'model file {path} of provider "{self._provider}" is no GGUF file'
            )
        return path.resolve()

    # --- loading, on a worker's thread --------------------------------------------------------

    def _load(self, key: ModelKey) -> LoadedModel:
        with self._lock:
            if key not in self._held and key not in self._failures:
                try:
                    self._held[key] = hold_model(key)
                except (RuntimeError, ValueError, ImportError, MemoryError) as exc:
                    self._failures[key] = str(exc)  # loading it again would fail again
            if key in self._failures:
                raise ProviderError(
                    self._provider,
                    f"{self._provider} could not load {key.path.name}: the file is damaged, of a "
                    "kind this llama.cpp does not know, or too large for the memory",
                    detail=Redactor().clean(self._failures[key]),
                )
            return self._held[key]


def default_threads() -> int:
    """Choose half the cores: spinning threads on busy cores are ten times slower than few."""
    return max(1, (os.cpu_count() or 1) // 2)


def chat_document(request: ChatRequest) -> dict[str, object]:
    """Write a request in the form of llama.cpp's chat completions. Pure."""
    messages = [{"role": "user", "content": request.prompt}]
    if request.system is not None:
        messages.insert(0, {"role": "system", "content": request.system})
    document: dict[str, object] = {
        "messages": messages,
        "temperature": float(request.temperature) if request.temperature is not None else 0.0,
        "max_tokens": request.max_output_tokens or MAX_OUTPUT_TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # so that a stop is heard while the prompt is read, too
        "cache_prompt": False,  # what was asked before must not matter for what is answered
    }
    if request.seed is not None:
        document["seed"] = request.seed % _SEEDS
    if request.json_schema is not None:
        document["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": dict(request.json_schema)},
        }
    return document
