"""Two retrieval runs of one set: rates and classes before and after, questions lost and won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import (
    QuestionScore,
    RankChange,
    RetrievalRow,
    Run,
    RunOutcome,
    Trial,
)
from evalcli.reports.comparison_words import commit_words, is_compared, say_comparison_facts
from evalcli.reports.number_words import count, minute, names, percent
from evalcli.reports.plain_text import plain_text
from evalcli.reports.question_changes import rank_words
from evalcli.reports.question_rows import name_some, wanted_words
from evalcli.reports.text_layout import Page, cut_to_width, pad_to_width

_MAX_NAMED = 20
_MAX_NAME = 24
_GAP = "   "


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs, its trials by question id."""

    run: Run
    trials: Mapping[str, Trial]

    @classmethod
    def of(cls, outcome: RunOutcome) -> _Side:
        return cls(outcome.run, {trial.prompt_id: trial for trial in outcome.trials})


def write_question_comparison(before: RunOutcome, after: RunOutcome, page: Page) -> None:
    """Write two retrieval runs of one set; `after.comparison` is against `before`."""
    old, new = _Side.of(before), _Side.of(after)
    ids = f"{plain_text(old.run.run_id)} → {plain_text(new.run.run_id)}"
    page.heading([plain_text(new.run.set_identifier), ids])
    for side in (old, new):
        _say_side(page, side.run)
    page.blank()
    _say_rates(page, before, after)
    changes = after.comparison.rank_changes
    for title, is_lost in (("Lost", True), ("Won", False)):
        _say_changes(page, title, [c for c in changes if c.is_lost == is_lost], old, new)
    _say_same(page, old, new, len(changes))
    page.blank()
    # The questions stand above already, with their rankings.
    say_comparison_facts(page, replace(after.comparison, rank_changes=()), new.run)
    if not is_compared(after.comparison):
        page.say("NOT COMPARABLE: their rates say nothing about each other.", style="bold yellow")


def _say_side(page: Page, run: Run) -> None:
    facts = [minute(run.started_at), plain_text(run.target)]
    commit = commit_words(run.git)
    if commit:
        facts.append(commit)
    page.label(plain_text(run.run_id), " · ".join(facts), name_width=8)


# --- rates ------------------------------------------------------------------------------------


def _say_rates(page: Page, before: RunOutcome, after: RunOutcome) -> None:
    """Add both hit rates before and after, of all questions, by form and by hard class."""
    if before.retrieval is None or after.retrieval is None:
        return
    old = {(row.group, row.name): row for row in before.retrieval.rows}
    rows = [row for row in after.retrieval.rows if (row.group, row.name) in old]
    if not rows:
        return
    labels = [plain_text(row.name) for row in rows]
    width = max(cell_len(label) for label in labels)
    if page.width is not None:
        width = min(width, _MAX_NAME)
    cells = [_rate_cells(old[(row.group, row.name)], row) for row in rows]
    titles = ("questions", "top-1", "top-3")
    widths = [max(cell_len(cell) for cell in column) for column in zip(titles, *cells, strict=True)]
    if page.width is not None:
        widths = _that_fit(widths, page.width - 2 - width)
    page.lines.append(Text(f"  {' ' * width}{_columns(titles, widths)}", style="dim"))
    for label, row in zip(labels, cells, strict=True):
        shown = label if page.width is None else cut_to_width(label, width)
        page.lines.append(Text(f"  {pad_to_width(shown, width)}{_columns(row, widths)}"))
    page.blank()


def _that_fit(widths: Sequence[int], room: int) -> list[int]:
    """Leave out columns, as 0, where there is no room: the counts first, then top-3."""
    fitting = list(widths)
    for place in (0, 2):
        if sum(width + len(_GAP) for width in fitting if width) > room:
            fitting[place] = 0
    return fitting


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (pad_to_width(c, w, is_right=True) for c, w in zip(cells, widths, strict=True) if w)
    return "".join(_GAP + cell for cell in padded)


def _rate_cells(old: RetrievalRow, new: RetrievalRow) -> tuple[str, str, str]:
    size = f"{new.questions:,}"
    if old.questions != new.questions:
        size = f"{old.questions:,} → {new.questions:,}"
    return size, _change(old, new, 1), _change(old, new, 3)


def _change(old: RetrievalRow, new: RetrievalRow, cutoff: int) -> str:
    was, is_now = old.hit_rate(cutoff), new.hit_rate(cutoff)
    return percent(is_now) if was == is_now else percent(was, is_now)


# --- questions --------------------------------------------------------------------------------


def _say_changes(
    page: Page, title: str, changes: Sequence[RankChange], old: _Side, new: _Side
) -> None:
    """Add questions with their ranks, what was wanted, and what came back in both runs."""
    if not changes:
        return
    page.say(f"{title}: {count(len(changes), 'question')}", style="bold")
    for change in changes:
        style = "red" if change.is_lost else "green"
        facts = _facts(_score(new, change.prompt_id))
        page.say(
            f"   {rank_words(change)}{facts}",
            lead=plain_text(change.prompt_id),
            style=style,
            indent=2,
            hang=2,
        )
        for side in (old, new):
            trial = side.trials.get(change.prompt_id)
            if trial is not None and trial.ranking is not None:
                came = name_some([document.id for document in trial.ranking.documents])
                lead = f"{pad_to_width(plain_text(side.run.run_id), 8)}  "
                page.say(came or "nothing", lead=lead, style="dim", indent=4, hang=10)
    page.blank()


def _facts(score: QuestionScore | None) -> str:
    if score is None:
        return ""
    parts = [plain_text(score.form)]
    if score.hard_class:
        parts.append(plain_text(score.hard_class))
    return f"   {', '.join(parts)}, wanted {wanted_words(score)}"


def _score(side: _Side, question_id: str) -> QuestionScore | None:
    trial = side.trials.get(question_id)
    return trial.grade.question if trial is not None and trial.grade is not None else None


def _say_same(page: Page, old: _Side, new: _Side, changed: int) -> None:
    same = sum(one in old.trials for one in new.trials) - changed
    if same:
        verb = "has" if same == 1 else "have"
        page.say(f"{count(same, 'question')} {verb} the same hits in both runs.")
    for side, other in ((old, new), (new, old)):
        ids = [plain_text(i) for i in side.trials if i not in other.trials]
        if ids:
            run_id = plain_text(side.run.run_id)
            page.say(f"Only in {run_id}: {names(ids, limit=_MAX_NAMED)}")
