"""Answers as lines: harmless, wrapped, one below or beside the other."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from evalcli.records import Answer, Trial
from evalcli.reports.number_words import count
from evalcli.reports.plain_text import plain_lines, plain_text
from evalcli.reports.text_layout import Page, column_width, wrap_text

_MAX_LINES = 30
_MAX_CHARACTERS = 4000
_MIN_SIDE_BY_SIDE = 80

Side = tuple[str, Trial | None]
"""A run's id and the trial of it whose answer is shown."""


def say_answer(page: Page, answer: Answer | None, *, is_whole: bool) -> None:
    """Add an answer, indented; a long one is cut unless `is_whole`."""
    for line in answer_lines(answer, is_whole=is_whole):
        pieces = [line] if page.width is None else wrap_text(line, page.width - 4)
        page.lines.extend(Text(f"    {piece}") for piece in pieces)


def answer_lines(answer: Answer | None, *, is_whole: bool) -> list[str]:
    """Make the lines of an answer harmless; what is not there is said in parentheses."""
    text = answer.text if answer is not None else None
    if text is None:
        refusal = answer.refusal if answer is not None else None
        return plain_lines(refusal) if refusal else ["(no text is kept)"]
    if not text:
        return ["(empty)"]
    if is_whole:
        return plain_lines(text)
    lines = plain_lines(text[:_MAX_CHARACTERS])
    shown = lines[:_MAX_LINES]
    if len(shown) < len(lines) or len(text) > _MAX_CHARACTERS:
        shown.append(f"(… {count(len(text), 'character')} in all: --answers shows them)")
    return shown


def say_both(page: Page, sides: Sequence[Side]) -> None:
    """Add the answers of two runs: beside each other where the terminal is wide enough."""
    if page.width is not None and page.width >= _MIN_SIDE_BY_SIDE:
        _say_side_by_side(page, sides, page.width)
        return
    for run_id, trial in sides:
        page.lines.append(Text(f"  {plain_text(run_id)}", style="bold"))
        say_answer(page, trial.answer if trial is not None else None, is_whole=True)


def _say_side_by_side(page: Page, sides: Sequence[Side], width: int) -> None:
    half = column_width(width, 2)
    columns = []
    for run_id, trial in sides:
        lines = answer_lines(trial.answer if trial is not None else None, is_whole=True)
        wrapped = [piece for line in lines for piece in wrap_text(line, half)]
        columns.append([plain_text(run_id), *wrapped])
    page.columns(columns[0], columns[1], indent=2)
