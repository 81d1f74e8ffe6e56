"""A declaration to ordered jobs: plain data that any process could perform. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalcli.comparison.fingerprint import asked_fingerprint
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.declarations.resolution import ResolvedConfiguration, known_names
from evalcli.errors import UsageError
from evalcli.records import ChatRequest, Fingerprints, PlannedPrompt, Trial, TrialState


@dataclass(frozen=True, slots=True)
class Job:
    """One trial to be performed: which prompt, which trial, and what is sent.

    `answered` holds the answer of an earlier session whose grading failed: it is only graded.
    """

    prompt: GoldenPrompt
    trial: int
    request: ChatRequest
    answered: Trial | None = None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All jobs of a run in the set's order, and what the run leaves out.

    `skipped` maps prompt id to the declared reason; `ungraded` names prompts that the chosen
    grader has nothing to grade by.
    """

    prompts: tuple[PlannedPrompt, ...]
    jobs: tuple[Job, ...]
    skipped: Mapping[str, str]
    ungraded: tuple[str, ...]
    is_partial: bool


def plan_run(
    prompt_set: PromptSet,
    target: ResolvedConfiguration,
    *,
    grades: Callable[[GoldenPrompt], bool],
    graded_fingerprint: Callable[[GoldenPrompt], str | None],
    only: Sequence[str] = (),
    trials: int = 1,
) -> RunPlan:
    """Plan which requests a run sends.

    `grades` says whether the grader can grade a prompt at all, `graded_fingerprint` what its
    grading reads. Trial t is asked with seed + t where there is a seed.

    Raises:
        UsageError: `only` names an unknown or skipped prompt, or no prompt is left.
    """
    chosen = _choose_prompts(prompt_set, only)
    skipped = {p.id: p.skip for p in prompt_set.prompts if p.skip is not None}
    ungraded = tuple(p.id for p in chosen if not grades(p))
    asked = [prompt for prompt in chosen if grades(prompt)]
    if not asked:
        raise UsageError(
            f"no prompt of {prompt_set.identifier} can be run: "
            + _why_none_is_left(len(skipped), len(ungraded)),
            advice="use `--grader decision` for prompts with a reference, or add assertions"
            if ungraded
            else "take `skip` off a prompt",
        )
    jobs = [
        Job(prompt, trial, request_of(prompt, target, trial))
        for trial in range(trials)
        for prompt in asked
    ]
    return RunPlan(
        prompts=tuple(
            PlannedPrompt(p.id, Fingerprints(asked_fingerprint(p), graded_fingerprint(p)))
            for p in asked
        ),
        jobs=tuple(jobs),
        skipped=skipped,
        ungraded=ungraded,
        is_partial=bool(only),
    )


def request_of(prompt: GoldenPrompt, target: ResolvedConfiguration, trial: int) -> ChatRequest:
    """Build what is sent for one trial; a prompt's own system prompt replaces the base one."""
    return ChatRequest(
        model=target.model_id,
        prompt=prompt.prompt,
        system=system_prompt(prompt, target.system),
        temperature=target.temperature,
        max_output_tokens=target.max_output_tokens,
        seed=None if target.seed is None else target.seed + trial,
    )


def what_is_missing(plan: RunPlan, trials: Sequence[Trial]) -> RunPlan:
    """Leave out the jobs that are graded already; those that only lack a grade are not asked.

    An answer whose text the history did not keep is asked for again.
    """
    stored = {(trial.prompt_id, trial.trial): trial for trial in trials}
    jobs = []
    for job in plan.jobs:
        trial = stored.get((job.prompt.id, job.trial))
        if trial is None or trial.state is TrialState.UNMEASURED:
            jobs.append(job)
        elif trial.state is TrialState.NOT_GRADED:
            has_text = trial.answer is not None and trial.answer.text is not None
            jobs.append(replace(job, answered=trial) if has_text else job)
    return replace(plan, jobs=tuple(jobs))


def _choose_prompts(prompt_set: PromptSet, only: Sequence[str]) -> list[GoldenPrompt]:
    by_id = {prompt.id: prompt for prompt in prompt_set.prompts}
    for prompt_id in only:
        prompt = by_id.get(prompt_id)
        if prompt is None:
            raise UsageError(
                f'{prompt_set.identifier} has no prompt "{prompt_id}"',
                advice=known_names(by_id, prompt_id),
            )
        if prompt.skip is not None:
            raise UsageError(
                f'prompt "{prompt_id}" of {prompt_set.identifier} is skipped: {prompt.skip}',
                advice="take `skip` off it to run it",
            )
    wanted = set(only) or set(by_id)
    return [p for p in prompt_set.prompts if p.id in wanted and p.skip is None]


def _why_none_is_left(skipped: int, ungraded: int) -> str:
    parts = []
    if skipped:
        parts.append(f"{skipped} skipped")
    if ungraded:
        parts.append(f"{ungraded} with only a reference, which need the decision grader")
    return ", ".join(parts) or "it has none"


def system_prompt(prompt: GoldenPrompt, base: str | None) -> str | None:
    """Choose the system prompt of a call: the prompt's own, be it empty, else the base one."""
    return base if prompt.system is None else prompt.system
