"""Baselines, comparisons and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from evalcli.records.runs import SCORING_VERSION, Fingerprints, GitState, Run, Treatment
from evalcli.records.summaries import ClassDrop, RankChange, RetrievalSummary, Summary
from evalcli.records.trials import Trial


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
