"""Figures with limits: how a part of the bench says what it measured, and ends.

A part is a module with a `main()` that measures, shows its figures and exits with 1 where one is
missed: `python -m tests.bench.startup`. `python -m tests.bench.run` runs all parts.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `limit` is what it may be at most, None for information only."""

    name: str
    measured: float
    unit: str
    limit: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether a limit is not kept."""
        return (self.limit is not None and self.measured > self.limit) or (
            self.at_least is not None and self.measured < self.at_least
        )

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"at most {self.limit:g}"
        if self.at_least is not None:
            limit = f"at least {self.at_least:g}"
        mark = "MISSED" if self.is_missed else "ok" if limit else ""
        row = f"{self.name:<46} {self.measured:>10,.2f} {self.unit:<8} {limit:<18} {mark:<6}"
        return f"{row} {self.note}".rstrip()


def median_of(
    measure: Callable[[], ItemT], value: Callable[[ItemT], float], runs: int = 5
) -> tuple[float, list[ItemT]]:
    """Measure several times; give the median and everything that was measured."""
    measured = [measure() for _ in range(runs)]
    return statistics.median(value(item) for item in measured), measured


def show_and_exit(figures: Sequence[Figure]) -> NoReturn:
    """Print figures, one a line, and end the process: 1 where a limit is missed."""
    for figure in figures:
        sys.stdout.write(f"{figure}\n")
    sys.exit(any(figure.is_missed for figure in figures))
