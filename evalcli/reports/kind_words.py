"""How the rows and the two rates of a run are called: of prompts, or of questions. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from evalcli.records import Run
from evalcli.reports.number_words import percent, points_and_limit, score, score_and_limit


@dataclass(frozen=True, slots=True)
class RateName:
    """One of the two rates.

    `name` is for sentences, `title` for tables. `values` writes one or several of it, `drop` a
    drop and its limit; `unit` is that of a drop.
    """

    name: str
    title: str
    values: Callable[..., str]
    drop: Callable[[Fraction, Fraction], tuple[str, str]]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class KindWords:
    """The words of one kind of set. `rates` are those that the gate looks at."""

    noun: str
    rates: tuple[RateName, RateName]


_PROMPTS = KindWords(
    "prompt",
    (
        RateName("pass rate", "Pass rate", percent, points_and_limit, " points"),
        RateName("mean score", "Mean score", score, score_and_limit),
    ),
)
_QUESTIONS = KindWords(
    "question",
    (
        RateName("top-1 hit rate", "Top-1", percent, points_and_limit, " points"),
        RateName("top-3 hit rate", "Top-3", percent, points_and_limit, " points"),
    ),
)


def words_of(kind: str) -> KindWords:
    """Choose the words for a kind of run or baseline."""
    return _QUESTIONS if kind == "questions" else _PROMPTS


def has_questions(run: Run) -> bool:
    """Whether a run asked questions of a retriever."""
    return run.kind == "questions"
