"""Trials to rates and counts. What was not measured is counted and enters no rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from evalcli.records import (
    CallRecord,
    Grade,
    PlannedPrompt,
    PromptSummary,
    Summary,
    Trial,
    TrialState,
)

_Amount = TypeVar("_Amount", int, Decimal)


def summarize_trials(
    plan: Sequence[PlannedPrompt], trials: Iterable[Trial], trial_count: int
) -> Summary:
    """Summarize what a run has measured so far.

    The pass rate is the mean over prompts of the share of passed trials, the mean score the mean
    over prompts of the mean over trials. Both are None while one trial is missing, unmeasured or
    not graded; `measured_*` take what is graded, each prompt over the trials it has.

    Shapes: `plan` holds distinct prompts in the set's order; `trials` at most one trial for each
    prompt and number below `trial_count`, in any order. Trials that were never asked are absent.
    Units: `measured` and `passed` count prompts, of which all trials are graded or passed;
    `refused`, `cut_off`, `unmeasured` and `not_graded` count trials. Tokens and costs are of the
    calls for answers; a call that brought no answer adds what is known of it.

    Raises:
        ValueError: a trial belongs to no place of the plan, stands there twice, or says that it
            is graded and has no grade.
    """
    places = _place_trials(plan, trials, trial_count)
    ordered = [trial for place in places.values() for trial in place]
    prompts = tuple(
        _summarize_prompt(planned, places[planned.prompt_id], trial_count) for planned in plan
    )
    measured = [prompt for prompt in prompts if prompt.measured]
    measured_shares = [Fraction(prompt.passed, prompt.measured) for prompt in measured]
    measured_scores = [_mean_score(places[prompt.prompt_id]) for prompt in measured]
    known_costs = _known_amounts(ordered, _cost)
    return Summary(
        prompts=prompts,
        measured=sum(prompt.pass_share is not None for prompt in prompts),
        passed=sum(prompt.pass_share == 1 for prompt in prompts),
        pass_rate=_mean_if_complete([prompt.pass_share for prompt in prompts]),
        mean_score=_mean_if_complete([prompt.score for prompt in prompts]),
        measured_pass_rate=_mean_if_complete(measured_shares),
        measured_mean_score=_mean_if_complete(measured_scores),
        input_tokens=_total_tokens(ordered, lambda call: call.usage.input_tokens),
        output_tokens=_total_tokens(ordered, lambda call: call.usage.output_tokens),
        cost_usd=sum(known_costs, Decimal(0)) if _is_known(ordered, _cost) else None,
        known_cost_usd=sum(known_costs, Decimal(0)) if known_costs else None,
        refused=sum(trial.is_refused for trial in ordered),
        cut_off=sum(trial.is_cut_off for trial in ordered),
        unmeasured=sum(trial.state is TrialState.UNMEASURED for trial in ordered),
        not_graded=sum(trial.state is TrialState.NOT_GRADED for trial in ordered),
        yardsticks=_distinct(g.yardstick for g in _grades(ordered) if g.yardstick),
        reported_models=_distinct(_reported_model(trial) for trial in ordered),
        has_fallback=any(trial.call is not None and trial.call.is_fallback for trial in ordered),
    )


def _place_trials(
    plan: Sequence[PlannedPrompt], trials: Iterable[Trial], trial_count: int
) -> dict[str, list[Trial]]:
    """Sort trials into the plan's order, each prompt's by number."""
    places: dict[str, dict[int, Trial]] = {planned.prompt_id: {} for planned in plan}
    for trial in trials:
        place = places.get(trial.prompt_id)
        if place is None or not 0 <= trial.trial < trial_count:
            raise ValueError(f"trial {trial.trial} of {trial.prompt_id!r} is not in the plan")
        if trial.trial in place:
            raise ValueError(f"trial {trial.trial} of {trial.prompt_id!r} is there twice")
        if trial.state is TrialState.GRADED and trial.grade is None:
            raise ValueError(f"trial {trial.trial} of {trial.prompt_id!r} has no grade")
        place[trial.trial] = trial
    return {
        prompt_id: [place[number] for number in sorted(place)]
        for prompt_id, place in places.items()
    }


def _summarize_prompt(
    planned: PlannedPrompt, trials: Sequence[Trial], trial_count: int
) -> PromptSummary:
    grades = list(_grades(trials))
    passed = sum(grade.passed for grade in grades)
    is_measured = len(grades) == trial_count
    return PromptSummary(
        prompt_id=planned.prompt_id,
        fingerprints=planned.fingerprints,
        trials=trial_count,
        measured=len(grades),
        passed=passed,
        pass_share=Fraction(passed, trial_count) if is_measured else None,
        score=_mean_score(trials) if is_measured else None,
        hard_class=next((one.question.hard_class for one in grades if one.question), None),
    )


def _grades(trials: Iterable[Trial]) -> Iterator[Grade]:
    for trial in trials:
        if trial.state is TrialState.GRADED and trial.grade is not None:
            yield trial.grade


def _mean_score(trials: Iterable[Trial]) -> Fraction:
    scores = [grade.score for grade in _grades(trials)]
    return sum(scores, Fraction(0)) / len(scores)


def _mean_if_complete(values: Sequence[Fraction | None]) -> Fraction | None:
    """Take the mean; None where a value is missing or there is none at all."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known, Fraction(0)) / len(known)


def _has_answer(trial: Trial) -> bool:
    return trial.state is not TrialState.UNMEASURED or trial.answer is not None


def _known_amounts(
    trials: Iterable[Trial], amount: Callable[[CallRecord], _Amount | None]
) -> list[_Amount]:
    amounts = (None if trial.call is None else amount(trial.call) for trial in trials)
    return [known for known in amounts if known is not None]


def _is_known(trials: Iterable[Trial], amount: Callable[[CallRecord], object]) -> bool:
    """Tell whether an amount is known of every call that brought an answer, and of one at least."""
    answered = [trial for trial in trials if _has_answer(trial)]
    return bool(answered) and all(
        trial.call is not None and amount(trial.call) is not None for trial in answered
    )


def _total_tokens(
    trials: Sequence[Trial], amount: Callable[[CallRecord], int | None]
) -> int | None:
    return sum(_known_amounts(trials, amount)) if _is_known(trials, amount) else None


def _cost(call: CallRecord) -> Decimal | None:
    return call.cost_usd


def _reported_model(trial: Trial) -> str | None:
    if trial.call is not None and trial.call.reported_model is not None:
        return trial.call.reported_model
    return None if trial.answer is None else trial.answer.model


def _distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))
