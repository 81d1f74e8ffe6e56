"""What the lines of a batch add up to: those just written, and those read back from a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evalcli.decisions.batch_output import Line
from evalcli.decisions.requirements import Requirement
from evalcli.errors import DecisionCode
from evalcli.records import BatchProgress, BatchRequirement, DecisionAnswer

_COST = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(slots=True)
class Tally:
    """Counts lines as they are written, and those that were there before alike."""

    requirements: Sequence[Requirement]
    total: int
    done: int = 0
    below: int = 0
    unmet: Counter[str] = field(default_factory=Counter)
    first_unmet: dict[str, int] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    first_failed: int | None = None
    sums: dict[str, Decimal | None] = field(
        default_factory=lambda: dict.fromkeys(
            ("input_tokens", "output_tokens", "cost_usd"), Decimal(0)
        )
    )

    def add(self, line: Line) -> None:
        """Count a line; one that was read back may have been edited by hand.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is no line of a batch.
        """
        if self.done >= self.total:
            raise ValueError("more lines than subjects")
        error = line.get("error")
        if isinstance(error, Mapping):
            self.failed[DecisionCode(error["code"])] += 1
            self.first_failed = self.first_failed or self.done + 1
        else:
            answers = _read_answers(line["answers"])
            self.below += self._count_unmet(answers)
            for name, before in self.sums.items():
                value = _read_amount(line[name])
                self.sums[name] = None if before is None or value is None else before + value
        self.done += 1

    def _count_unmet(self, answers: Mapping[str, DecisionAnswer]) -> bool:
        """Count by requirement what the present line is not; whether there is anything."""
        unmet = [one.text for one in self.requirements if not one.judge(answers).is_met]
        for text in unmet:
            self.unmet[text] += 1
            self.first_unmet.setdefault(text, self.done + 1)
        return bool(unmet)

    def by_requirement(self) -> tuple[BatchRequirement, ...]:
        """Say how the lines did by each requirement, in the order they were given."""
        return tuple(
            BatchRequirement(text, self.unmet[text], self.first_unmet.get(text))
            for text in dict.fromkeys(one.text for one in self.requirements)
        )

    def progress(self) -> BatchProgress:
        """Say how far the batch is."""
        return BatchProgress(self.done, self.total, self.failed.total())


def _read_answers(answers: object) -> Mapping[str, DecisionAnswer]:
    """Read of each answer what a requirement compares."""
    if not isinstance(answers, Mapping):
        raise TypeError("answers are no object")
    return {
        key: DecisionAnswer(
            value=_read_value(answer["value"]), choice=_read_choice(answer["choice"])
        )
        for key, answer in answers.items()
    }


def _read_value(value: object) -> float | None:
    # No answer is above the highest level of a score; NaN and what is too large for a float fail.
    if value is None or (isinstance(value, int | float) and 0 <= value < 10):
        return None if value is None else float(value)
    raise TypeError("a value is no number")


def _read_choice(choice: object) -> str | None:
    if not isinstance(choice, str | None):
        raise TypeError("a choice is no text")
    return choice


def _read_amount(amount: object) -> Decimal | None:
    """Read a count of tokens, or a cost, which is written as a text; None where it is unknown."""
    if amount is None:
        return None
    if isinstance(amount, str) and _COST.fullmatch(amount):
        return Decimal(amount)
    if isinstance(amount, int):
        return Decimal(amount)
    raise TypeError("an amount is no number")
