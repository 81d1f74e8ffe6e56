"""One decision for a terminal: what was asked and answered, and what the numbers are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len

from evalcli.records import (
    DecisionAnswer,
    DecisionResult,
    JudgedDecision,
    ProbabilityKind,
    RequirementOutcome,
)
from evalcli.reports.number_words import count, money, score
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page, Report, pad_to_width

if TYPE_CHECKING:
    from evalcli.declarations.profile import Question

_OPTIONS_SHOWN = 8
_MAX_NAME = 60
_MAX_INSTRUCTIONS = 300
_TINY = 0.0001
_GAP = "   "

KIND_WORDS: Mapping[ProbabilityKind, str] = {
    ProbabilityKind.CALIBRATED: (
        "Probabilities are calibrated by the provider. They describe this answer, not how often "
        "it is right: measure thresholds on your own labels."
    ),
    ProbabilityKind.DISTRIBUTION: (
        "Probabilities are the model's own, and not calibrated: 0.9 does not mean right in nine "
        "of ten. Measure thresholds on your own labels."
    ),
    ProbabilityKind.NONE: (
        "Hard labels: {model} was asked for an answer, not for a probability; 1.0 and 0.0 mean "
        "yes and no."
    ),
}
"""What the numbers of a decision are worth, by their kind."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The answer to one question, in words: the answer, what stands behind it, how sure."""

    key: str
    answer: str
    detail: str
    confidence: str
    instructions: str


def render_decision(
    decision: JudgedDecision, *, is_ad_hoc: bool = False, verbose: bool = False
) -> Report:
    """Render a decision; `verbose` shows what each question said, as an ad-hoc one always does."""
    return Report(partial(_write, decision, is_ad_hoc, verbose or is_ad_hoc))


def _write(decision: JudgedDecision, is_ad_hoc: bool, with_questions: bool, page: Page) -> None:
    result = decision.result
    page.heading(_heading(result, is_ad_hoc))
    page.blank()
    _write_rows(
        [
            _row(key, question, result)
            for key, question in decision.profile.questions.items()
            if key in result.answers
        ],
        page,
        with_questions=with_questions,
    )
    page.blank()
    words = KIND_WORDS[result.probability_kind]
    page.say(words.format(model=_name(result.model or result.call.requested_model)))
    if decision.requirements:
        page.blank()
        for outcome in decision.requirements:
            _write_requirement(outcome, page)


def _heading(result: DecisionResult, is_ad_hoc: bool) -> list[str]:
    what = "ad hoc" if is_ad_hoc else f"{_name(result.profile)} v{result.version}"
    model = _name(result.model or result.call.requested_model)
    parts = [what, f"{_name(result.configuration)} ({model}, {_name(result.provider)})"]
    known = [n for n in (result.input_tokens, result.output_tokens) if n is not None]
    parts.append(count(sum(known), "token") if known else "tokens unknown")
    cost = result.cost_usd if result.cost_usd is not None else result.call.cost_usd
    parts.append("cost unknown" if cost is None else money(cost))
    if result.call.is_fallback:
        parts.append("served by a fallback")
    return parts


def _write_rows(rows: Sequence[_Row], page: Page, *, with_questions: bool) -> None:
    keys = max((cell_len(row.key) for row in rows), default=0)
    answers = max((cell_len(row.answer) for row in rows), default=0)
    details = max((cell_len(row.detail) for row in rows), default=0)
    hang = keys + len(_GAP)
    for row in rows:
        lead = pad_to_width(row.key, keys)
        texts = [lead, pad_to_width(row.answer, answers), pad_to_width(row.detail, details)]
        line = _GAP.join((*texts, row.confidence)).rstrip(" ")
        if page.width is not None and cell_len(line) + 2 > page.width:
            line = _GAP.join(t for t in (*texts[:2], row.detail, row.confidence) if t).rstrip(" ")
        page.say(line[len(lead) :], lead=lead, style="bold", indent=2, hang=hang)
        if with_questions:
            page.say(row.instructions, indent=2 + hang, style="dim")


def _row(key: str, question: Question, result: DecisionResult) -> _Row:
    answer = result.answers[key]
    is_hard = result.probability_kind is ProbabilityKind.NONE
    confidence = "" if answer.confidence is None else f"confidence {_number(answer.confidence)}"
    instructions = plain_text(" ".join(question.instructions.split()), limit=_MAX_INSTRUCTIONS)
    if question.type == "choice":
        said, detail = _name(answer.choice or ""), _by_option(answer)
    elif question.type == "score":
        highest = len(question.levels) - 1
        said, detail = f"{_number(answer.value)} of {highest}", _by_level(answer)
        if is_hard and answer.value is not None:
            detail = _name(question.levels[round(answer.value)])
    else:
        said = "unknown" if answer.value is None else _number(answer.value)
        detail = "probability of yes"
        if is_hard:
            said, detail = f"{answer.value:.1f}", "yes" if answer.value else "no"
    return _Row(plain_text(key), said, detail, confidence, instructions)


def _by_option(answer: DecisionAnswer) -> str:
    """List probabilities in the order the model gave them, of the most probable options only."""
    shown = answer.probabilities
    if len(shown) > _OPTIONS_SHOWN:
        best = sorted(shown, key=lambda option: -shown[option])[:_OPTIONS_SHOWN]
        more = len(shown) - len(best)
        texts = [f"{_name(option)} {_number(shown[option])}" for option in best]
        return "  ".join((*texts, f"and {more:,} less probable ones"))
    return "  ".join(f"{_name(option)} {_number(chance)}" for option, chance in shown.items())


def _by_level(answer: DecisionAnswer) -> str:
    chances = sorted(answer.probabilities.items(), key=lambda item: (len(item[0]), item[0]))
    return "  ".join(f"{_name(level)}: {_number(chance)}" for level, chance in chances)


def _write_requirement(outcome: RequirementOutcome, page: Page) -> None:
    actual = _name(outcome.choice) if outcome.choice is not None else _exact(outcome.value)
    text = f"  {plain_text(outcome.requirement)}: {plain_text(outcome.key)} is {actual}"
    lead = "met" if outcome.is_met else "NOT MET"
    page.say(text, lead=lead, style="green" if outcome.is_met else "bold red", hang=2)


def _number(value: float | None) -> str:
    """Write a number with two decimals, more where it would look like 0 or 1 and is not."""
    if value is None:
        return "unknown"
    if 0 < value < _TINY:
        return f"under {_TINY}"
    if 1 - _TINY < value < 1:
        return f"over {1 - _TINY}"
    return score(Fraction(repr(value)), digits=2)


def _exact(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.15g}"


def _name(text: str) -> str:
    return plain_text(text, limit=_MAX_NAME)
