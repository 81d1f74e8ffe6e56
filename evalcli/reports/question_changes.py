"""What became of questions between two runs: lost and won with their ranks, classes that fell."""

from __future__ import annotations

from collections.abc import Sequence

from evalcli.records import ClassDrop, Comparison, RankChange
from evalcli.reports.number_words import count, names, percent
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page


def say_lost_and_won(page: Page, comparison: Comparison, limit: int | None) -> None:
    """Add the questions lost and won, at most `limit` of each, and the classes that fell."""
    lost = [change for change in comparison.rank_changes if change.is_lost]
    won = [change for change in comparison.rank_changes if not change.is_lost]
    if lost or won:
        page.label("lost", _changes(lost, limit), style="red" if lost else "")
        page.label("won", _changes(won, limit), style="green" if won else "")
    fallen = class_falls(comparison.class_drops)
    for number, words in enumerate(fallen):
        page.label("" if number else "fallen class", words, style="yellow")


def _changes(changes: Sequence[RankChange], limit: int | None) -> str:
    if not changes:
        return "none"
    return names(
        [f"{plain_text(one.prompt_id)} ({rank_words(one)})" for one in changes], limit=limit
    )


def rank_words(change: RankChange) -> str:
    """Write the ranks before and after: `1 → 4`."""
    return f"{plain_text(change.before)} → {plain_text(change.after)}"


def class_falls(drops: Sequence[ClassDrop]) -> list[str]:
    """Say of each hard class that fell, how far: `near-duplicate (9 questions): top-1 …`."""
    by_class: dict[str, list[ClassDrop]] = {}
    for drop in drops:
        if drop.drop > 0:
            by_class.setdefault(drop.name, []).append(drop)
    return [
        f"{plain_text(name)} ({_size(fallen[0])}): "
        + ", ".join(f"top-{one.cutoff} {percent(one.before, one.after)}" for one in fallen)
        for name, fallen in by_class.items()
    ]


def _size(drop: ClassDrop) -> str:
    few = "" if drop.is_gated else ", too few to be gated"
    return f"{count(drop.questions, 'question')}{few}"
