"""Decisions: what a judge is asked, what it answers, what the service makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from evalcli.errors import DecisionCode, DecisionError, ExitStatus
from evalcli.records.calls import CallRecord, Operation, Usage

if TYPE_CHECKING:  # Pydantic takes long to load, and not all that reads records needs it.
    from evalcli.declarations.profile import Profile, Question, SubjectField
    from evalcli.declarations.prompt_set import DataClass


class ProbabilityKind(StrEnum):
    """What the probabilities of a decision are worth."""

    NONE = "none"  # hard labels: a chat model was asked for an answer, not for a probability
    DISTRIBUTION = "distribution"  # the model's own, not calibrated
    CALIBRATED = "calibrated"  # by the provider


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about. It is data: it changes no question and no criterion.

    A field is absent where it is None, `evidence` where it holds no passage; an empty text is
    present.
    """

    task: str | None = None
    candidate: str | None = None
    evidence: tuple[str, ...] = ()

    def has(self, field_name: SubjectField) -> bool:
        """Whether a field is present."""
        return field_name.value in self.fields()

    def fields(self) -> dict[str, str | tuple[str, ...]]:
        """Give the present fields by name, in their usual order."""
        fields: dict[str, str | tuple[str, ...]] = {}
        if self.task is not None:
            fields["task"] = self.task
        if self.candidate is not None:
            fields["candidate"] = self.candidate
        if self.evidence:
            fields["evidence"] = self.evidence
        return fields

    def texts(self) -> tuple[str, ...]:
        """Give every text of it, none of which may come back in an error."""
        return tuple(text for text in (self.task, self.candidate, *self.evidence) if text)


@dataclass(frozen=True, slots=True)
class QuestionsRequest:
    """What is asked of a decision model, without anything that belongs to a provider.

    `model` is the id to send; `questions` are those of a profile, by key.
    """

    model: str
    subject: Subject
    questions: Mapping[str, Question]


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """The answer to one question, exactly as the model reported it; nothing is derived.

    Units: `value` is the probability of yes, in 0..1, or a level, from 0 to the highest index and
    possibly between two; None for a choice. `choice` is an option, None for the other types.
    `probabilities` are by option or by level index ("0", "1", ...), each in 0..1, empty where not
    reported. `confidence` is the provider's own, in 0..1, None where not reported; it means
    something else at each provider.
    """

    value: float | None = None
    choice: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a decision model sent back: an answer by question key, not verified yet."""

    answers: Mapping[str, DecisionAnswer]
    probability_kind: ProbabilityKind
    model: str | None = None
    usage: Usage = Usage()
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What is to be decided, by which profile, on which configuration.

    `profile` is an identifier, or a profile that is declared nowhere. `configuration` is None for
    the one that `decision.configuration` names. The more sensitive of `data_class` and the
    profile's is what counts. `caller` and `caller_operation` name who asks, for the history.
    """

    profile: str | Profile
    subject: Subject
    configuration: str | None = None
    data_class: DataClass | None = None
    caller: str | None = None
    caller_operation: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionAvailability:
    """What a decision would be made with; all that needs no subject was checked.

    `model` is the id that will be sent. `operation` is DECISION where the model decides natively,
    CHAT where it is asked for hard labels. `notes` are what a person should know of the models.
    """

    profile: Profile
    configuration: str
    provider: str
    model: str
    operation: Operation
    data_class: DataClass
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """Verified answers by question key, and what they were made with.

    `provider` and `model` are those that served, `model` as it was reported; None where it was
    not, as are tokens and cost. `cost_usd` is the provider's or from the model's prices where the
    model decides natively, and only the provider's where a chat model answered; `call`, the
    usage record, has the priced cost in both cases.
    Units: tokens and cost are those of all requests that the decision took.
    """

    profile: str
    version: int
    configuration: str
    provider: str
    model: str | None
    probability_kind: ProbabilityKind
    answers: Mapping[str, DecisionAnswer]
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    call: CallRecord
    notes: tuple[str, ...] = ()

    def answer(self, key: str) -> DecisionAnswer:
        """Give the answer to one question.

        Raises:
            DecisionError: NO_SUCH_ANSWER, the profile has no question of that key.
        """
        if key in self.answers:
            return self.answers[key]
        raise DecisionError(
            DecisionCode.NO_SUCH_ANSWER,
            f'profile "{self.profile}" has no question "{key}"',
            advice=f"its questions are {', '.join(self.answers)}",
        )


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """What became of a decision that was asked for: a result or an error, and its call."""

    call: CallRecord
    result: DecisionResult | None = None
    error: DecisionError | None = None


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """The content that a version of a profile had at its first stored use.

    `content` is `Profile.content()`, None where the history keeps no texts. `first_use` says in a
    word what that use was: `run`, `batch`, `calibration`.
    """

    identifier: str
    version: int
    fingerprint: str
    first_use: str
    first_used_at: datetime
    content: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class RequirementOutcome:
    """Whether an answer is what its caller required, such as `supported>=0.8`.

    `value` or `choice` is what was answered.
    """

    requirement: str
    key: str
    is_met: bool
    value: float | None = None
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedDecision:
    """A decision, the profile that asked, and how it compares with what its caller required."""

    profile: Profile
    result: DecisionResult
    requirements: tuple[RequirementOutcome, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether all that was required holds."""
        return all(one.is_met for one in self.requirements)


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as the history keeps it; `subject` only where it keeps texts.

    `batch` names the batch it belongs to and `line` its line there, from 1; both None for a single
    one.
    """

    made_at: datetime
    profile: str
    version: int
    configuration: str
    data_class: str
    subject: Subject
    outcome: DecisionOutcome
    batch: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, told as its lines are written."""

    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class BatchRequirement:
    """How the lines of a batch did by one requirement.

    `first_unmet` is the number of the first line that is not what was required, from 1.
    """

    requirement: str
    unmet: int = 0
    first_unmet: int | None = None


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What became of a batch: one line of the output for each of the input.

    `resumed_after` counts lines that were there before, `failed` lines without a decision by code,
    `below_requirement` decisions that are not what was required; `requirements` by which.
    `first_failed` is the number of the first line without a decision, from 1.
    Units: tokens and cost are those of the decisions that were made, None where not all are known.
    """

    available: DecisionAvailability
    output: str
    lines: int
    resumed_after: int
    failed: Mapping[str, int]
    below_requirement: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    requirements: tuple[BatchRequirement, ...] = ()
    first_failed: int | None = None

    @property
    def exit_status(self) -> ExitStatus:
        """What the command ends with."""
        if self.failed:
            return ExitStatus.INCOMPLETE
        return ExitStatus.GATE_FAILED if self.below_requirement else ExitStatus.OK
