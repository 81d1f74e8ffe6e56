"""The questions of a run: misses first, with what came back instead, and how many were right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import QuestionScore, Ranking, RunOutcome, Trial
from evalcli.reports.plain_text import plain_text
from evalcli.reports.prompt_rows import MAX_STANDING_OUT
from evalcli.reports.text_layout import Page, cut_to_width, pad_to_width

_GAP = "   "
_MAX_PADDED_ID = 64
_RESULT_WIDTH = 6
_MAX_CLASS = 16
_MIN_CLASS = 12
_MAX_WANTED = 24
_UNDER = 9
_NAMED_AT_MOST = 3
_QUOTE_LIMIT = 60
_MAX_DOCUMENT_ID = 1000
_PLACES = {2: "2nd", 3: "3rd"}
_LOST, _MISS, _LATE, _HIT = range(4)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One measured question as it is shown. `order` sorts what stands out."""

    question_id: str
    result: str
    form: str
    hard_class: str
    wanted: str
    got: str
    order: int

    def detail(self, wanted_width: int) -> str:
        """Say what was wanted and got; of a hit, what came first is enough."""
        if not self.stands_out:
            return self.got
        return f"{pad_to_width(self.wanted, wanted_width)}{_GAP}{self.got}"

    @property
    def stands_out(self) -> bool:
        """Whether the right document was not at rank 1."""
        return self.order < _HIT


def question_rows(outcome: RunOutcome) -> list[QuestionRow]:
    """Make the rows of all measured questions, in the set's order."""
    lost = frozenset(c.prompt_id for c in outcome.comparison.rank_changes if c.is_lost)
    trials = {trial.prompt_id: trial for trial in outcome.trials}
    rows = []
    for planned in outcome.run.plan:
        trial = trials.get(planned.prompt_id)
        if trial is not None and trial.grade is not None and trial.grade.question is not None:
            is_lost = planned.prompt_id in lost
            score = trial.grade.question
            rows.append(_question_row(trial, score, outcome.passages, is_lost=is_lost))
    return rows


def _question_row(
    trial: Trial, score: QuestionScore, passages: Mapping[str, str], *, is_lost: bool
) -> QuestionRow:
    ranking = trial.ranking or Ranking((), returned=0)
    order = _HIT if score.is_hit(1) else _LATE if score.is_hit(3) else _MISS
    return QuestionRow(
        question_id=plain_text(trial.prompt_id),
        result=_result(score),
        form=plain_text(score.form),
        hard_class=plain_text(score.hard_class or ""),
        wanted=f"wanted {wanted_words(score)}",
        got=f"got {got_words(ranking, score, passages)}",
        order=_LOST if is_lost and order < _HIT else order,
    )


def _result(score: QuestionScore) -> str:
    if score.is_hit(1):
        return "hit"
    return _PLACES.get(score.first_hit or 0, "MISS")


def wanted_words(score: QuestionScore) -> str:
    """Name the expected documents: `77_1 or 77_2`."""
    return name_some(score.expected, " or ") or "nothing"


def got_words(ranking: Ranking, score: QuestionScore, passages: Mapping[str, str]) -> str:
    """Say what came back: what came first with a piece of its text, and where the right one is."""
    ranked = [document.id for document in ranking.documents]
    if not ranked:
        return "nothing"
    if score.first_hit == 1:
        return document_name(ranked[0])
    if not score.is_answerable:
        return name_some(ranked)
    if score.first_hit is not None and score.first_hit <= _NAMED_AT_MOST:
        before = name_some(ranked[: score.first_hit - 1])
        return f"{before}, then {document_name(ranked[score.first_hit - 1])}"
    text = ranking.documents[0].text or passages.get(ranked[0], "")
    quote = f' "{shorten(text, _QUOTE_LIMIT)}"' if text.strip() else ""
    late = f", right at rank {score.first_hit}" if score.first_hit is not None else ""
    return f"{document_name(ranked[0])}{quote}{late}"


def document_name(identifier: str) -> str:
    """Make an id one harmless line; a retriever can give one of megabytes."""
    return plain_text(identifier, limit=_MAX_DOCUMENT_ID)


def shorten(text: str, limit: int) -> str:
    """Make a piece of a passage one harmless line of at most `limit` characters."""
    return plain_text(" ".join(text[: 4 * limit].split()), limit=limit)


def name_some(identifiers: Sequence[str], between: str = ", ") -> str:
    """Name the first documents, and how many more there are."""
    named = between.join(document_name(one) for one in identifiers[:_NAMED_AT_MOST])
    more = len(identifiers) - _NAMED_AT_MOST
    return f"{named} and {more} more" if more > 0 else named


# --- the table --------------------------------------------------------------------------------


def say_questions(page: Page, outcome: RunOutcome, *, show_all: bool = False) -> None:
    """Add what was missed or came late, and the count of the rest; all rows with `show_all`."""
    rows = question_rows(outcome)
    if not rows:
        return
    standing_out = sorted((row for row in rows if row.stands_out), key=lambda row: row.order)
    hits = [row for row in rows if not row.stands_out]
    shown = [*standing_out, *hits] if show_all else standing_out[:MAX_STANDING_OUT]
    _say_rows(page, shown)
    parts = []
    if len(standing_out) > len(shown):
        parts.append(f"{len(standing_out) - len(shown):,} more missed or came late")
    if hits and not show_all:
        parts.append(f"{len(hits):,} hit at rank 1")
    if parts:
        where = f" (all: `evalcli history show {plain_text(outcome.run.run_id)}`)"
        is_cut = len(standing_out) > len(shown)
        page.say(f"… {', '.join(parts)}{where if is_cut else ''}", indent=2, hang=2)
    page.blank()


def _say_rows(page: Page, rows: Sequence[QuestionRow]) -> None:
    if not rows:
        return
    id_width = _width([row.question_id for row in rows], page.width)
    form_width = max(cell_len(row.form) for row in rows)
    class_width = min(_MAX_CLASS, max(cell_len(row.hard_class) for row in rows))
    if page.width is not None:
        room = page.width - _RESULT_WIDTH - id_width - form_width - 2 * len(_GAP)
        class_width = min(class_width, room - len(_GAP)) if room >= _MIN_CLASS else 0
    wanted_width = min(_MAX_WANTED, max(cell_len(row.wanted) for row in rows))
    for row in rows:
        cells = [(row.question_id, id_width), (row.form, form_width)]
        if class_width:
            cells.append((row.hard_class, class_width))
        line = Text("  ")
        line.append(row.result, style=_style(row))
        line.append(" " * (_RESULT_WIDTH - cell_len(line.plain)))
        for cell, width in cells:
            shown = cell if page.width is None else cut_to_width(cell, width)
            line.append(_GAP + pad_to_width(shown, width))
        _end_row(page, line, row, wanted_width)


def _style(row: QuestionRow) -> str:
    if row.order in (_LOST, _MISS):
        return "bold red"
    return "yellow" if row.stands_out else "green"


def _width(ids: Sequence[str], width: int | None) -> int:
    longest = max(cell_len(one) for one in ids)
    if width is None:
        return min(longest, _MAX_PADDED_ID)
    return min(longest, max(14, width // 4))


def _end_row(page: Page, line: Text, row: QuestionRow, wanted_width: int) -> None:
    """Put what was wanted and got behind the row, or under it where there is no room."""
    detail = row.detail(wanted_width)
    page.lines.append(line)
    used = cell_len(line.plain) + len(_GAP)
    if page.width is None or used + cell_len(detail) <= page.width:
        line.append(_GAP + detail)
        return
    if row.stands_out and _UNDER + cell_len(detail) > page.width:
        page.say(row.wanted, indent=_UNDER, hang=len("wanted "))
        detail = row.got
    page.say(detail, indent=_UNDER, hang=len("got "))
