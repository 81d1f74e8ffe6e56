"""OpenAI chat completions, and every server that speaks them (vLLM, llama.cpp, LM Studio, ...).

Source: reference "Wire formats", 1.2, 1.3, 1.5, 2.1, 2.3, 8, 10, 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, cast
from urllib.parse import urlsplit

from evalcli.declarations.workspace import ModelEntry
from evalcli.errors import ConfigurationError
from evalcli.http_client import HttpClient, JsonReply
from evalcli.protocols import ProviderSetup
from evalcli.providers.reported import read_cost, read_count
from evalcli.records import (
    Answer,
    ChatRequest,
    Embedding,
    EmbeddingRequest,
    FinishReason,
    Usage,
)

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"

_FINISH: Final[Mapping[str, FinishReason]] = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "error": FinishReason.ERROR,
}
_OWN_HOSTS: Final = (".openai.com", ".openai.azure.com", ".groq.com", "openrouter.ai")
_SCHEMA_NAME: Final = "answer"


class OpenAI:
    """Asks one server through `POST {base_url}/chat/completions`, and `/embeddings`.

    Raises:
        ConfigurationError: the address cannot be used, or OpenAI itself is asked without a key.
    """

    def __init__(self, setup: ProviderSetup) -> None:
        base_url = setup.entry.base_url or DEFAULT_BASE_URL
        if setup.entry.base_url is None and setup.api_key is None:
            raise ConfigurationError(
                f'provider "{setup.name}" has neither api_key nor base_url',
                advice="write `api_key: env:OPENAI_API_KEY`, or the base_url of another server",
            )
        headers = {name.lower(): value for name, value in setup.headers.items()}
        if setup.api_key is not None:
            headers.setdefault("authorization", f"Bearer {setup.api_key}")
        self._http = HttpClient(
            setup.name,
            base_url,
            timeout_s=float(setup.entry.timeout_s),
            headers=headers,
            environ=setup.environ,
            keys=setup.keys if setup.api_key is None else (setup.api_key, *setup.keys),
            allow_plain_http=setup.entry.allow_plain_http,
        )
        host = f".{urlsplit(base_url).hostname or ''}"
        # `max_tokens` is refused by OpenAI's reasoning models, `max_completion_tokens` unknown to
        # older compatible servers, which would then not bound the answer at all.
        self.limit_field = "max_completion_tokens" if host.endswith(_OWN_HOSTS) else "max_tokens"

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Send one request and read its answer, one try; see `protocols.ChatModel`."""
        private = [text for text in (request.prompt, request.system) if text]
        reply = await self._http.post_json(
            "/chat/completions", _request_body(request, self.limit_field), private=private
        )
        choice = self._first_choice(reply, private)
        message = choice.get("message")
        if not isinstance(message, Mapping):
            raise self._http.reply_error("answered with a choice that holds no message")
        raw = choice.get("finish_reason")
        if raw == "error":
            error = choice.get("error")
            said = error.get("message") if isinstance(error, Mapping) else None
            raise self._http.reply_error(
                "broke the answer off with an error",
                said=said if isinstance(said, str) else "",
                private=private,
            )
        return self._read_answer(reply, message, raw)

    async def ask_embedding(self, request: EmbeddingRequest) -> Embedding:
        """Send one request and read its vectors, one try; see `protocols.EmbeddingModel`.

        Source: reference "Wire formats", 2.4.
        """
        body = {"model": request.model, "input": list(request.texts)}
        reply = await self._http.post_json("/embeddings", body, private=list(request.texts))
        document = reply.document if isinstance(reply.document, Mapping) else {}
        try:
            vectors = read_vectors(document.get("data"), len(request.texts))
        except ValueError as exc:
            raise self._http.reply_error(f"answered {exc}") from None
        # An embedding has no output, and servers report none.
        usage = replace(read_usage(document.get("usage")), output_tokens=0)
        return Embedding(
            vectors,
            model=_text(document.get("model")),
            usage=usage,
            request_id=_text(reply.headers.get("x-request-id")),
        )

    def takes_json_schema(self, model: ModelEntry | None) -> bool:
        """Whether a model is held to a schema: servers that cannot refuse the request.

        So only a model that declares `structured_output` is sent one.
        """
        return model is not None and "structured_output" in model.capabilities

    async def list_models(self) -> tuple[str, ...]:
        """Ask `GET {base_url}/models` for the ids of the models; also serves as a probe."""
        reply = await self._http.get_json("/models")
        document = reply.document
        listed = document.get("data") if isinstance(document, Mapping) else None
        if not isinstance(listed, list):
            raise self._http.reply_error("answered with something that is no list of models")
        ids = [entry.get("id") for entry in listed if isinstance(entry, Mapping)]
        return tuple(name for name in ids if isinstance(name, str))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _first_choice(self, reply: JsonReply, private: list[str]) -> Mapping[str, object]:
        document = reply.document
        choices = document.get("choices") if isinstance(document, Mapping) else None
        if not isinstance(choices, list):
            raise self._http.reply_error(
                "answered with JSON that is not a chat completion",
                said=str(document)[:400],
                private=private,
            )
        if not choices:
            raise self._http.reply_error("answered without any choice (an empty `choices`)")
        if not isinstance(choices[0], Mapping):
            raise self._http.reply_error("answered with a choice that is no object")
        return choices[0]

    def _read_answer(self, reply: JsonReply, message: Mapping[str, object], raw: object) -> Answer:
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            raise self._http.reply_error("answered with a content that is no text")
        refusal = _text(message.get("refusal")) or _joined(content, "refusal")
        document = reply.document if isinstance(reply.document, Mapping) else {}
        finish = _FINISH.get(raw, FinishReason.OTHER) if isinstance(raw, str) else None
        return Answer(
            text=(content if isinstance(content, str) else _joined(content, "text")) or None,
            finish=FinishReason.REFUSAL if refusal else finish or FinishReason.OTHER,
            finish_raw=_text(raw),
            reasoning=_text(message.get("reasoning"))
            or _text(message.get("reasoning_content"))
            or _joined(content, "thinking"),
            refusal=refusal,
            has_tool_calls=bool(message.get("tool_calls") or message.get("function_call")),
            model=_text(document.get("model")),
            usage=read_usage(document.get("usage")),
            request_id=_text(reply.headers.get("x-request-id") or document.get("id")),
            system_fingerprint=_text(document.get("system_fingerprint")),
        )


def _request_body(request: ChatRequest, limit_field: str) -> dict[str, object]:
    messages = [{"role": "user", "content": request.prompt}]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, object] = {"model": request.model, "messages": messages}
    if request.temperature is not None:
        body["temperature"] = _number(request.temperature)
    if request.max_output_tokens is not None:
        body[limit_field] = request.max_output_tokens
    if request.seed is not None:
        body["seed"] = request.seed
    if request.json_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": _SCHEMA_NAME, "schema": request.json_schema, "strict": True},
        }
    return body


def read_vectors(raw: object, count: int) -> tuple[Sequence[float], ...]:
    """Read `data` of an embeddings reply: one vector for each of `count` texts, by index.

    Raises:
        ValueError: it is something else; the message says what is missing.
    """
    if not isinstance(raw, list):
        raise ValueError("with JSON that holds no embeddings")
    by_index: dict[object, object] = {
        entry.get("index"): entry.get("embedding") for entry in raw if isinstance(entry, Mapping)
    }
    vectors = [by_index.get(index) for index in range(count)]
    if len(raw) != count or not all(isinstance(vector, list) and vector for vector in vectors):
        raise ValueError(f"without one vector for each of {count} texts")
    return tuple(cast("list[Sequence[float]]", vectors))


def read_usage(raw: object) -> Usage:
    """Read `usage` as OpenAI, Groq, OpenRouter and compatible servers report it.

    A count that is missing, null, negative or no integer is None.
    """
    if not isinstance(raw, Mapping):
        return Usage()
    prompt = raw.get("prompt_tokens_details")
    prompt_details: Mapping[str, object] = prompt if isinstance(prompt, Mapping) else {}
    output = raw.get("completion_tokens_details")
    output_details: Mapping[str, object] = output if isinstance(output, Mapping) else {}
    return Usage(
        input_tokens=read_count(raw.get("prompt_tokens")),
        output_tokens=read_count(raw.get("completion_tokens")),
        cached_input_tokens=read_count(prompt_details.get("cached_tokens")),
        cache_write_tokens=read_count(prompt_details.get("cache_write_tokens")),
        reasoning_tokens=read_count(output_details.get("reasoning_tokens")),
        cost_usd=read_cost(raw.get("cost")),
    )


def _joined(content: object, kind: str) -> str | None:
    """Join the parts of one kind; `text` has two names, `thinking` may hold parts of its own."""
    if not isinstance(content, list):
        return None
    texts: list[str] = []
    for part in content:
        if not isinstance(part, Mapping):
            continue
        name = "text" if part.get("type") == "output_text" else part.get("type")
        value = part.get(kind)
        if name == kind:
            texts.append((value if isinstance(value, str) else _joined(value, "text")) or "")
    return "".join(texts) or None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
