"""Whether a decision answers what was asked, within what was offered; pure.

Everything is checked here again, whatever the adapter read: a plug-in may not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from evalcli.declarations.profile import ChoiceQuestion, Question, YesNoQuestion
from evalcli.records import DecisionAnswer

SUM_TOLERANCE: Final = Decimal("0.005")
"""How far, for each entry, probabilities may be from adding up to 1: two decimals of rounding."""

_NAMED_AT_MOST = 6
_SHOWN_BELOW = 10**15  # larger numbers have too many digits to be shown


def find_answer_faults(
    questions: Mapping[str, Question],
    answers: Mapping[str, DecisionAnswer],
    *,
    quote: Callable[[str], str],
) -> tuple[str, ...]:
    """Say all that is wrong with the answers, in the order of the questions; empty where valid.

    Valid is one answer a question and none besides, of the right type, with an option or a level
    that was offered, numbers in range, and probabilities only of what was offered that add up to
    1 within 0.005 for each of them. `quote` makes a text of the model fit to be shown.
    """
    faults = []
    for key, question in questions.items():
        answer = answers.get(key)
        if answer is None:
            faults.append(f"{key}: no answer")
        else:
            faults += [f"{key}: {fault}" for fault in _answer_faults(question, answer, quote)]
    faults += [f"{quote(key)} was not asked" for key in answers if key not in questions]
    return tuple(faults)


def offered_labels(question: Question) -> tuple[str, ...]:
    """Name what can be answered: yes and no, the options, or the indexes of the levels."""
    if isinstance(question, YesNoQuestion):
        return ("yes", "no")
    if isinstance(question, ChoiceQuestion):
        return question.options
    return tuple(str(index) for index in range(len(question.levels)))


def name_some(labels: Sequence[str]) -> str:
    """List labels for a sentence, the first ones where there are many."""
    named = ", ".join(labels[:_NAMED_AT_MOST])
    more = len(labels) - _NAMED_AT_MOST
    return f"{named} and {more} more" if more > 0 else named


def _answer_faults(
    question: Question, answer: DecisionAnswer, quote: Callable[[str], str]
) -> Iterator[str]:
    labels = offered_labels(question)
    if isinstance(question, ChoiceQuestion):
        yield from _choice_faults(answer, labels, quote)
    else:
        top = 1 if isinstance(question, YesNoQuestion) else len(question.levels) - 1
        yield from _value_faults(answer, top)
    if answer.confidence is not None and (fault := _range_fault(answer.confidence, 1)):
        yield f"its confidence {fault}"
    yield from _probability_faults(answer.probabilities, labels, quote)


def _choice_faults(
    answer: DecisionAnswer, labels: Sequence[str], quote: Callable[[str], str]
) -> Iterator[str]:
    if answer.value is not None:
        yield "a number where an option was to be chosen"
    if not isinstance(answer.choice, str):
        yield "no option was chosen"
    elif answer.choice not in labels:
        yield f"{quote(answer.choice)} is none of its options ({name_some(labels)})"


def _value_faults(answer: DecisionAnswer, top: int) -> Iterator[str]:
    if answer.choice is not None:
        yield "an option where a number was asked for"
    if fault := _range_fault(answer.value, top):
        yield f"its value {fault}"


def _range_fault(value: object, top: int) -> str:
    """Say what is wrong with a number that must be in 0..top; empty where nothing is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is no number"
    if isinstance(value, float) and not math.isfinite(value):
        return "is not finite"
    if 0 <= value <= top:
        return ""
    shown = f"{value!r} " if abs(value) < _SHOWN_BELOW else ""
    return f"{shown}is not in 0 to {top}"


def _probability_faults(
    probabilities: Mapping[str, float], labels: Sequence[str], quote: Callable[[str], str]
) -> Iterator[str]:
    known = frozenset(labels)
    for label, value in probabilities.items():
        if label not in known:
            yield f"a probability of {quote(str(label))}, which was not offered"
        if fault := _range_fault(value, 1):
            yield f"the probability of {quote(str(label))} {fault}"
            return  # and so has no sum
    if not probabilities:
        return
    total = sum((Decimal(str(float(value))) for value in probabilities.values()), Decimal(0))
    if abs(total - 1) > SUM_TOLERANCE * len(probabilities):
        yield f"its probabilities add up to {float(total):.6g}, not to 1"
