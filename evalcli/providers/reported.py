"""Numbers that providers report: what is no plausible number is not known, and never a crash."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Final

_MOST_TOKENS: Final = 2**53  # beyond it not every program reads a JSON number exactly
_MOST_USD: Final = 10**9
_MOST_PLACES: Final = 40


def read_count(value: object) -> int | None:
    """Read a count of tokens; None where it is missing, negative, no integer, or beyond 2^53."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


def read_cost(value: object) -> Decimal | None:
    """Read a cost exactly; None where it is missing, negative, no number, or out of all bounds.

    Units: USD, below a thousand million, with at most forty decimal places. `9e999999` is a number
    too, and one that cannot be added up.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        cost = Decimal(str(value))
    except (InvalidOperation, ValueError):  # ValueError: an integer of too many digits
        return None
    if not cost.is_finite() or not 0 <= cost < _MOST_USD:
        return None
    exponent = cost.as_tuple().exponent
    return cost if isinstance(exponent, int) and -exponent <= _MOST_PLACES else None
