"""The figures of a retrieval run: hit rates of all questions, by form and by hard class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import RetrievalRow, RetrievalSummary
from evalcli.reports.number_words import percent
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page, cut_to_width, pad_to_width

_GAP = "   "
_BAR_CELLS = 10
_MAX_NAME = 24
_RECORD = (1, 3)
"""The cutoffs that the gate looks at."""

_ALWAYS, _COUNT, _HITS, _BAR, _FACT = range(5)
"""How much a column matters: a narrow terminal leaves out the last ones first."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    cell: Callable[[RetrievalRow], str]
    rank: int

    def width(self, rows: Sequence[RetrievalRow]) -> int:
        """Give the cells it takes, the gap before it included."""
        return len(_GAP) + max(cell_len(self.title), *(cell_len(self.cell(row)) for row in rows))


def say_rates(page: Page, summary: RetrievalSummary) -> None:
    """Add the table; a narrow terminal shows fewer columns, and without one there are no bars.

    What no column shows follows as facts about all questions.
    """
    rows = summary.rows
    if not rows:
        return
    columns = _columns(summary, has_bars=page.width is not None)
    name_width = max(cell_len(plain_text(row.name)) for row in rows)
    if page.width is not None:
        always = sum(column.width(rows) for column in columns if column.rank == _ALWAYS)
        name_width = min(name_width, _MAX_NAME, page.width - 2 - always)
        shown = _that_fit(columns, rows, page.width - 2 - name_width)
    else:
        shown = columns
    titles = "".join(pad_to_width(c.title, c.width(rows), is_right=True) for c in shown)
    page.lines.append(Text(f"  {' ' * name_width}{titles}", style="dim"))
    for row in rows:
        page.lines.append(_line(row, rows, shown, name_width, is_cut=page.width is not None))
    page.blank()
    left_out = [column for column in columns if column.rank == _FACT and column not in shown]
    if left_out:
        page.facts([(column.title, column.cell(rows[0])) for column in left_out])


def _line(
    row: RetrievalRow,
    rows: Sequence[RetrievalRow],
    columns: Sequence[_Column],
    name_width: int,
    *,
    is_cut: bool,
) -> Text:
    name = plain_text(row.name)
    line = Text(f"  {pad_to_width(cut_to_width(name, name_width) if is_cut else name, name_width)}")
    for column in columns:
        cell = pad_to_width(column.cell(row), column.width(rows), is_right=True)
        line.append(cell, style=_bar_style(row) if column.rank == _BAR else "")
    return line


def _columns(summary: RetrievalSummary, *, has_bars: bool) -> list[_Column]:
    """List all columns in their order."""
    largest = max(summary.cutoffs)
    columns = [_Column("questions", lambda row: f"{row.questions:,}", _COUNT)]
    for cutoff in _RECORD:
        columns.append(_Column(f"top-{cutoff}", _rate_cell(cutoff), _ALWAYS))
        columns.append(_Column("hits", _hits_cell(cutoff), _HITS))
    if has_bars:
        columns.append(_Column("", _bar, _BAR))
    columns += [
        _mean_column(f"MRR@{largest}", lambda row: row.mean_reciprocal_rank),
        _mean_column("nDCG@10", lambda row: row.mean_ndcg),
        _mean_column(f"recall@{largest}", lambda row: (row.mean_recall or {}).get(largest)),
    ]
    others = [cutoff for cutoff in summary.cutoffs if cutoff not in _RECORD]
    columns += [_Column(f"hit@{cutoff}", _rate_cell(cutoff), _FACT) for cutoff in others]
    return columns


def _hits_cell(cutoff: int) -> Callable[[RetrievalRow], str]:
    return lambda row: f"{row.hits[cutoff]:,}"


def _rate_cell(cutoff: int) -> Callable[[RetrievalRow], str]:
    return lambda row: percent(row.hit_rate(cutoff))


def _mean_column(title: str, value: Callable[[RetrievalRow], float | None]) -> _Column:
    def cell(row: RetrievalRow) -> str:
        mean = value(row)
        return "–" if mean is None else f"{mean:.3f}"

    return _Column(title, cell, _FACT)


def _that_fit(columns: list[_Column], rows: Sequence[RetrievalRow], room: int) -> list[_Column]:
    """Choose the columns there is room for, by rank, then from left to right."""
    chosen: list[_Column] = []
    for column in sorted(columns, key=lambda column: column.rank):
        width = column.width(rows)
        if width > room:
            break
        room -= width
        chosen.append(column)
    return [column for column in columns if column in chosen]


def _bar(row: RetrievalRow) -> str:
    """Draw the top-1 hit rate; full and empty only where it is 1 and 0."""
    rate = row.hit_rate(1)
    cells = round(rate * _BAR_CELLS)
    if 0 < rate < 1:
        cells = min(max(cells, 1), _BAR_CELLS - 1)
    return "▇" * cells + "·" * (_BAR_CELLS - cells)


def _bar_style(row: RetrievalRow) -> str:
    return "green" if row.hit_rate(1) == 1 else "yellow"
