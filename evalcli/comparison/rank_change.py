"""Questions won and lost between two runs, with the ranks before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from evalcli.records import BaselinePrompt, QuestionScore, RankChange


def find_rank_changes(
    common: Iterable[str],
    before: Mapping[str, BaselinePrompt],
    scores_before: Mapping[str, QuestionScore],
    scores_after: Mapping[str, QuestionScore],
) -> tuple[RankChange, ...]:
    """Find the questions whose hit at 1 or at 3 was lost or won: lost ones first, each in order.

    Shapes: `common` names questions of `before` and `scores_after`; `scores_before` may lack some,
    because a baseline from a file knows hits only, no ranks.
    """
    changes = []
    for prompt_id in find_changed(common, before, scores_after):
        was, score = before[prompt_id], scores_after[prompt_id]
        known = scores_before.get(prompt_id)
        changes.append(
            RankChange(
                prompt_id,
                is_lost=_hits(score) < (was.pass_share, was.score),
                before=_describe_hits(was, score) if known is None else describe_place(known),
                after=describe_place(score),
            )
        )
    return tuple(sorted(changes, key=lambda change: not change.is_lost))


def find_changed(
    common: Iterable[str],
    before: Mapping[str, BaselinePrompt],
    scores_after: Mapping[str, QuestionScore],
) -> list[str]:
    """Find the questions that have other hits at 1 and 3 than before, in order."""
    return [
        prompt_id
        for prompt_id in common
        if (before[prompt_id].pass_share, before[prompt_id].score) != _hits(scores_after[prompt_id])
    ]


def _hits(score: QuestionScore) -> tuple[Fraction, Fraction]:
    return Fraction(score.is_hit(1)), Fraction(score.is_hit(3))


def describe_place(score: QuestionScore) -> str:
    """Say at which rank the first expected document came; else what came instead."""
    if score.first_hit is not None:
        return str(score.first_hit)
    if score.returned == 0:
        return "nothing"
    if not score.is_answerable:
        return "1 document" if score.returned == 1 else f"{score.returned} documents"
    cutoff = max(score.recall or (score.returned,))
    return f"none of {cutoff}"


def _describe_hits(was: BaselinePrompt, now: QuestionScore) -> str:
    """Say as much of the rank as the two hits tell."""
    if not now.is_answerable:
        return "nothing" if was.pass_share == 1 else "something"
    if was.pass_share == 1:
        return "1"
    return "2 or 3" if was.score == 1 else "beyond 3"
