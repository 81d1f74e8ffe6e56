"""How fast a provider is asked, and how often again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Self

from evalcli.declarations.workspace import RetrySettings
from evalcli.errors import ProviderError

LONGEST_WAIT_S: Final = 120.0
"""A server that asks for a longer wait ends the attempt."""

_LONGEST_BACKOFF_S: Final = 8.0
_JITTER: Final = 0.25


class RateLimit:
    """Spreads requests evenly over time, so that no minute has more than it may.

    Units: `clock` in seconds, from any start.
    """

    def __init__(
        self,
        requests_per_minute: int | None,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._interval_s = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next_at = float("-inf")

    async def wait_for_turn(self) -> None:
        """Wait until the next request may be sent."""
        if not self._interval_s:
            return
        now = self._clock()
        turn_at = max(now, self._next_at)
        self._next_at = turn_at + self._interval_s
        if turn_at > now:
            await self._sleep(turn_at - now)


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What follows a failed try. `wait_s` is None where no other try does; `note` says why."""

    wait_s: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a failed call is tried again.

    Units: seconds; `tries` counts requests, the first one included; `total_s` is from the start
    of the first try to the end of the last.
    """

    tries: int
    delay_s: float
    total_s: float

    @classmethod
    def of(cls, settings: RetrySettings) -> Self:
        """Take the declared settings."""
        return cls(settings.tries, float(settings.delay_s), float(settings.total_s))

    def decide(
        self, error: ProviderError, *, tries: int, elapsed_s: float, random: Callable[[], float]
    ) -> RetryDecision:
        """Decide whether to try again after `tries` requests, and when.

        The wait that the server asks for goes before our own: `delay_s`, doubled each time up to
        8 s, less up to a quarter by chance, so that many callers do not come back at once.
        """
        if not error.is_retryable or tries >= self.tries:
            return RetryDecision(None)
        asked_s = error.retry_after_s
        if asked_s is not None and asked_s > LONGEST_WAIT_S:
            return RetryDecision(
                None,
                f"it asks to wait {asked_s:.10g} s, and evalcli waits {LONGEST_WAIT_S:g} s at most",
            )
        wait_s = asked_s if asked_s is not None else self._backoff(tries, random())
        if elapsed_s + wait_s >= self.total_s:
            return RetryDecision(
                None, f"another wait of {wait_s:.3g} s would exceed the {self.total_s:g} s of retry"
            )
        return RetryDecision(wait_s)

    def _backoff(self, tries: int, chance: float) -> float:
        doubled = min(self.delay_s * 2.0 ** (tries - 1), max(self.delay_s, _LONGEST_BACKOFF_S))
        return doubled * (1.0 - _JITTER * chance)
