"""Numbers as people read them: rates, scores, drops, costs, times, dates. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from evalcli.number_text import format_points, format_rates, format_scores

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SECONDS_PER_MINUTE = 60
_MS_PER_SECOND = 1000
_MIN_PLACES = 4
_MOST_DIGITS = 15


def percent(*rates: Fraction) -> str:
    """Write a rate in 0..1 as `92.5 %`, several as `100.0 % → 92.5 %`."""
    return " → ".join(format_rates(*rates))


def score(*values: Fraction, digits: int = 3) -> str:
    """Write a score in 0..1 as `0.938`, several as `1.000 → 0.938`."""
    return " → ".join(format_scores(*values, digits=digits))


def points_and_limit(drop: Fraction, limit: Fraction) -> tuple[str, str]:
    """Write a drop of a rate and its limit in percentage points: `7.5`, `10.0`."""
    first, second = format_points(drop, limit)
    return first, second


def score_and_limit(drop: Fraction, limit: Fraction) -> tuple[str, str]:
    """Write a drop of a mean score and its limit: `0.062`, `0.100`."""
    first, second = format_scores(drop, limit)
    return first, second


def money(cost_usd: Decimal) -> str:
    """Write a cost as `$12.30`, `$0.0031` or `$0.000013`."""
    if cost_usd == 0:
        return "$0"
    if cost_usd.adjusted() > _MOST_DIGITS:
        return f"${cost_usd:.2e}"
    if cost_usd >= 1:
        return f"${cost_usd.quantize(Decimal('0.01')):,f}"
    # Two digits that say something, and at least four places.
    places = max(_MIN_PLACES, 1 - cost_usd.adjusted())
    text = f"{cost_usd.quantize(Decimal(1).scaleb(-places)):f}"
    surplus = len(text) - len(text.rstrip("0"))
    return f"${text[: len(text) - min(surplus, places - _MIN_PLACES)]}"


def duration(milliseconds: float) -> str:
    """Write a time as `20 ms`, `0.8 s` or `2 min 5 s`."""
    # Under a tenth of a second "0.0 s" would say nothing.
    if milliseconds < _MS_PER_SECOND / 10:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _MS_PER_SECOND
    if round(seconds, 1) < _SECONDS_PER_MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    return f"{minutes} min {rest} s"


def day(moment: datetime, *, now: datetime) -> str:
    """Write a date as `12 Nov`, with the year where it is another one than `now`'s."""
    at = moment.astimezone(UTC)
    year = "" if at.year == now.astimezone(UTC).year else f" {at.year}"
    return f"{at.day} {_MONTHS[at.month - 1]}{year}"


def minute(moment: datetime) -> str:
    """Write an instant as `2026-11-12 14:02 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def second(moment: datetime) -> str:
    """Write the time of an instant as `14:02:11 UTC`."""
    return f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def count(number: int, noun: str) -> str:
    """Write a count with its noun: `1 prompt`, `3 prompts`, `2,000 prompts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def names(items: Sequence[str], *, limit: int | None = None) -> str:
    """Write a list of names, `a, b, c` or `a, b and 7 more`."""
    if limit is None or len(items) <= limit:
        return ", ".join(items)
    return f"{', '.join(items[:limit])} and {len(items) - limit:,} more"
