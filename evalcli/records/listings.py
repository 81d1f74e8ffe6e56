"""What the history tells of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from evalcli.records.comparisons import (
    BaselineMove,
    Comparison,
    ComparisonState,
    Verdict,
    VerdictWord,
)
from evalcli.records.runs import GitState, RunStatus


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
