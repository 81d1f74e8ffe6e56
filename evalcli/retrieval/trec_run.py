"""Lines of a TREC run; pure.

Source: the format that trec_eval reads: six columns, separated by white space.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from math import isfinite


class RunLineError(ValueError):
    """A line is no result; the message says why."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One result of a run."""

    question_id: str
    document_id: str
    rank: int
    score: float


def read_run_line(line: bytes) -> RunLine | None:
    """Read one line; None for an empty one.

    Raises:
        RunLineError: it has another form.
    """
    try:
        # At ASCII white space only: other spaces may be part of an id.
        columns = line.removeprefix(codecs.BOM_UTF8).split()
        words = [column.decode("utf-8") for column in columns]
    except UnicodeDecodeError:
        raise RunLineError("is not UTF-8") from None
    if not words:
        return None
    if len(words) != 6:
        raise RunLineError(f"has {len(words)} columns instead of 6")
    question_id, _, document_id, rank, score, _ = words
    try:
        place, value = int(rank), float(score)
    except ValueError:
        raise RunLineError("has a rank or score that is no number") from None
    if not isfinite(value):
        raise RunLineError("has a score that is not finite")
    return RunLine(question_id, document_id, place, value)
