"""The base of adapters whose models answer typed questions natively, over HTTP and JSON.

To bring another native model, extend `NativeDecisionProvider` in a package of your own and name
the class in the entry-point group `evalcli.providers`; a workspace then says `type: NAME`, and a
model of it declares `capabilities: [decision]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from evalcli.declarations.profile import ChoiceQuestion, Question
from evalcli.errors import ConfigurationError
from evalcli.http_client import HttpClient
from evalcli.protocols import ProviderSetup
from evalcli.providers.reported import read_cost, read_count
from evalcli.records import (
    Answer,
    ChatRequest,
    Decision,
    DecisionAnswer,
    Operation,
    ProbabilityKind,
    QuestionsRequest,
    Usage,
)


class AnswerFaultError(ValueError):
    """One answer has not the form it must have; the text repeats nothing of it."""


class AnswerFields:
    """The fields of one answer, read strictly: a number in quotes is no number."""

    def __init__(self, raw: object) -> None:
        if not isinstance(raw, Mapping):
            raise AnswerFaultError("the answer is no object")
        self._raw = raw

    def check_type(self, expected: str) -> None:
        """Refuse an answer that says it is of another type; one that says nothing passes."""
        if self._raw.get("type", expected) != expected:
            raise AnswerFaultError(f'the answer is not of the type "{expected}"')

    def number(self, name: str) -> float:
        """Read a number; whether it is finite and in range is verified later."""
        return _number(name, self._need(name))

    def optional_number(self, name: str) -> float | None:
        """Read a number that may be absent or null."""
        raw = self._raw.get(name)
        return None if raw is None else _number(name, raw)

    def text(self, name: str) -> str:
        """Read a text."""
        raw = self._need(name)
        if not isinstance(raw, str):
            raise AnswerFaultError(f"`{name}` is no text")
        return raw

    def numbers(self, name: str) -> dict[str, float]:
        """Read numbers by key; empty where the field is absent or null."""
        raw = self._raw.get(name)
        if raw is None:
            return {}
        if not isinstance(raw, Mapping):
            raise AnswerFaultError(f"`{name}` is no object")
        return {str(key): _number(f"a value of {name}", value) for key, value in raw.items()}

    def _need(self, name: str) -> object:
        raw = self._raw.get(name)
        if raw is None:
            raise AnswerFaultError(f"`{name}` is missing")
        return raw


def read_choice_or_score(question: Question, fields: AnswerFields) -> DecisionAnswer:
    """Read an answer with `choice` or `score`, and `probabilities` and `confidence` if any."""
    fields.check_type(question.type)
    is_choice = isinstance(question, ChoiceQuestion)
    return DecisionAnswer(
        value=None if is_choice else fields.number("score"),
        choice=fields.text("choice") if is_choice else None,
        probabilities=fields.numbers("probabilities"),
        confidence=fields.optional_number("confidence"),
    )


def _number(name: str, raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise AnswerFaultError(f"`{name}` is no number")
    try:
        return float(raw)
    except OverflowError:
        raise AnswerFaultError(f"`{name}` is out of range") from None


class NativeDecisionProvider(ABC):
    """Answers typed questions; refuses chat and embeddings.

    A subclass says where to ask (`path`, `default_base_url`), writes the body of a request and
    reads one answer. Sending, time-outs, errors without secrets and subject, duplicate keys,
    usage and the list of models are here. What the answers say is verified by who asked.

    Raises:
        ConfigurationError: there is no address, or it cannot be used.
    """

    default_base_url: ClassVar[str | None] = None
    path: ClassVar[str]
    models_path: ClassVar[str] = "/models"
    request_id_header: ClassVar[str] = "x-request-id"
    probability_kind: ProbabilityKind = ProbabilityKind.DISTRIBUTION

    def __init__(self, setup: ProviderSetup) -> None:
        self.provider = setup.name
        base_url = setup.entry.base_url or self.default_base_url
        if base_url is None:
            raise ConfigurationError(
                f'provider "{setup.name}" has no base_url', advice="write the server's address"
            )
        headers = {name.lower(): value for name, value in setup.headers.items()}
        if setup.api_key is not None:
            headers.setdefault("authorization", f"Bearer {setup.api_key}")
        self.http = HttpClient(
            setup.name,
            base_url,
            timeout_s=float(setup.entry.timeout_s),
            headers=headers,
            environ=setup.environ,
            keys=setup.keys if setup.api_key is None else (setup.api_key, *setup.keys),
            allow_plain_http=setup.entry.allow_plain_http,
        )
        if setup.entry.probabilities is not None:
            self.probability_kind = ProbabilityKind(setup.entry.probabilities)

    @abstractmethod
    def write_request(self, request: QuestionsRequest) -> Mapping[str, object]:
        """Write the body of a request."""

    @abstractmethod
    def read_answer(self, question: Question, fields: AnswerFields) -> DecisionAnswer:
        """Read the answer to one question.

        Raises:
            AnswerFaultError: it has not the form it must have.
        """

    def read_usage(self, raw: object) -> Usage:
        """Read the `usage` of a reply: `input_tokens`, `output_tokens` and `cost` in USD."""
        if not isinstance(raw, Mapping):
            return Usage()
        return Usage(
            input_tokens=read_count(raw.get("input_tokens")),
            output_tokens=read_count(raw.get("output_tokens")),
            cost_usd=read_cost(raw.get("cost")),
        )

    # --- decisions ------------------------------------------------------------------------------

    async def ask_decision(self, request: QuestionsRequest) -> Decision:
        """Send one request and read its answers, one try; see `protocols.DecisionModel`."""
        private = request.subject.texts()
        reply = await self.http.post_json(
            self.path, self.write_request(request), private=private, unique_keys=True
        )
        document = reply.document
        answers = document.get("answers") if isinstance(document, Mapping) else None
        if not isinstance(document, Mapping) or not isinstance(answers, Mapping):
            raise self.http.reply_error(
                "answered with JSON that holds no answers",
                said=str(document)[:400],
                private=private,
            )
        request_id = reply.headers.get(self.request_id_header.lower()) or _text(document.get("id"))
        return Decision(
            answers={
                str(key): self._read(str(key), raw, request.questions)
                for key, raw in answers.items()
            },
            probability_kind=self.probability_kind,
            model=_text(document.get("model")),
            usage=self.read_usage(document.get("usage")),
            request_id=request_id,
        )

    def _read(self, key: str, raw: object, questions: Mapping[str, Question]) -> DecisionAnswer:
        question = questions.get(key)
        if question is None:
            return DecisionAnswer()  # nobody asked, and whoever verifies the answers says so
        try:
            return self.read_answer(question, AnswerFields(raw))
        except AnswerFaultError as exc:
            raise self.http.reply_error(f"gave no valid answer: {key}: {exc}") from None

    async def list_models(self) -> tuple[str, ...]:
        """Ask for the models, as `models[].name` or `data[].id`; also serves as a probe."""
        reply = await self.http.get_json(self.models_path)
        document = reply.document
        for key, name in (("models", "name"), ("data", "id")):
            listed = document.get(key) if isinstance(document, Mapping) else None
            if isinstance(listed, list):
                names = [entry.get(name) for entry in listed if isinstance(entry, Mapping)]
                return tuple(found for found in names if isinstance(found, str))
        raise self.http.reply_error("answered with something that is no list of models")

    async def aclose(self) -> None:
        """Close all connections."""
        await self.http.aclose()

    # --- what it does not do --------------------------------------------------------------------

    def check_operation(self, operation: Operation) -> None:
        """Refuse everything but decisions.

        Raises:
            ConfigurationError: it is chat or embedding.
        """
        if operation is not Operation.DECISION:
            raise self._refusal(operation)

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Refuse: a decision model does not chat.

        Raises:
            ConfigurationError: always.
        """
        raise self._refusal(Operation.CHAT)

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Refuse: a decision model embeds nothing.

        Raises:
            ConfigurationError: always.
        """
        raise self._refusal(Operation.EMBEDDING)

    def _refusal(self, operation: Operation) -> ConfigurationError:
        return ConfigurationError(
            f'provider "{self.provider}" answers decisions only, and was asked for '
            f"{operation.value}",
            advice="name a configuration whose model can do that",
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
