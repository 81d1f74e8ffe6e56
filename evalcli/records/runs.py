"""One run: its plan, treatment and limits."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

SCORING_VERSION = 1
"""Raised when the meaning of a grade changes; runs of two versions are not compared."""


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
