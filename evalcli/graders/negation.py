"""`not`: an assertion whose outcome is turned round, unless it could not be evaluated."""

from __future__ import annotations

from evalcli.graders.bounds import (
    Described,
    QuickFirst,
    Stoppable,
    not_evaluated,
    quote,
    quote_around,
)
from evalcli.protocols import CompiledAssertion
from evalcli.records import AssertionOutcome


class NegatedAssertion:
    """Holds where the inner assertion does not; fails where that could not be evaluated."""

    def __init__(self, inner: CompiledAssertion) -> None:
        self.inner = inner
        self.canonical = f'{{"not":{inner.canonical}}}'
        self.may_be_slow = inner.may_be_slow

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Look at one answer."""
        return self._turn_round(self.inner.evaluate(answer), answer)

    def try_quickly(self, answer: str) -> AssertionOutcome | None:
        """Look at one answer if that is quick; see `QuickFirst`."""
        if not isinstance(self.inner, QuickFirst):
            return None
        outcome = self.inner.try_quickly(answer)
        return None if outcome is None else self._turn_round(outcome, answer)

    def note_stop(self, why: str) -> AssertionOutcome:
        """Count a stop of the inner assertion; see `Stoppable`."""
        if isinstance(self.inner, Stoppable):
            return self._turn_round(self.inner.note_stop(why), "")
        return not_evaluated("not", "not", why)

    def _turn_round(self, outcome: AssertionOutcome, answer: str) -> AssertionOutcome:
        name = f"not {outcome.type}"
        if not outcome.is_evaluated:
            reason = f"not {outcome.reason}"
            return AssertionOutcome(name, passed=False, reason=reason, is_evaluated=False)
        if not outcome.passed:
            return AssertionOutcome(name, passed=True)
        return AssertionOutcome(name, passed=False, reason=self._say_what_holds(name, answer))

    def _say_what_holds(self, name: str, answer: str) -> str:
        if not isinstance(self.inner, Described):
            return f"{name}: holds for {quote(answer)}"
        place = self.inner.locate(answer)
        seen = quote(answer) if place is None else quote_around(answer, *place)
        return f"not {self.inner.label}: {self.inner.held_text} {seen}"
