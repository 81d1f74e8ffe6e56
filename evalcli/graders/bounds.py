"""What keeps slow assertions bounded: a time limit, and giving up after three stops."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from evalcli.records import AssertionOutcome

TIME_LIMIT_S = 1.0
"""Computing time after which an evaluation is stopped."""

QUICK_LIMIT_S = 0.002
"""Computing time that an evaluation may take while other answers wait."""

MAX_STOPS = 3
"""An assertion that was stopped this often is not tried again in the run."""

MAX_VALUE_CHARS = 60
"""Where a value or an answer is cut in a reason."""


class EvaluationStoppedError(Exception):
    """An evaluation used up its time."""


class EvaluationImpossibleError(Exception):
    """An evaluation cannot come to an end on this answer; the text says why."""


class StopCount:
    """How often one assertion was stopped in this run; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops = 0

    def add(self) -> None:
        """Count one stop."""
        with self._lock:
            self._stops += 1

    @property
    def is_reached(self) -> bool:
        """Whether the assertion is not to be tried again."""
        return self._stops >= MAX_STOPS


@runtime_checkable
class QuickFirst(Protocol):
    """An assertion that is nearly always quick: worth a short try before a thread is started."""

    def try_quickly(self, answer: str) -> AssertionOutcome | None:
        """Evaluate within `QUICK_LIMIT_S`; None where that was not enough."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """An assertion whose stops are counted."""

    def note_stop(self, why: str) -> AssertionOutcome:
        """Count a stop that came from outside; gives the outcome of what was stopped."""
        ...


@runtime_checkable
class Described(Protocol):
    """An assertion that can say what it looks for, and where it found it.

    `label` names type and value (`contains "Monday"`), `held_text` joins it to what was seen when
    it holds (`found in`).
    """

    label: str
    held_text: str

    def locate(self, answer: str) -> tuple[int, int] | None:
        """Find what made the assertion hold, as start and end; None for the whole answer."""
        ...


class BoundedAssertion(ABC):
    """Base of assertions whose evaluation is stopped after a time.

    Units: `limit_s` in seconds of computing time of the thread that evaluates, so that a busy
    machine stops nothing that would have been quick.
    """

    may_be_slow = True
    held_text = "holds for"

    def __init__(self, type_name: str, *, label: str, canonical: str, limit_s: float) -> None:
        self.type_name = type_name
        self.label = label
        self.canonical = canonical
        self._limit_s = limit_s
        self._stops = StopCount()

    @abstractmethod
    def find_failure(self, answer: str, limit_s: float) -> str | None:
        """Say why the assertion does not hold; None where it does.

        Raises:
            EvaluationStoppedError: `limit_s` was not enough.
            EvaluationImpossibleError: this answer cannot be evaluated at all.
        """

    def locate(self, answer: str) -> tuple[int, int] | None:
        """Find what made the assertion hold; here the answer as a whole."""
        return None

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Look at one answer, within the time limit."""
        if self._stops.is_reached:
            return self._not_tried()
        try:
            return self._judge(answer, self._limit_s)
        except EvaluationStoppedError:
            return self.note_stop(f"stopped after {self._limit_s:g} s")

    def try_quickly(self, answer: str) -> AssertionOutcome | None:
        """Look at one answer, within `QUICK_LIMIT_S`; None where that was not enough."""
        if self._stops.is_reached:
            return self._not_tried()
        try:
            return self._judge(answer, min(QUICK_LIMIT_S, self._limit_s))
        except EvaluationStoppedError:
            return None

    def note_stop(self, why: str) -> AssertionOutcome:
        """Count a stop; see `Stoppable`."""
        self._stops.add()
        return self._not_evaluated(why)

    def _judge(self, answer: str, limit_s: float) -> AssertionOutcome:
        try:
            failure = self.find_failure(answer, limit_s)
        except EvaluationImpossibleError as exc:
            return self._not_evaluated(str(exc))
        if failure is None:
            return AssertionOutcome(self.type_name, passed=True)
        return AssertionOutcome(self.type_name, passed=False, reason=f"{self.label}: {failure}")

    def _not_tried(self) -> AssertionOutcome:
        return self._not_evaluated(f"not tried again, it was stopped {MAX_STOPS} times in this run")

    def _not_evaluated(self, why: str) -> AssertionOutcome:
        return not_evaluated(self.type_name, self.label, why)


def not_evaluated(type_name: str, label: str, why: str) -> AssertionOutcome:
    """Make the outcome of an assertion that could not be evaluated: it fails."""
    return AssertionOutcome(
        type_name,
        passed=False,
        reason=f"{label}: could not be evaluated: {why}",
        is_evaluated=False,
    )


def cut(text: str, limit: int = MAX_VALUE_CHARS) -> str:
    """Cut a text after `limit` characters, visibly."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def quote(text: str, limit: int = MAX_VALUE_CHARS) -> str:
    """Quote a text for a reason, cut after `limit` characters; whoever prints it escapes it."""
    return f'"{cut(text, limit)}"'


def quote_around(text: str, start: int, end: int, limit: int = MAX_VALUE_CHARS) -> str:
    """Quote the part of a text around `start`..`end`, at most `limit` characters of it."""
    first = max(0, min(start - (limit - min(end - start, limit)) // 2, len(text) - limit))
    part = text[first : first + limit]
    before = "…" if first else ""
    after = "…" if first + limit < len(text) else ""
    return f'"{before}{part}{after}"'
