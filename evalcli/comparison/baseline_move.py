"""Whether a run moves the baseline of its series: only up, or on purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from evalcli.comparison.gate import MAX_CLASS_DROP, is_complete
from evalcli.comparison.rate_text import format_count, format_names, rate_words
from evalcli.comparison.reason_text import describe_mixture, noun_of
from evalcli.comparison.treatment import treatment_of_run
from evalcli.errors import UsageError
from evalcli.records import (
    Baseline,
    BaselineMove,
    BaselinePrompt,
    Comparison,
    ComparisonState,
    PromptSummary,
    Run,
    Summary,
    Verdict,
    VerdictWord,
)

CURRENT = "current"
"""The value of `Run.baseline_source` of a run without a `--baseline` of its own."""


def baseline_of_run(run: Run, summary: Summary, *, set_at: datetime | None = None) -> Baseline:
    """Make the baseline that a complete run amounts to.

    `set_at` is when the baseline is set, by default when the run ended.

    Raises:
        ValueError: a prompt is not measured; such a run is never a baseline.
    """
    return Baseline(
        set_identifier=run.set_identifier,
        target=run.target,
        grader=run.grader,
        kind=run.kind,
        prompts={prompt.prompt_id: _record(prompt, run) for prompt in summary.prompts},
        run_id=run.run_id,
        set_at=set_at or run.finished_at or run.started_at,
        treatment=treatment_of_run(run, summary),
        scoring_version=run.scoring_version,
        git=run.git,
        evalcli_version=run.evalcli_version,
    )


def plan_baseline_move(
    run: Run,
    summary: Summary,
    comparison: Comparison,
    verdict: Verdict,
    current: Baseline | None,
    *,
    baseline_branch: str | None = None,
) -> tuple[BaselineMove, Baseline | None, str]:
    """Plan what a run does to the baseline of its series, and say so in one sentence.

    `current` is the baseline the run was compared with, `baseline_branch` the only branch that
    may move one (None: any). The new baseline is None where nothing moves.

    The first eligible run becomes the baseline. A later one replaces it when both rates are equal
    to the baseline's, or one is better by more than the workspace's tolerance and the other is
    not lower; else it only adds its added prompts. So drops within the limits cannot add up.
    """
    obstacle = _find_ineligibility(run, comparison, verdict, baseline_branch)
    if obstacle:
        return BaselineMove.NONE, None, _describe_no_move(run, current, obstacle)
    if current is None:
        return BaselineMove.SET, baseline_of_run(run, summary), "It is now the baseline."
    gain = _describe_gain(run, comparison)
    if gain.is_replacing:
        note = f"It is now the baseline: {gain.words} {current.run_id}."
        return BaselineMove.REPLACED, baseline_of_run(run, summary), note
    if comparison.added:
        added = set(comparison.added)
        records = {p.prompt_id: _record(p, run) for p in summary.prompts if p.prompt_id in added}
        extended = replace(current, prompts={**current.prompts, **records}, baseline_id=None)
        count = format_count(len(records), noun_of(run))
        note = (
            f"The baseline stays {current.run_id} ({gain.words}) and now also covers {count} "
            f"added since: {format_names(comparison.added)}."
        )
        return BaselineMove.EXTENDED, extended, note
    return BaselineMove.NONE, None, f"The baseline stays {current.run_id}: {gain.words}."


def accept_run(run: Run, summary: Summary, *, set_at: datetime | None = None) -> Baseline:
    """Make a run the baseline of its series on purpose, whatever the gate said of it.

    Raises:
        UsageError: the run is incomplete, mixed or partial.
    """
    if not is_complete(run, summary):
        raise UsageError(
            f"run {run.run_id} is incomplete and cannot be a baseline: {summary.measured} of "
            f"{format_count(len(summary.prompts), noun_of(run))} measured",
            advice="resume it first, or accept a complete run",
        )
    mixture = describe_mixture(run, summary)
    if mixture:
        raise UsageError(
            f"run {run.run_id} cannot be a baseline: {mixture}",
            advice="run the set again, served and graded by one model each",
        )
    if run.is_partial:
        raise UsageError(
            f"run {run.run_id} asked only chosen {noun_of(run)}s and cannot be a baseline",
            advice="run the set without --only",
        )
    return baseline_of_run(run, summary, set_at=set_at)


# --- what a run may do ------------------------------------------------------------------------


def _find_ineligibility(
    run: Run, comparison: Comparison, verdict: Verdict, baseline_branch: str | None
) -> str:
    """Say why a run moves no baseline by itself; empty where it may.

    Any finding counts as a failed gate, armed or not: a regression seen without
    `--fail-on-regression` is still one, and a baseline that followed it would make the next run
    with the flag green.
    """
    limits = run.workspace_limits
    is_required = limits.require_baseline or run.limits.require_baseline
    loosened = _find_looser_limits(run)
    reasons = (
        (verdict.word is VerdictWord.INCOMPLETE, "the run is incomplete"),
        (run.is_draft, "the run is a draft"),
        (run.baseline_source != CURRENT, "the run has a --baseline of its own"),
        (run.is_partial, f"only chosen {noun_of(run)}s were asked"),
        (
            comparison.state is ComparisonState.BASELINE and is_required,
            "a baseline is required here, so only `evalcli baseline accept` sets one",
        ),
        (
            comparison.state not in (ComparisonState.BASELINE, ComparisonState.COMPARABLE),
            "nothing was compared",
        ),
        (bool(verdict.findings), "a gate said no"),
        (
            run.regraded_from is not None,
            "a regrading becomes it only by `evalcli baseline accept`",
        ),
        (bool(loosened), f"looser than the workspace's: {', '.join(loosened)}"),
        (
            baseline_branch is not None and run.git.branch != baseline_branch,
            f"only runs on the branch {baseline_branch} move it",
        ),
    )
    return next((reason for applies, reason in reasons if applies), "")


def _find_looser_limits(run: Run) -> tuple[str, ...]:
    """Name the limits that a run was held to less strictly than the workspace says."""
    own, usual = run.limits, run.workspace_limits
    first, second = rate_words(run.kind)
    looser = (
        (first.drop_gate, own.max_pass_rate_drop > usual.max_pass_rate_drop),
        (second.drop_gate, own.max_mean_score_drop > usual.max_mean_score_drop),
        (MAX_CLASS_DROP, _is_limit_higher(own.max_class_drop, usual.max_class_drop)),
        (first.floor_gate, _is_floor_lower(own.min_pass_rate, usual.min_pass_rate)),
        (second.floor_gate, _is_floor_lower(own.min_mean_score, usual.min_mean_score)),
    )
    return tuple(name for name, is_looser in looser if is_looser)


def _is_floor_lower(own: Fraction | None, usual: Fraction | None) -> bool:
    return usual is not None and (own is None or own < usual)


def _is_limit_higher(own: Fraction | None, usual: Fraction | None) -> bool:
    return usual is not None and (own is None or own > usual)


def _describe_no_move(run: Run, current: Baseline | None, obstacle: str) -> str:
    if current is None or run.baseline_source != CURRENT:
        return f"No baseline changed: {obstacle}."
    return f"The baseline stays {current.run_id}: {obstacle}."


@dataclass(frozen=True, slots=True)
class _Gain:
    """Whether a run is good enough to replace its baseline, and how it stands to it."""

    is_replacing: bool
    words: str


def _describe_gain(run: Run, comparison: Comparison) -> _Gain:
    """Weigh both rates over the common prompts against the workspace's tolerances."""
    drops = comparison.pass_rate_drop, comparison.mean_score_drop
    if drops[0] is None or drops[1] is None:
        raise ValueError("a comparable run has common prompts")
    gains = -drops[0], -drops[1]
    usual = run.workspace_limits
    is_beyond = gains[0] > usual.max_pass_rate_drop or gains[1] > usual.max_mean_score_drop
    if not any(gains):
        return _Gain(True, "as good as")
    if min(gains) < 0 < max(gains):
        return _Gain(False, "one rate rose and the other fell")
    if min(gains) < 0:
        return _Gain(False, "a tolerated drop does not move it")
    if is_beyond:
        return _Gain(True, "better by more than the limits than")
    return _Gain(False, "a gain within the limits does not move it")


def _record(prompt: PromptSummary, run: Run) -> BaselinePrompt:
    if prompt.pass_share is None or prompt.score is None:
        raise ValueError(f"{prompt.prompt_id!r} is not measured: the run is incomplete")
    return BaselinePrompt(
        prompt_id=prompt.prompt_id,
        fingerprints=prompt.fingerprints,
        pass_share=prompt.pass_share,
        score=prompt.score,
        run_id=run.run_id,
    )
