"""What happened, as frozen values: answers, grades, trials, runs, comparisons, verdicts.

Rates, scores and drops are `Fraction`s so that a drop can be compared with a limit exactly.
Times are UTC. A number that nobody reported is None, never 0.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from evalcli.errors import DecisionCode, DecisionError, ExitStatus

if TYPE_CHECKING:  # Pydantic takes long to load, and not all that reads records needs it.
    from evalcli.declarations.profile import Profile, Question, SubjectField
    from evalcli.declarations.prompt_set import DataClass

SCORING_VERSION = 1
"""Raised when the meaning of a grade changes; runs of two versions are not compared."""


# --- one call ---------------------------------------------------------------------------------


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


# --- one decision -----------------------------------------------------------------------------


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


# --- one embedding ----------------------------------------------------------------------------


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


# --- how a call went --------------------------------------------------------------------------


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


# --- what the decision service is asked and answers -------------------------------------------


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

    @property
    def exit_status(self) -> ExitStatus:
        """What the command ends with."""
        if self.failed:
            return ExitStatus.INCOMPLETE
        return ExitStatus.GATE_FAILED if self.below_requirement else ExitStatus.OK


_encode_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def request_sha256(system: str | None, prompt: str) -> str:
    """Name what was asked by its content, so that a recorded answer can be found again.

    Source: SHA-256 of the JSON list [system, prompt], ASCII only, without spaces.
    """
    text = _encode_json([system, prompt])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# --- one ranking ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """One result of a retriever.

    `score` is the retriever's own, larger is better, in no common unit; None where it gives none.
    `text` is a passage to show to people; it is never scored.
    """

    id: str
    score: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a retriever answered to one question, ready to be scored.

    `documents` holds distinct documents, best first, at most as many as the largest cutoff.
    `returned` counts the raw results, `surplus` those beyond the limit that was asked for,
    `repeated` those whose document stood there already, `below_min_score` those cut by score.
    Units: `latency_ms` in milliseconds.
    """

    documents: tuple[RetrievedDocument, ...]
    returned: int
    surplus: int = 0
    repeated: int = 0
    below_min_score: int = 0
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class RetrieverReply:
    """What a retriever returned to a question that is in no set, for a person to look at.

    `passages` maps the documents whose text is at hand to a piece of it.
    """

    retriever: str
    question: str
    ranking: Ranking
    passages: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """How one ranking did against the labels of its question.

    `first_hit` is the rank, from 1, of the first expected document within the largest cutoff.
    `recall` maps each cutoff to a value in 0..1; it, `reciprocal_rank` and `ndcg` are None for a
    question that nothing answers. `returned` counts the distinct documents that were scored,
    `expected` names those that answer the question, best first.
    """

    form: str
    hard_class: str | None
    is_answerable: bool
    first_hit: int | None
    returned: int
    reciprocal_rank: float | None = None
    recall: Mapping[int, float] | None = None
    ndcg: float | None = None
    expected: tuple[str, ...] = ()

    def is_hit(self, cutoff: int) -> bool:
        """Whether an expected document is among the first `cutoff`.

        Where nothing answers the question: whether nothing was returned.
        """
        if not self.is_answerable:
            return self.returned == 0
        return self.first_hit is not None and self.first_hit <= cutoff


# --- one trial --------------------------------------------------------------------------------


class TrialState(StrEnum):
    """What became of one trial."""

    GRADED = "graded"
    UNMEASURED = "unmeasured"  # no gradable answer
    NOT_GRADED = "not_graded"  # an answer, but its grading failed


class UnmeasuredCause(StrEnum):
    """Why a trial has no gradable answer, or no grade."""

    PROVIDER = "provider"
    EMPTY = "empty"
    FILTERED = "filtered"
    CUT_OFF = "cut_off"
    TOOL_CALL = "tool_call"
    GRADER = "grader"


@dataclass(frozen=True, slots=True)
class TrialError:
    """Why a trial is not graded. `message` is safe to show after `plain_text`."""

    cause: UnmeasuredCause
    message: str
    provider: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """One assertion on one answer. `reason` is empty where it passed."""

    type: str
    passed: bool
    reason: str = ""
    is_evaluated: bool = True


@dataclass(frozen=True, slots=True)
class Grade:
    """The grading of one answer.

    Units: `score` in 0..1, exact. `yardstick` is what the grading reports having been graded by,
    empty where nothing graded (a refusal without a text fails by itself). `call` is the judge's.
    """

    passed: bool
    score: Fraction
    reason: str = ""
    yardstick: str = "deterministic"
    outcomes: tuple[AssertionOutcome, ...] = ()
    question: QuestionScore | None = None
    call: CallRecord | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer to one prompt, graded, or the reason why not.

    `trial` counts from 0. `is_refused` and `is_cut_off` name what kind of answer was graded.
    """

    prompt_id: str
    trial: int
    state: TrialState
    answer: Answer | None = None
    grade: Grade | None = None
    error: TrialError | None = None
    call: CallRecord | None = None
    is_refused: bool = False
    is_cut_off: bool = False
    finished_at: datetime | None = None
    ranking: Ranking | None = None
    request_sha256: str | None = None


# --- one run ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What makes one prompt comparable; None where it is not known (state `unknown`)."""

    asked: str | None
    graded: str | None


@dataclass(frozen=True, slots=True)
class PlannedPrompt:
    """One prompt of a run's plan."""

    prompt_id: str
    fingerprints: Fingerprints


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a user tries out. A change is named, not refused.

    `settings` holds further settings as text by name (temperature, seed, ...). `system` is the
    configuration's system prompt, None where there is none or where texts are not kept;
    `system_fingerprint` tells changes apart in both cases. `provider_type` is what the provider's
    entry says of its `type`; it is shown, and is no treatment of its own.
    """

    provider: str | None = None
    model: str | None = None
    reported_models: tuple[str, ...] = ()
    system: str | None = None
    system_fingerprint: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    trials: int = 1
    provider_type: str | None = None

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the model ran within evalcli itself, so that nothing was sent anywhere."""
        return self.provider_type == "local"

    @property
    def is_recorded(self) -> bool:
        """Whether answers were replayed and no model was asked."""
        return self.provider_type == "replay"


@dataclass(frozen=True, slots=True)
class GitState:
    """The commit a run was made on; None where there is no repository."""

    commit: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None


class RunStatus(StrEnum):
    """How far a run got."""

    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Every limit a run is judged by; rates and drops exact, in 0..1; None where not set.

    Of a run of questions the two rates are the hit rates at 1 and at 3, and `max_class_drop` is
    held against each hard class.
    """

    max_pass_rate_drop: Fraction = Fraction(1, 10)
    max_mean_score_drop: Fraction = Fraction(1, 10)
    min_pass_rate: Fraction | None = None
    min_mean_score: Fraction | None = None
    require_baseline: bool = False
    fail_on_regression: bool = False
    max_class_drop: Fraction | None = None


def resume_command(kind: str, set_identifier: str, target: str, run_id: str) -> str:
    """Write the command that asks what is missing of an incomplete run."""
    words = ["evalcli", "eval"]
    if kind == "questions":
        words += ["retrieval", set_identifier, shlex.quote(target)]
    else:
        words += ["run", set_identifier]
    return " ".join([*words, "--resume", run_id])


def regrade_command(run_id: str, grader_kind: str) -> str:
    """Write the command that grades the answers of a run again."""
    return f"evalcli eval regrade {run_id} --grader {grader_kind}"


@dataclass(frozen=True, slots=True)
class Run:
    """One run's own facts, without its trials.

    `kind` is `prompts` or `questions`; `target` names what the team ships (the configuration, or
    `provider/model`, or the retriever); `grader` is the yardstick the gradings reported, or the
    kind of grader while none has; `grader_kind` what was asked for.
    `skipped` maps prompt id to the reason; `ungraded` holds ids that need another grader.
    `options` holds what the command was given, so that a resumed run needs no repetition.
    `baseline_as_of` is the newest baseline there was when the run started (0: none): only
    baselines up to it count. `baseline_id` is the one the run was compared with.
    """

    run_id: str
    kind: str
    set_identifier: str
    set_name: str
    target: str
    grader: str
    grader_kind: str
    status: RunStatus
    started_at: datetime
    plan: tuple[PlannedPrompt, ...]
    trials: int = 1
    finished_at: datetime | None = None
    configuration: str | None = None
    treatment: Treatment = Treatment()
    scoring_version: int = SCORING_VERSION
    data_class: str = "editor_content"
    is_draft: bool = False
    is_partial: bool = False
    is_interrupted: bool = False
    skipped: Mapping[str, str] = field(default_factory=dict)
    ungraded: tuple[str, ...] = ()
    limits: GateLimits = GateLimits()
    workspace_limits: GateLimits = GateLimits()
    options: Mapping[str, object] = field(default_factory=dict)
    baseline_as_of: int = 0
    baseline_id: int | None = None
    baseline_source: str = "current"
    evalcli_version: str = ""
    git: GitState = GitState()
    regraded_from: str | None = None

    @property
    def has_baseline_file(self) -> bool:
        """Whether the baseline that it names is a file."""
        return "/" in self.baseline_source or self.baseline_source.endswith(".json")

    @property
    def resume_command(self) -> str:
        """The command that asks what is missing; of a regrading, the one that grades again."""
        if self.regraded_from is not None:
            return regrade_command(self.regraded_from, self.grader_kind)
        return resume_command(self.kind, self.set_identifier, self.target, self.run_id)


# --- events of a run --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunPreparing:
    """Something is built or loaded before the run starts, which can take a while."""

    what: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run is stored; `done` counts trials that an earlier session already measured.

    `notes` say what a person should know before the first answer.
    """

    run: Run
    done: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """One trial is stored."""

    run_id: str
    trial: Trial
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call failed and will be tried again after `wait_s` seconds."""

    provider: str
    message: str
    tries: int
    wait_s: float


RunEvent = RunPreparing | RunStarted | TrialFinished | CallRetried


# --- what a run amounts to --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptSummary:
    """One prompt over its trials. None where a trial is missing or unmeasured.

    `hard_class` is a question's, None where it has none.
    """

    prompt_id: str
    fingerprints: Fingerprints
    trials: int
    measured: int
    passed: int
    pass_share: Fraction | None
    score: Fraction | None
    hard_class: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers.

    `pass_rate` and `mean_score` are None unless every prompt is measured; `measured_*` are over
    what was measured, for information. Costs and tokens are None where any call's are unknown;
    `known_cost_usd` sums the known ones.
    """

    prompts: tuple[PromptSummary, ...]
    measured: int
    passed: int
    pass_rate: Fraction | None
    mean_score: Fraction | None
    measured_pass_rate: Fraction | None
    measured_mean_score: Fraction | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    known_cost_usd: Decimal | None
    refused: int
    cut_off: int
    unmeasured: int
    not_graded: int
    yardsticks: tuple[str, ...]
    reported_models: tuple[str, ...]
    has_fallback: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every trial of every prompt has a grade."""
        return self.pass_rate is not None

    @property
    def not_asked(self) -> int:
        """How many trials are missing because the run was stopped before them."""
        without_grade = sum(prompt.trials - prompt.measured for prompt in self.prompts)
        return without_grade - self.unmeasured - self.not_graded


@dataclass(frozen=True, slots=True)
class RetrievalRow:
    """The figures of all questions, of one form or of one hard class.

    `group` is `all`, `form` or `hard_class`; `name` says which. `hits` maps each cutoff to the
    number of questions with a hit. The means are over the `answerable` questions, None where
    there is none; `mean_recall` maps each cutoff to its mean.
    """

    group: str
    name: str
    questions: int
    answerable: int
    hits: Mapping[int, int]
    mean_reciprocal_rank: float | None
    mean_recall: Mapping[int, float] | None
    mean_ndcg: float | None

    def hit_rate(self, cutoff: int) -> Fraction:
        """Share of questions with a hit among the first `cutoff`, exact, in 0..1."""
        return Fraction(self.hits[cutoff], self.questions)


@dataclass(frozen=True, slots=True)
class RetrievalSummary:
    """A retrieval run in numbers: the first row is over all measured questions.

    `cutoffs` ascend; MRR and recall are over the largest.
    """

    cutoffs: tuple[int, ...]
    rows: tuple[RetrievalRow, ...]


@dataclass(frozen=True, slots=True)
class ClassDrop:
    """How one hard class moved, at one cutoff, over the questions that both runs have.

    Units: rates in 0..1, exact. `is_gated` is False for a class too small to judge.
    """

    name: str
    cutoff: int
    questions: int
    before: Fraction
    after: Fraction
    is_gated: bool

    @property
    def drop(self) -> Fraction:
        """How far the rate fell; negative where it rose."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class RankChange:
    """A question whose hit at 1 or at 3 was lost or won.

    `before` and `after` say where its first expected document came, as a person reads it: `1`,
    `2 or 3` (a baseline file knows no ranks), `none of 10`; where nothing answers the question,
    `nothing` or `4 documents`, which is what was returned.
    """

    prompt_id: str
    is_lost: bool
    before: str
    after: str


# --- baselines and comparison -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BaselinePrompt:
    """What the baseline knows of one prompt."""

    prompt_id: str
    fingerprints: Fingerprints
    pass_share: Fraction
    score: Fraction
    run_id: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a new run is compared with: one record per prompt.

    `baseline_id` is the history's, None for one read from a file or made from a single run.
    `source` says in words where it comes from: `history`, a run id, or a file name.
    """

    set_identifier: str
    target: str
    grader: str
    kind: str
    prompts: Mapping[str, BaselinePrompt]
    run_id: str
    set_at: datetime
    treatment: Treatment = Treatment()
    scoring_version: int = SCORING_VERSION
    git: GitState = GitState()
    baseline_id: int | None = None
    source: str = "history"
    evalcli_version: str = ""


class ComparisonState(StrEnum):
    """Whether a run and its baseline can be compared."""

    BASELINE = "baseline"
    COMPARABLE = "comparable"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"
    MIXED = "mixed"
    PARTIAL = "partial"
    NOT_COMPARED = "not_compared"  # the run is incomplete


@dataclass(frozen=True, slots=True)
class ChangedPrompt:
    """A prompt whose content is not what the baseline was measured on."""

    prompt_id: str
    is_asked_changed: bool
    is_graded_changed: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against its baseline, over the prompts that both have unchanged.

    `baseline_target` and `baseline_grader` are set where they are not the run's own. A baseline
    of the same kind of grader with another yardstick is shown, but is none: `has_baseline`.
    `class_drops` and `rank_changes` are of runs of questions, over the common ones.

    Units: rates and drops in 0..1, exact; a drop is before minus after (negative: a gain); None
    where there is no common prompt.
    """

    state: ComparisonState
    reason: str = ""
    common: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[ChangedPrompt, ...] = ()
    removed: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    newly_passing: tuple[str, ...] = ()
    pass_rate_before: Fraction | None = None
    pass_rate_after: Fraction | None = None
    mean_score_before: Fraction | None = None
    mean_score_after: Fraction | None = None
    treatment_changes: tuple[str, ...] = ()
    is_grading_only: bool = False
    baseline_target: str | None = None
    baseline_grader: str | None = None
    other_targets: tuple[str, ...] = ()
    has_baseline: bool = False
    class_drops: tuple[ClassDrop, ...] = ()
    rank_changes: tuple[RankChange, ...] = ()

    @property
    def pass_rate_drop(self) -> Fraction | None:
        """How far the pass rate fell over the common prompts."""
        if self.pass_rate_before is None or self.pass_rate_after is None:
            return None
        return self.pass_rate_before - self.pass_rate_after

    @property
    def mean_score_drop(self) -> Fraction | None:
        """How far the mean score fell over the common prompts."""
        if self.mean_score_before is None or self.mean_score_after is None:
            return None
        return self.mean_score_before - self.mean_score_after


class VerdictWord(StrEnum):
    """The gate's word, as in JSON."""

    PASSED = "passed"
    REGRESSED = "regressed"
    BELOW_FLOOR = "below_floor"
    NOT_COMPARABLE = "not_comparable"
    NO_BASELINE = "no_baseline"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class GateFinding:
    """One gate that said no. `is_armed` tells whether it fails the command as it was called."""

    gate: str  # max_pass_rate_drop, max_top1_drop, max_class_drop, ..., comparability
    message: str
    limit: Fraction | None = None
    actual: Fraction | None = None
    is_armed: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says, computed and stored with and without --fail-on-regression."""

    word: VerdictWord
    findings: tuple[GateFinding, ...] = ()

    @property
    def is_gate_failed(self) -> bool:
        """Whether an armed gate said no."""
        return any(finding.is_armed for finding in self.findings)


class BaselineMove(StrEnum):
    """What the run did to the baseline of its series."""

    NONE = "none"
    SET = "set"
    REPLACED = "replaced"
    EXTENDED = "extended"
    ACCEPTED = "accepted"  # on purpose, by `baseline accept`


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """All that a report needs of one finished (or incomplete) run.

    `retrieval` is of runs of questions, over those that are measured. Where the corpus is at hand,
    `documents` counts it and `passages` has a piece of what came first in place of the right one.
    """

    run: Run
    trials: tuple[Trial, ...]
    summary: Summary
    comparison: Comparison
    verdict: Verdict
    baseline: Baseline | None = None
    baseline_move: BaselineMove = BaselineMove.NONE
    baseline_note: str = ""
    notes: tuple[str, ...] = ()
    retrieval: RetrievalSummary | None = None
    documents: int | None = None
    passages: Mapping[str, str] = field(default_factory=dict)


# --- what the history tells -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """What a run was told at its end, as it was stored."""

    comparison: Comparison
    verdict: Verdict
    baseline_move: BaselineMove = BaselineMove.NONE
    baseline_note: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunListing:
    """One line of a list of runs.

    `prompts`, `measured` and `passed` count prompts. `pass_rate` and `mean_score` are None unless
    the run is complete; `state` and `verdict` while it has not ended. `status` is `running` only
    while a process is really at it; a run whose process died is `incomplete` and `is_interrupted`.
    `is_baseline` says whether the current baseline of its set, target and grader was made of it.
    """

    run_id: str
    kind: str
    set_identifier: str
    target: str
    grader: str
    status: RunStatus
    started_at: datetime
    finished_at: datetime | None
    prompts: int
    trials: int
    measured: int
    passed: int
    pass_rate: Fraction | None = None
    mean_score: Fraction | None = None
    cost_usd: Decimal | None = None
    known_cost_usd: Decimal | None = None
    state: ComparisonState | None = None
    verdict: VerdictWord | None = None
    is_gate_failed: bool = False
    is_draft: bool = False
    is_partial: bool = False
    is_interrupted: bool = False
    baseline_move: BaselineMove = BaselineMove.NONE
    provider: str | None = None
    model: str | None = None
    git: GitState = GitState()
    regraded_from: str | None = None
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What pruning removed, or would remove (`is_dry_run`).

    `kept` counts runs that are old enough and stay: a baseline rests on them, a kept run is a
    regrading of them, or a process is at them. `decisions` are those outside of runs.
    """

    older_than: datetime
    run_ids: tuple[str, ...]
    trials: int
    baselines: int
    kept: int
    is_dry_run: bool = False
    decisions: int = 0

    @property
    def removed(self) -> int:
        """How many runs were removed, or would be."""
        return len(self.run_ids)
