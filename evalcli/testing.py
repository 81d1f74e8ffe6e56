"""Stand-ins for decisions, providers and retrievers, for tests of programs that use evalcli.

`pytest_plugins = ["evalcli.testing"]` in a `conftest.py` makes the fixtures known:
`fake_decisions`, `fake_provider`, `fake_retriever`. pytest is needed, evalcli does not bring it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.protocols import ProviderSetup
from evalcli.records import (
    Answer,
    CallRecord,
    ChatRequest,
    Decision,
    DecisionAnswer,
    DecisionAvailability,
    DecisionRequest,
    DecisionResult,
    Operation,
    ProbabilityKind,
    QuestionsRequest,
    RetrievedDocument,
)

FAKE = "fake"
"""The name of the provider, the model and the configuration of what a fake answers."""


def make_result(
    answers: Mapping[str, DecisionAnswer],
    *,
    profile: str = FAKE,
    version: int = 1,
    probability_kind: ProbabilityKind = ProbabilityKind.CALIBRATED,
) -> DecisionResult:
    """Make the result of a decision from its answers; tokens and cost are unknown."""
    return DecisionResult(
        profile=profile,
        version=version,
        configuration=FAKE,
        provider=FAKE,
        model=FAKE,
        probability_kind=probability_kind,
        answers=dict(answers),
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
        call=CallRecord(Operation.DECISION, FAKE, FAKE, reported_model=FAKE),
    )


class FakeDecisionService:
    """Answers with queued results, in order, in place of `decisions.service.DecisionService`.

    It checks nothing: neither that a profile exists, nor that a subject has what it requires, nor
    that a result fits the questions. `requests` and `checks` record what it was asked.
    """

    def __init__(self) -> None:
        self.requests: list[DecisionRequest] = []
        self.checks: list[tuple[str | Profile, str | None, DataClass | None]] = []
        self._results: deque[DecisionResult] = deque()
        self._error: Exception | None = None

    def queue(self, *results: DecisionResult) -> None:
        """Answer the next requests with these, in this order."""
        self._results.extend(results)

    def queue_answers(self, **answers: DecisionAnswer) -> None:
        """Answer the next request with these answers, by question key."""
        self.queue(make_result(answers))

    def fail_once(self, error: Exception) -> None:
        """Raise this at the next request, once; the queue stays as it is."""
        self._error = error

    async def evaluate(self, request: DecisionRequest) -> DecisionResult:
        """Record a request; raise the error that is set, else give the next result.

        Raises:
            LookupError: no result is queued any more.
        """
        self.requests.append(request)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if not self._results:
            raise LookupError(f"no result is queued for request {len(self.requests)}")
        return self._results.popleft()

    def assert_available(
        self,
        profile: str | Profile,
        configuration: str | None = None,
        data_class: DataClass | None = None,
    ) -> DecisionAvailability:
        """Record what is asked for, and say that it is there.

        A profile that is named only is given without its questions.
        """
        self.checks.append((profile, configuration, data_class))
        return DecisionAvailability(
            profile=profile if isinstance(profile, Profile) else _named_profile(profile),
            configuration=configuration or FAKE,
            provider=FAKE,
            model=FAKE,
            operation=Operation.DECISION,
            data_class=data_class or DataClass.EDITOR_CONTENT,
        )


def _named_profile(identifier: str) -> Profile:
    return Profile.model_construct(kind="profile", identifier=identifier, version=1, questions={})


class FakeProvider:
    """An adapter that chats and decides with queued answers, in order; it opens no connection.

    It is a factory of itself, so that it can stand wherever an adapter's class does. `requests`
    records what it was asked; `setups` what it was made with.
    """

    def __init__(self) -> None:
        self.requests: list[ChatRequest | QuestionsRequest] = []
        self.setups: list[ProviderSetup] = []
        self.is_closed = False
        self._answers: deque[Answer] = deque()
        self._decisions: deque[Decision] = deque()
        self._error: Exception | None = None

    def __call__(self, setup: ProviderSetup) -> FakeProvider:
        """Record the provider's entry; give this adapter."""
        self.setups.append(setup)
        return self

    def queue(self, *answers: str | Answer) -> None:
        """Answer the next chat requests with these, in this order."""
        self._answers.extend(
            answer if isinstance(answer, Answer) else Answer(answer, model=FAKE)
            for answer in answers
        )

    def queue_decisions(self, *decisions: Decision) -> None:
        """Answer the next decisions with these, in this order."""
        self._decisions.extend(decisions)

    def fail_once(self, error: Exception) -> None:
        """Raise this at the next request, once; the queues stay as they are.

        A `ProviderError` with `is_retryable` makes the pipeline try again.
        """
        self._error = error

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Record a request; raise the error that is set, else give the next answer.

        Raises:
            LookupError: no answer is queued any more.
        """
        self._record(request)
        if not self._answers:
            raise LookupError(f"no answer is queued for request {len(self.requests)}")
        return self._answers.popleft()

    async def ask_decision(self, request: QuestionsRequest) -> Decision:
        """Record a request; raise the error that is set, else give the next decision.

        Raises:
            LookupError: no decision is queued any more.
        """
        self._record(request)
        if not self._decisions:
            raise LookupError(f"no decision is queued for request {len(self.requests)}")
        return self._decisions.popleft()

    async def list_models(self) -> tuple[str, ...]:
        """Name the one model there is."""
        return (FAKE,)

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True

    def _record(self, request: ChatRequest | QuestionsRequest) -> None:
        self.requests.append(request)
        if self._error is not None:
            error, self._error = self._error, None
            raise error


@dataclass(slots=True)
class FakeRetriever:
    """Gives each question the ranking that was set for it, else nothing.

    `questions` records what it was asked, with the limit. It does not cut a ranking to the limit.
    """

    rankings: dict[str, Sequence[RetrievedDocument | str]] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=lambda: {"corpus": FAKE})
    questions: list[tuple[str, int]] = field(default_factory=list)
    is_closed: bool = False
    _error: Exception | None = None

    def rank(self, question: str, documents: Iterable[RetrievedDocument | str]) -> None:
        """Answer a question with these documents, best first, however often it is asked."""
        self.rankings[question] = tuple(documents)

    def fail_once(self, error: Exception) -> None:
        """Raise this at the next question, once."""
        self._error = error

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument | str]:
        """Record a question; raise the error that is set, else give its ranking."""
        self.questions.append((question, limit))
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self.rankings.get(question, ())

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


@pytest.fixture
def fake_decisions() -> FakeDecisionService:
    """A decision service without a model."""
    return FakeDecisionService()


@pytest.fixture
def fake_provider() -> FakeProvider:
    """A provider without a server."""
    return FakeProvider()


@pytest.fixture
def fake_retriever() -> FakeRetriever:
    """A retriever without a corpus."""
    return FakeRetriever()
