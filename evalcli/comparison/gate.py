"""The gate: a run and its baseline to a state, drops, a verdict and an exit status.

The verdict is the same with and without `--fail-on-regression`; the flag only arms the findings
of the comparison. Floors and a required baseline are armed always.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from evalcli.comparison.class_drop import find_class_drops
from evalcli.comparison.overlap import Overlap, relate_prompts, unknown_prompts
from evalcli.comparison.rate_text import format_count, limit_key, rate_words
from evalcli.comparison.reason_text import (
    CORPUS,
    describe_edits,
    describe_gaps,
    describe_mixture,
    describe_unknown,
    describe_yardsticks,
    has_other_corpus,
    name_baseline,
    noun_of,
)
from evalcli.comparison.treatment import describe_treatment_changes, treatment_of_run
from evalcli.errors import ExitStatus, strongest_status
from evalcli.number_text import format_points
from evalcli.records import (
    Baseline,
    ClassDrop,
    Comparison,
    ComparisonState,
    GateFinding,
    Run,
    RunStatus,
    Summary,
    Verdict,
    VerdictWord,
)

COMPARABILITY = "comparability"
REQUIRE_BASELINE = "require_baseline"
MAX_CLASS_DROP = "max_class_drop"


# --- the comparison ---------------------------------------------------------------------------


def is_complete(run: Run, summary: Summary) -> bool:
    """Tell whether everything planned is graded and nobody has marked the run as incomplete."""
    return summary.is_complete and run.status is not RunStatus.INCOMPLETE


def compare_run(
    run: Run,
    summary: Summary,
    baseline: Baseline | None,
    *,
    kin: Sequence[Baseline] = (),
    other_targets: Sequence[str] = (),
) -> Comparison:
    """Compare a run with its baseline over the prompts that both have unchanged.

    `baseline` is the one of the run's own series, or the one named by `--baseline`. `kin` holds
    baselines of the same set, target and kind of grader, newest first: where the series has none
    of its own, the first of them with another yardstick is a mismatch, not a fresh start.
    `other_targets` names targets of the set that have runs; it is kept where nothing was compared
    for want of a baseline.

    A prompt is newly failing when its share of passed trials is lower than the baseline's, newly
    passing when it is higher; with one trial that is pass to fail and fail to pass. A partial run
    is compared over its chosen prompts: those it left out are neither changed nor removed. A
    mismatch has the numbers of the common prompts for information.
    """
    has_baseline = baseline is not None
    if not is_complete(run, summary):
        reason = describe_gaps(run, summary)
        return Comparison(ComparisonState.NOT_COMPARED, reason, has_baseline=has_baseline)
    mixture = describe_mixture(run, summary)
    if mixture:
        return Comparison(ComparisonState.MIXED, mixture, has_baseline=has_baseline)
    reference = baseline or next((other for other in kin if other.grader != run.grader), None)
    if reference is None:
        return _compare_with_nothing(run, summary, tuple(other_targets))
    overlap = relate_prompts(run, summary, reference)
    state, reason = _choose_state(run, reference, overlap)
    common = overlap.common
    return Comparison(
        state=state,
        reason=reason,
        common=tuple(pair.prompt_id for pair in common),
        added=overlap.added,
        changed=overlap.changed,
        removed=overlap.removed,
        newly_failing=tuple(p.prompt_id for p in common if p.share_after < p.share_before),
        newly_passing=tuple(p.prompt_id for p in common if p.share_after > p.share_before),
        pass_rate_before=_mean(pair.share_before for pair in common),
        pass_rate_after=_mean(pair.share_after for pair in common),
        mean_score_before=_mean(pair.score_before for pair in common),
        mean_score_after=_mean(pair.score_after for pair in common),
        treatment_changes=_describe_treatment(run, summary, reference, overlap),
        is_grading_only=run.kind == "prompts"
        and state is ComparisonState.MISMATCH
        and overlap.is_regrading_enough,
        baseline_target=reference.target if reference.target != run.target else None,
        baseline_grader=reference.grader if reference.grader != run.grader else None,
        has_baseline=has_baseline,
        class_drops=find_class_drops(common, {p.prompt_id: p.hard_class for p in summary.prompts}),
    )


def _describe_treatment(
    run: Run, summary: Summary, baseline: Baseline, overlap: Overlap
) -> tuple[str, ...]:
    """Name what was tried out; another corpus that the labels speak of is not part of that."""
    before, after = baseline.treatment, treatment_of_run(run, summary)
    if has_other_corpus(run, baseline, overlap.changed):
        same = {CORPUS: before.settings[CORPUS]}
        after = replace(after, settings={**after.settings, **same})
    return describe_treatment_changes(before, after)


def _compare_with_nothing(run: Run, summary: Summary, other_targets: tuple[str, ...]) -> Comparison:
    unknown = unknown_prompts(summary)
    if unknown:
        state, reason = ComparisonState.UNKNOWN, describe_unknown(run, unknown, "this run")
    else:
        state = ComparisonState.PARTIAL if run.is_partial else ComparisonState.BASELINE
        reason = f"{run.set_identifier} has no baseline on {run.target} ({run.grader}) yet"
    return Comparison(state, reason, other_targets=other_targets)


def _choose_state(run: Run, baseline: Baseline, overlap: Overlap) -> tuple[ComparisonState, str]:
    """Choose the state of a complete run that is not mixed, and say why."""
    name, noun = name_baseline(baseline), noun_of(run)
    for unknown, where in (
        (overlap.unknown_in_run, "this run"),
        (overlap.unknown_in_baseline, name),
    ):
        if unknown:
            return ComparisonState.UNKNOWN, describe_unknown(run, unknown, where)
    reasons = [
        *describe_yardsticks(run, baseline),
        *describe_edits(run, baseline, overlap.changed, overlap.removed),
    ]
    if reasons:
        return ComparisonState.MISMATCH, "; ".join(reasons)
    if run.is_partial:
        return ComparisonState.PARTIAL, (
            f"only chosen {noun}s were asked (--only): "
            f"{len(overlap.common)} of the {format_count(len(baseline.prompts), noun)} of {name}"
        )
    if not overlap.common:
        # A baseline without any prompt has lost none, and still there is nothing to compare.
        return ComparisonState.MISMATCH, f"this run and {name} have no {noun} in common"
    return ComparisonState.COMPARABLE, ""


def _mean(values: Iterable[Fraction]) -> Fraction | None:
    known = list(values)
    return sum(known, Fraction(0)) / len(known) if known else None


# --- the verdict ------------------------------------------------------------------------------


def judge_run(run: Run, summary: Summary, comparison: Comparison) -> Verdict:
    """Judge a compared run by the limits it was started with.

    A drop or a rate that equals its limit passes. The word names the gravest thing found, in the
    order regressed, below_floor, not_comparable, no_baseline, whether or not it is armed;
    `findings` has all of them. The floors are held against all prompts of the run, of a partial
    run its chosen ones. An incomplete run is not judged.
    """
    if comparison.state is ComparisonState.NOT_COMPARED:
        return Verdict(VerdictWord.INCOMPLETE)
    drops = (*_find_drops(run, comparison), *_find_class_falls(run, comparison))
    floors = _find_floors(run, summary)
    obstacles = _find_obstacle(run, comparison)
    findings = (*drops, *floors, *obstacles, *_find_missing_baseline(run, comparison))
    if drops:
        word = VerdictWord.REGRESSED
    elif floors:
        word = VerdictWord.BELOW_FLOOR
    elif obstacles:
        word = VerdictWord.NOT_COMPARABLE
    elif not comparison.has_baseline:
        word = VerdictWord.NO_BASELINE
    else:
        word = VerdictWord.PASSED
    return Verdict(word, findings)


def exit_status_of(run: Run, verdict: Verdict, *, is_interrupted: bool = False) -> ExitStatus:
    """Compute the exit status of a run from its stored verdict; the one place that does."""
    statuses = [ExitStatus.OK]
    if is_interrupted or run.is_interrupted:
        statuses.append(ExitStatus.INTERRUPTED)
    if verdict.word is VerdictWord.INCOMPLETE or run.status is RunStatus.INCOMPLETE:
        statuses.append(ExitStatus.INCOMPLETE)
    if verdict.is_gate_failed:
        statuses.append(ExitStatus.GATE_FAILED)
    return strongest_status(statuses)


def _find_drops(run: Run, comparison: Comparison) -> tuple[GateFinding, ...]:
    """Find the drops beyond their limits, where the comparison may decide."""
    if comparison.state not in (ComparisonState.COMPARABLE, ComparisonState.PARTIAL):
        return ()
    limits, usual = run.limits, run.workspace_limits
    pass_rate, mean_score = rate_words(run.kind)
    checks = (
        (
            pass_rate,
            comparison.pass_rate_drop,
            limits.max_pass_rate_drop,
            usual.max_pass_rate_drop,
        ),
        (
            mean_score,
            comparison.mean_score_drop,
            limits.max_mean_score_drop,
            usual.max_mean_score_drop,
        ),
    )
    return tuple(
        GateFinding(
            words.drop_gate,
            words.describe_drop(drop, limit, is_setting=limit == setting),
            limit=limit,
            actual=drop,
            is_armed=limits.fail_on_regression,
        )
        for words, drop, limit, setting in checks
        if drop is not None and drop > limit
    )


def _find_class_falls(run: Run, comparison: Comparison) -> tuple[GateFinding, ...]:
    """Find the hard classes that fell by more than they may, each named; small ones may."""
    limit = run.limits.max_class_drop
    decides = comparison.state in (ComparisonState.COMPARABLE, ComparisonState.PARTIAL)
    if limit is None or not decides:
        return ()
    key = limit_key(MAX_CLASS_DROP, is_setting=limit == run.workspace_limits.max_class_drop)
    return tuple(
        GateFinding(
            MAX_CLASS_DROP,
            _describe_class_fall(one, limit, key),
            limit=limit,
            actual=one.drop,
            is_armed=run.limits.fail_on_regression,
        )
        for one in comparison.class_drops
        if one.is_gated and one.drop > limit
    )


def _describe_class_fall(one: ClassDrop, limit: Fraction, key: str) -> str:
    shown, shown_limit = format_points(one.drop, limit)
    return (
        f"the top-{one.cutoff} hit rate of the class {one.name} "
        f"({format_count(one.questions, 'question')}) fell by {shown} points, "
        f"the limit is {shown_limit} ({key})"
    )


def _find_floors(run: Run, summary: Summary) -> tuple[GateFinding, ...]:
    """Find the rates below their floors; armed always."""
    limits, usual = run.limits, run.workspace_limits
    pass_rate, mean_score = rate_words(run.kind)
    checks = (
        (pass_rate, summary.pass_rate, limits.min_pass_rate, usual.min_pass_rate),
        (mean_score, summary.mean_score, limits.min_mean_score, usual.min_mean_score),
    )
    scope = f" over the {len(summary.prompts)} chosen {noun_of(run)}s" if run.is_partial else ""
    return tuple(
        GateFinding(
            words.floor_gate,
            words.describe_floor(rate, floor, scope=scope, is_setting=floor == setting),
            limit=floor,
            actual=rate,
        )
        for words, rate, floor, setting in checks
        if rate is not None and floor is not None and rate < floor
    )


def _find_obstacle(run: Run, comparison: Comparison) -> tuple[GateFinding, ...]:
    """Find what kept a run from being compared with a baseline that is there."""
    if comparison.state in (ComparisonState.BASELINE, ComparisonState.COMPARABLE):
        return ()
    is_chosen_compared = bool(comparison.common) or not comparison.has_baseline
    if comparison.state is ComparisonState.PARTIAL and is_chosen_compared:
        return ()
    return (GateFinding(COMPARABILITY, comparison.reason, is_armed=run.limits.fail_on_regression),)


def _find_missing_baseline(run: Run, comparison: Comparison) -> tuple[GateFinding, ...]:
    """Find that a required baseline is not there; armed always."""
    if comparison.has_baseline or not run.limits.require_baseline:
        return ()
    series = f"{run.set_identifier} on {run.target} ({run.grader})"
    return (GateFinding(REQUIRE_BASELINE, f"a baseline is required, and {series} has none"),)
