"""One answer, graded or not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from evalcli.records.calls import Answer, CallRecord
from evalcli.records.rankings import QuestionScore, Ranking


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
