"""Every seam of evalcli: what a plug-in may be.

Built-ins and plug-ins come in through the same door (`plugins.py`): a name in a table or an entry
point in `evalcli.<kind>` that loads an object of the protocol named here.

| entry-point group | protocol | called with |
| --- | --- | --- |
| `evalcli.assertions` | `AssertionType` | value and options as declared |
| `evalcli.providers` | `ChatAdapterFactory` | a `ProviderSetup` |
| `evalcli.retrievers` | `RetrieverFactory` | a `RetrieverSetup` |
| `evalcli.sets`, `evalcli.profiles` | a package name with YAML resources | – |
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass, GoldenPrompt
from evalcli.declarations.retriever import RetrieverEntry
from evalcli.declarations.workspace import ModelEntry, ProviderEntry
from evalcli.records import (
    Answer,
    AssertionOutcome,
    ChatRequest,
    Decision,
    DecisionAvailability,
    DecisionRequest,
    DecisionResult,
    Embedding,
    EmbeddingRequest,
    Grade,
    Operation,
    QuestionsRequest,
    RetrievedDocument,
)


class AssertionFaultError(ValueError):
    """A declared assertion cannot work.

    `path` is the place below the assertion (`("json_schema", "properties", "a")`), empty for the
    assertion as a whole. `others` are further faults of the same assertion.
    """

    def __init__(self, message: str, *, advice: str = "", path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.path = path
        self.others: tuple[AssertionFaultError, ...] = ()

    @classmethod
    def of(cls, faults: Sequence[AssertionFaultError]) -> AssertionFaultError:
        """Raise several at once: the first one, with the `others` it stands for."""
        first = faults[0]
        first.others = tuple(faults[1:])
        return first


@runtime_checkable
class CompiledAssertion(Protocol):
    """One assertion, ready to look at answers. Compiled once a run."""

    @property
    def canonical(self) -> str:
        """JSON text that is the same whenever the assertion means the same."""
        ...

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Look at one answer; called off the event loop where `may_be_slow`."""
        ...

    @property
    def may_be_slow(self) -> bool:
        """Whether `evaluate` can take longer than a millisecond."""
        ...


@runtime_checkable
class AssertionType(Protocol):
    """A kind of assertion, known by the key that names it in YAML."""

    @property
    def name(self) -> str:
        """The key in YAML."""
        ...

    @property
    def options(self) -> frozenset[str]:
        """The further keys that may stand beside it."""
        ...

    def compile(self, value: object, options: Mapping[str, object]) -> CompiledAssertion:
        """Check and compile a declared assertion.

        `value` and `options` may be trees of `SourceScalar`; see `declarations.scalars`.

        Raises:
            AssertionFaultError: the value or an option cannot work.
        """
        ...


@runtime_checkable
class Grader(Protocol):
    """Turns a prompt and its answer into a grade."""

    async def grade(self, prompt: GoldenPrompt, answer_text: str, *, system: str | None) -> Grade:
        """Grade one answer; `system` is the system prompt the call ran with."""
        ...

    def graded_fingerprint(self, prompt: GoldenPrompt) -> str | None:
        """Fingerprint of all that the grading of this prompt reads."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderSetup:
    """What an adapter is made from.

    `api_key` is the resolved secret; it must not leave the adapter but in a request header.
    `keys` are all secrets, which must not be in an error, those in `headers` included. `environ`
    is where proxy and CA variables are looked up.
    `models` holds the declared models of this provider by declared name. `root` is the folder that
    relative paths of the entry start from, None for the current one.
    """

    name: str
    entry: ProviderEntry
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    models: Mapping[str, ModelEntry] = field(default_factory=dict)
    root: Path | None = None


@runtime_checkable
class ChatModel(Protocol):
    """An adapter that answers chat requests."""

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Send one request and read its answer, one try.

        Raises:
            ProviderError: of the kind that happened, with `is_retryable` and `retry_after_s` set.
        """
        ...

    async def list_models(self) -> tuple[str, ...]:
        """Ask for the ids of the models the provider offers; also serves as a probe."""
        ...

    async def aclose(self) -> None:
        """Close connections and free what the adapter holds."""
        ...


@runtime_checkable
class ModelChecker(Protocol):
    """What an adapter is, too, that knows before the first request which models it has."""

    def check_model(self, model: str) -> None:
        """Refuse a model that cannot be asked.

        Raises:
            ConfigurationError: there is no such model.
        """
        ...


@runtime_checkable
class DecisionModel(Protocol):
    """What an adapter is, too, whose models answer a profile's questions natively."""

    async def ask_decision(self, request: QuestionsRequest) -> Decision:
        """Send one request and read its answers, one try; they are verified by who asked.

        Raises:
            ProviderError: of the kind that happened; a reply that is no decision is a
                `ProviderReplyError` with the status 200.
        """
        ...


@runtime_checkable
class EmbeddingModel(Protocol):
    """What an adapter is, too, whose models turn texts into vectors."""

    async def ask_embedding(self, request: EmbeddingRequest) -> Embedding:
        """Send one request and read its vectors, one try.

        Raises:
            ProviderError: of the kind that happened; a reply without one vector a text is a
                `ProviderReplyError` with the status 200.
        """
        ...


@runtime_checkable
class Decider(Protocol):
    """Whoever makes decisions for others: the decision service, and what stands in for it."""

    async def evaluate(self, request: DecisionRequest) -> DecisionResult:
        """Make one decision.

        Raises:
            DecisionError: there is none; `code` says why, and the cause is chained.
        """
        ...

    def assert_available(
        self,
        profile: str | Profile,
        configuration: str | None = None,
        data_class: DataClass | None = None,
    ) -> DecisionAvailability:
        """Check all that needs no subject, before anything is paid for.

        Raises:
            DecisionError: no decision could be made.
        """
        ...


@runtime_checkable
class OperationChecker(Protocol):
    """What an adapter is, too, that has not every operation its methods seem to offer."""

    def check_operation(self, operation: Operation) -> None:
        """Refuse an operation that the adapter does not have.

        Raises:
            ConfigurationError: it does not.
        """
        ...


@runtime_checkable
class SchemaModel(Protocol):
    """What a chat adapter is, too, that can hold a model to a JSON schema."""

    def takes_json_schema(self, model: ModelEntry | None) -> bool:
        """Whether `ChatRequest.json_schema` binds this model; None where it is not declared."""
        ...


@runtime_checkable
class ModelAdviser(Protocol):
    """What an adapter is, too, that knows something about models a person should know."""

    def model_notes(self, model: str) -> tuple[str, ...]:
        """Say it in sentences, such as that an id is an alias that moves."""
        ...


class ChatAdapterFactory(Protocol):
    """Makes an adapter. May raise ConfigurationError; opens no connection."""

    def __call__(self, setup: ProviderSetup) -> ChatModel:
        """Make the adapter of one provider entry."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how near they are."""

    @property
    def identity(self) -> str:
        """Text that changes whenever the vectors of a text would; keys the stored vectors."""
        ...

    @property
    def batch_size(self) -> int:
        """The most texts that one call may hold."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts of at least one character.

        Shapes: one vector a text, in the same order, all of the same length.

        Raises:
            ProviderError: of the kind that happened.
        """
        ...

    async def aclose(self) -> None:
        """Close connections and free what the embedder holds."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Answers a question with ranked documents.

    It may also be one or more of `PreparedRetriever`, `LabelledRetriever`, `CorpusRetriever`.
    """

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions by part: `corpus`, `model`, `chunking`, `pipeline`; what is not known lacks.

        Without `corpus` two runs cannot be compared. What the entry declares takes precedence.
        """
        ...

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument | str]:
        """Rank documents, best first; the order of the list is the ranking.

        Shapes: at most `limit` >= 1 results; several may name one document; none is an answer too.

        Raises:
            ProviderError: it could not answer; the question is then unmeasured, not a miss.
        """
        ...

    async def aclose(self) -> None:
        """Close connections and free what the retriever holds."""
        ...


@runtime_checkable
class PreparedRetriever(Protocol):
    """A retriever that must build something before its first question."""

    async def prepare(self) -> None:
        """Build or load what the questions need; called once.

        Raises:
            ConfigurationError: the corpus or the cache cannot be used.
            ProviderError: a provider that is needed for it failed.
        """
        ...


@runtime_checkable
class LabelledRetriever(Protocol):
    """A retriever that knows questions by their id: rankings that were made elsewhere."""

    @property
    def question_ids(self) -> Collection[str] | None:
        """The questions it knows; None where it needs no id after all."""
        ...

    async def retrieve_question(
        self, question_id: str, question: str, limit: int
    ) -> Sequence[RetrievedDocument | str]:
        """As `Retriever.retrieve`, by the question's id."""
        ...


@runtime_checkable
class CorpusRetriever(Protocol):
    """A retriever whose corpus is at hand, so that ids can be checked and passages shown."""

    @property
    def document_ids(self) -> Collection[str] | None:
        """All document ids, None where the corpus is not at hand after all."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know about the corpus, such as files left out."""
        ...

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find a passage to show for each of these documents; unknown ones lack.

        With a question it is one that fits it, where a document has several.
        """
        ...


@dataclass(frozen=True, slots=True)
class RetrieverPart:
    """One part of a fusion: a retriever and how it is declared."""

    entry: RetrieverEntry
    retriever: Retriever


@dataclass(frozen=True, slots=True)
class RetrieverSetup:
    """What a retriever is made from.

    `root` is the folder that paths in the entry start from, `cache` the folder for indexes and
    vectors. `headers` holds the resolved request headers and `keys` the secrets in them, which
    must not be in an error. `embedder` is set for `vector`, `parts` for `hybrid`.
    """

    name: str
    entry: RetrieverEntry
    root: Path
    cache: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)
    embedder: Embedder | None = None
    parts: Mapping[str, RetrieverPart] = field(default_factory=dict)


class RetrieverFactory(Protocol):
    """Makes a retriever; may read the corpus, opens no connection.

    Raises:
        ConfigurationError: the entry cannot work.
        DeclarationError: the corpus has faults.
    """

    def __call__(self, setup: RetrieverSetup) -> Retriever:
        """Make the retriever of one entry."""
        ...
