"""Rates, scores and drops as text: exact, rounded, never more alike than they are. Pure.

Values that are shown together get as many digits as it takes to tell unequal ones apart, zero and
the highest value included: no drop beyond its limit is printed equal to it, and 2,999 of 3,000 is
99.97 %, not 100.0 %.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations


def format_rates(*rates: Fraction) -> tuple[str, ...]:
    """Write rates in 0..1 as percentages (`92.5 %`), all with the same number of digits."""
    return tuple(f"{text} %" for text in _round_apart(rates, 100, 1, (0, 1)))


def format_points(*drops: Fraction) -> tuple[str, ...]:
    """Write differences of rates as percentage points, without the unit (`7.5`)."""
    return _round_apart(drops, 100, 1, (0,))


def format_scores(*scores: Fraction, digits: int = 3) -> tuple[str, ...]:
    """Write scores in 0..1, or differences of them, as decimal numbers (`0.938`)."""
    return _round_apart(scores, 1, digits, (0, 1))


@lru_cache(maxsize=1024)  # the prompts of a run share a few scores
def _round_apart(
    values: tuple[Fraction, ...], scale: int, digits: int, landmarks: tuple[int, ...]
) -> tuple[str, ...]:
    """Round values to at least `digits` places; nothing unequal, landmarks included, looks equal.

    Two unequal fractions differ at some place, so the search ends.
    """
    scaled = [value * scale for value in values]
    distinct = {*scaled, *(Fraction(landmark * scale) for landmark in landmarks)}
    while any(round(a, digits) == round(b, digits) for a, b in combinations(distinct, 2)):
        digits += 1
    return tuple(_decimal_text(value, digits) for value in scaled)


def _decimal_text(value: Fraction, digits: int) -> str:
    """Write a fraction with a fixed number of places, rounding half to even."""
    scale: int = 10**digits
    units = round(value * scale)
    whole, rest = divmod(abs(units), scale)
    return f"{'-' if units < 0 else ''}{whole}.{rest:0{digits}d}"
