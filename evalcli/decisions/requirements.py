"""The caller's thresholds on answers, such as `supported>=0.8`. Pure.

A decision says nothing of what follows from it; whoever asks does, and may do it here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from evalcli.declarations.profile import ChoiceQuestion, Profile, Question, ScoreQuestion
from evalcli.declarations.scalars import cite
from evalcli.errors import UsageError
from evalcli.records import DecisionAnswer, RequirementOutcome

_FORM = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(>=|<=|==|!=|>|<|=)(\s*\S.*)", re.S)
_ORDERED: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
_EXAMPLE = "write a question, a sign and a threshold, such as supported>=0.8 or verdict=publish"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What an answer must be: a number beyond a limit, or an option that was or was not chosen.

    `limit` is set where a number is compared, `option` where a choice is.
    """

    text: str
    key: str
    sign: str
    limit: Decimal | None = None
    option: str | None = None

    def judge(self, answers: Mapping[str, DecisionAnswer]) -> RequirementOutcome:
        """Compare an answer, exactly: a number equal to the limit meets `>=` and not `>`."""
        answer = answers[self.key]
        if self.limit is None:
            actual = answer.choice
            is_met = (actual == self.option) is (self.sign != "!=")
            return RequirementOutcome(self.text, self.key, is_met, choice=actual)
        value = answer.value
        # The shortest decimal that is this float, so that 0.8 reported is 0.8 wanted.
        is_met = value is not None and _ORDERED[self.sign](Decimal(repr(value)), self.limit)
        return RequirementOutcome(self.text, self.key, is_met, value=value)


def read_requirements(texts: Iterable[str], profile: Profile) -> tuple[Requirement, ...]:
    """Read thresholds on the answers to a profile's questions.

    Raises:
        UsageError: one has another form, names no question, or could never be judged.
    """
    return tuple(_read(text, profile) for text in texts)


def _read(text: str, profile: Profile) -> Requirement:
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"--require {cite(text)} has no such form", advice=_EXAMPLE)
    key, sign, wanted = match.groups()
    question = profile.questions.get(key)
    if question is None:
        raise UsageError(
            f'--require {cite(text)}: profile "{profile.identifier}" has no question "{key}"',
            advice=f"its questions are {', '.join(profile.questions)}",
        )
    if isinstance(question, ChoiceQuestion):
        return _read_option(text, key, sign, wanted, question)
    if sign not in _ORDERED:
        raise UsageError(
            f"--require {cite(text)}: {key} is answered by a number",
            advice=f"compare it with one of {', '.join(_ORDERED)}",
        )
    return Requirement(text, key, sign, limit=_read_limit(text, wanted.strip(), question))


def _read_option(
    text: str, key: str, sign: str, wanted: str, question: ChoiceQuestion
) -> Requirement:
    if sign in _ORDERED:
        raise UsageError(
            f"--require {cite(text)}: {key} is answered by an option",
            advice="compare it with = or !=",
        )
    if wanted not in question.options:
        wanted = wanted.strip()  # An option may have spaces around it, and so may a sign.
    if wanted not in question.options:
        raise UsageError(
            f"--require {cite(text)}: {cite(wanted)} is no option of {key}",
            advice=f"its options are {', '.join(question.options[:20])}",
        )
    return Requirement(text, key, sign, option=wanted)


def _read_limit(text: str, wanted: str, question: Question) -> Decimal:
    highest = len(question.levels) - 1 if isinstance(question, ScoreQuestion) else 1
    try:
        # `Decimal` takes 0_8 for 8, and digits of other scripts.
        limit = Decimal(wanted if wanted.isascii() and "_" not in wanted else "NaN")
    except InvalidOperation:
        limit = Decimal("NaN")
    if not limit.is_finite() or not 0 <= limit <= highest:
        raise UsageError(
            f"--require {cite(text)}: {cite(wanted)} is no number from 0 to {highest}",
            advice="a yes is answered by its probability, a score by its level",
        )
    return limit
