"""Hard classes of questions, before and after: one that falls must not hide behind another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from evalcli.comparison.overlap import Pair
from evalcli.records import ClassDrop

MIN_GATED_QUESTIONS = 5
"""The fewest questions of a hard class whose drop is judged."""


def find_class_drops(
    pairs: Iterable[Pair], class_by_id: Mapping[str, str | None]
) -> tuple[ClassDrop, ...]:
    """Compare hard classes over the questions that both runs have unchanged, in order of name.

    Shapes: of each class two, the hit rate at 1 and at 3.
    """
    members: dict[str, list[Pair]] = {}
    for pair in pairs:
        name = class_by_id.get(pair.prompt_id)
        if name is not None:
            members.setdefault(name, []).append(pair)
    return tuple(
        drop
        for name in sorted(members)
        for drop in (
            _drop_at(1, name, [(one.share_before, one.share_after) for one in members[name]]),
            _drop_at(3, name, [(one.score_before, one.score_after) for one in members[name]]),
        )
    )


def _drop_at(cutoff: int, name: str, hits: Sequence[tuple[Fraction, Fraction]]) -> ClassDrop:
    return ClassDrop(
        name=name,
        cutoff=cutoff,
        questions=len(hits),
        before=sum((before for before, _ in hits), Fraction(0)) / len(hits),
        after=sum((after for _, after in hits), Fraction(0)) / len(hits),
        is_gated=len(hits) >= MIN_GATED_QUESTIONS,
    )
