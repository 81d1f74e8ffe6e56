"""Why a run and a baseline are not compared, in words that name what to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from evalcli.comparison.rate_text import format_count, format_names, rate_words
from evalcli.records import Baseline, BaselinePrompt, ChangedPrompt, Run, Summary

CORPUS = "corpus"
"""The setting of a run of questions that names the revision of its corpus."""

_GRADINGS_WITHOUT_YARDSTICK = ("decision", "decision:failed")
_CONTENT_WORDS = {
    "deterministic": ("prompt", "assertions"),
    "decision": ("prompt", "reference or profile"),
    "retrieval_hit_rate": ("question", "labels or corpus"),
}
_SHOWN_CHANGES = 20


def noun_of(run: Run) -> str:
    """Choose the word for one row of the run's set."""
    return "question" if run.kind == "questions" else "prompt"


def name_baseline(baseline: Baseline) -> str:
    """Name a baseline for a sentence: by its run, or by the file it was read from."""
    if baseline.source in ("history", "previous", baseline.run_id):
        return f"the baseline {baseline.run_id}"
    return f"the baseline {baseline.source}"


def describe_regrading(before: Baseline, records: Mapping[str, BaselinePrompt]) -> str:
    """Say what grading a baseline's answers again made of it, for a person who reads no more.

    `records` holds at least one prompt, each of which the baseline has.
    """
    pairs = [(before.prompts[name], after) for name, after in records.items()]
    count = len(pairs)
    share_words, score_words = rate_words(before.kind)
    sides = [old for old, _ in pairs], [new for _, new in pairs]
    shares = share_words.format_values(*(_mean([p.pass_share for p in one]) for one in sides))
    scores = score_words.format_values(*(_mean([p.score for p in one]) for one in sides))
    runs = format_names(list(dict.fromkeys(record.run_id for record in records.values())))
    said = [
        f"The baseline {before.run_id} was graded again ({runs}), and that is compared with: "
        f"{share_words.name} {' → '.join(shares)}, {score_words.name} {' → '.join(scores)} over "
        f"{format_count(count, 'prompt')}"
    ]
    lower = [new.prompt_id for old, new in pairs if new.pass_share < old.pass_share]
    higher = [new.prompt_id for old, new in pairs if new.pass_share > old.pass_share]
    said += [f"lower now: {format_names(lower)}"] if lower else []
    said += [f"higher now: {format_names(higher)}"] if higher else []
    return f"{'; '.join(said)}."


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def describe_gaps(run: Run, summary: Summary) -> str:
    """Say how far an incomplete run got."""
    total = format_count(len(summary.prompts), noun_of(run))
    return f"the run is incomplete: {summary.measured} of {total} measured"


def describe_mixture(run: Run, summary: Summary) -> str:
    """Say why a run has no single generator or yardstick; empty where it has."""
    reasons = []
    if summary.has_fallback:
        reasons.append(f"a fallback served at least one {noun_of(run)}")
    if len(summary.reported_models) > 1:
        reasons.append(f"more than one model served it: {format_names(summary.reported_models)}")
    if len(summary.yardsticks) > 1:
        reasons.append(f"more than one yardstick graded it: {format_names(summary.yardsticks)}")
    elif run.grader in _GRADINGS_WITHOUT_YARDSTICK:
        reasons.append("its gradings report no single yardstick")
    return f"the run is mixed: {'; '.join(reasons)}" if reasons else ""


def describe_unknown(run: Run, prompt_ids: Sequence[str], where: str) -> str:
    """Say that a fingerprint is missing, and on which side."""
    count = format_count(len(prompt_ids), noun_of(run))
    advice = "; declare `revisions: {corpus: …}`" if run.kind == "questions" else ""
    return (
        f"what {count} of {where} measured is not known, a fingerprint is missing "
        f"({format_names(prompt_ids)}){advice}"
    )


def describe_yardsticks(run: Run, baseline: Baseline) -> tuple[str, ...]:
    """Say that the two were measured by another grader, judge or version of the scoring."""
    name = name_baseline(baseline)
    reasons = []
    if baseline.grader != run.grader:
        reasons.append(f"this run was graded by {run.grader}, {name} by {baseline.grader}")
    if baseline.scoring_version != run.scoring_version:
        reasons.append(
            f"this run was scored by version {run.scoring_version} of the scoring rules, "
            f"{name} by version {baseline.scoring_version}"
        )
    return tuple(reasons)


def describe_edits(
    run: Run, baseline: Baseline, changed: Sequence[ChangedPrompt], removed: Sequence[str]
) -> tuple[str, ...]:
    """Say which prompts of the baseline were changed, and what of them, or removed.

    Another corpus changes all labels at once; it is named instead of every question.
    """
    if not has_other_corpus(run, baseline, changed):
        return _describe_changes(run, baseline, changed, removed)
    was, is_now = baseline.treatment.settings[CORPUS], run.treatment.settings[CORPUS]
    corpora = (
        f"the corpus is another one than that of {name_baseline(baseline)} ({was} → {is_now}), "
        "so the labels speak of other documents"
    )
    others = [change for change in changed if change.is_asked_changed]
    return (corpora, *_describe_changes(run, baseline, others, removed))


def has_other_corpus(run: Run, baseline: Baseline, changed: Sequence[ChangedPrompt]) -> bool:
    """Whether all labels of a run of questions speak of another corpus than the baseline's."""
    was = baseline.treatment.settings.get(CORPUS)
    is_now = run.treatment.settings.get(CORPUS)
    shared = sum(planned.prompt_id in baseline.prompts for planned in run.plan)
    graded = sum(change.is_graded_changed for change in changed)
    return None not in (was, is_now) and was != is_now and 0 < shared <= graded


def _describe_changes(
    run: Run, baseline: Baseline, changed: Sequence[ChangedPrompt], removed: Sequence[str]
) -> tuple[str, ...]:
    name = name_baseline(baseline)
    removed_names = f"removed ({format_names(removed)})"
    if not changed:
        return (_count_edited(len(removed), run, name, removed_names),) if removed else ()
    changes = [_describe_change(run, change) for change in changed]
    hidden = len(changes) - _SHOWN_CHANGES
    shown = "; ".join(changes[:_SHOWN_CHANGES]) + (f"; and {hidden} more" if hidden > 0 else "")
    edits = _count_edited(len(changed), run, name, f"changed ({shown})")
    return (f"{edits}, {len(removed)} {removed_names}" if removed else edits,)


def _count_edited(count: int, run: Run, name: str, what: str) -> str:
    verb = "was" if count == 1 else "were"
    return f"{format_count(count, noun_of(run))} of {name} {verb} {what}"


def _describe_change(run: Run, change: ChangedPrompt) -> str:
    asked, graded = _CONTENT_WORDS.get(run.grader_kind, (noun_of(run), "grading"))
    words = [asked] if change.is_asked_changed else []
    if change.is_graded_changed:
        words.append(graded)
    return f"{change.prompt_id}: {' and '.join(words)}"
