"""Assertions of plug-ins, held to the same promises as the built-in ones."""

from __future__ import annotations

from dataclasses import replace

from evalcli.comparison.fingerprint import canonical_json
from evalcli.graders.bounds import MAX_STOPS, StopCount, cut, not_evaluated
from evalcli.protocols import AssertionType, CompiledAssertion
from evalcli.records import AssertionOutcome

MAX_REASON_CHARS = 300
"""Where the reason of a plug-in is cut."""


class GuardedAssertion:
    """A plug-in's assertion: what it raises fails the answer with that reason, never the run.

    A type may have a `version` (text or number), to be raised when it judges otherwise than
    before: it is part of the canonical text, so that results of two versions are not compared.
    """

    def __init__(self, name: str, assertion_type: AssertionType, inner: CompiledAssertion) -> None:
        version = getattr(assertion_type, "version", None)
        meaning = {
            "type": name,
            "version": None if version is None else str(version),
            "plugin": str(inner.canonical),
        }
        self._name = name
        self.canonical = canonical_json(meaning)
        self.may_be_slow = bool(inner.may_be_slow)
        self._stops = StopCount()
        self._inner = inner

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Look at one answer."""
        if self._stops.is_reached:
            return self._fail(f"not tried again, it was stopped {MAX_STOPS} times in this run")
        try:
            outcome: object = self._inner.evaluate(answer)
        except Exception as exc:  # noqa: BLE001 - a plug-in may raise anything
            return self._fail(f"the plug-in raised {type(exc).__name__}: {cut(str(exc), 200)}")
        if not isinstance(outcome, AssertionOutcome):
            return self._fail(f"the plug-in gave no outcome, but {type(outcome).__name__}")
        if outcome.passed:
            return outcome
        reason = cut(outcome.reason or f"{self._name}: does not hold", MAX_REASON_CHARS)
        return replace(outcome, reason=reason)

    def note_stop(self, why: str) -> AssertionOutcome:
        """Count a stop; see `Stoppable`."""
        self._stops.add()
        return self._fail(why)

    def _fail(self, why: str) -> AssertionOutcome:
        return not_evaluated(self._name, self._name, why)
