"""Grading stored answers again: no model is asked for an answer, at most a judge for a grade."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from evalcli.calls.pipeline import Pipeline
from evalcli.comparison.fingerprint import asked_fingerprint
from evalcli.comparison.reason_text import describe_regrading
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.errors import DecisionCode, DecisionError, InterruptedRunError, UsageError
from evalcli.history.store import History
from evalcli.records import (
    SCORING_VERSION,
    Baseline,
    BaselineMove,
    BaselinePrompt,
    Fingerprints,
    PlannedPrompt,
    Run,
    RunOutcome,
    RunStatus,
    Trial,
    TrialState,
)
from evalcli.runs.finish import finish_run
from evalcli.runs.grading import RunGrader, open_grader
from evalcli.runs.options import DECISION, DETERMINISTIC, RunOptions, check_grader, read_limits
from evalcli.runs.plan import system_prompt
from evalcli.runs.run import conduct_run, was_interrupted
from evalcli.runs.setting import RunSetting, history_listener, retry_listener
from evalcli.runs.trial import grade_trial

_CONCURRENCY = 64
"""Gradings under way at once; each provider's own limit holds beside it."""


@dataclass(frozen=True, slots=True)
class _Regrading:
    """One stored answer to be graded again."""

    prompt: GoldenPrompt
    trial: Trial
    system: str | None


async def regrade_stored_run(
    source: Run, prompt_set: PromptSet, options: RunOptions, setting: RunSetting
) -> RunOutcome:
    """Grade the answers of a stored run again and store the result as a new run.

    Of `options`, the grader, its configuration and the gate count; without them the run's own
    grader, and who judged it, serve again.

    Raises:
        UsageError: the history keeps no texts of it, or its prompts are not declared any more.
        DecisionError, ConfigurationError: the judge cannot be asked; nothing was sent.
        InterruptedRunError: cancelled; what was graded is kept.
    """
    async with AsyncExitStack() as stack:
        pipeline = await stack.enter_async_context(_open_pipeline(setting))
        kind = options.grader or source.grader_kind
        check_grader(kind)
        if options.grader_configuration is None and kind == source.grader_kind:
            options = replace(options, grader_configuration=_judge_of(source))
        grader = open_grader(
            kind, prompt_set, setting, pipeline, configuration=options.grader_configuration
        )
        stack.push_async_callback(grader.grader.aclose)
        chosen = [planned.prompt_id for planned in source.plan]
        return await _regrade(source, prompt_set, chosen, grader, options, setting)


def _judge_of(source: Run) -> str | None:
    """Find the configuration that was told to judge a run; None where none was named."""
    judge = source.options.get("grader_configuration")
    return judge if isinstance(judge, str) else None


async def regrade_baseline(
    prompt_set: PromptSet, run: Run, grader: RunGrader, options: RunOptions, setting: RunSetting
) -> tuple[str, ...]:
    """Grade the answers that the current baseline rests on by the present grader.

    The result becomes the baseline of the present grader's series; what came of it is given for
    a person to read, nothing where nothing had to be graded. Prompts that were changed or removed
    keep their record, so that the comparison still names them. `run` is about to start.

    Raises:
        UsageError: the history keeps no texts of those answers.
        DecisionError: a decision failed, or the judge changed; the baseline is as it was.
    """
    history = setting.history
    baseline = _find_baseline(run, history)
    if baseline is None or not _is_regrading_needed(baseline, prompt_set, grader):
        return ()
    asked = {prompt.id: asked_fingerprint(prompt) for prompt in prompt_set.prompts}
    by_run: dict[str, list[str]] = {}
    for prompt_id, record in baseline.prompts.items():
        if asked.get(prompt_id) == record.fingerprints.asked:
            by_run.setdefault(record.run_id, []).append(prompt_id)
    if not by_run:
        return ()  # Every prompt was changed or removed, which the comparison names.
    records: dict[str, BaselinePrompt] = {}
    yardsticks: dict[str, None] = {}
    new_ids: dict[str, str] = {}
    for run_id, prompt_ids in by_run.items():
        source = history.find_run(run_id)
        outcome = await _regrade(source, prompt_set, prompt_ids, grader, options, setting)
        if outcome.run.status is not RunStatus.COMPLETE:
            raise DecisionError(
                DecisionCode.FAILED,
                f"the baseline could not be graded again: {outcome.summary.not_graded} decisions "
                f"failed (run {outcome.run.run_id}); it stays as it was, and nothing was asked",
                advice="try again when the judge answers",
            )
        yardsticks.update(dict.fromkeys(outcome.summary.yardsticks))
        new_ids[run_id] = outcome.run.run_id
        records.update(_records_of(outcome))
    regraded = replace(
        baseline,
        grader=_only_yardstick(tuple(yardsticks), grader.kind),
        prompts={**baseline.prompts, **records},
        run_id=new_ids.get(baseline.run_id, baseline.run_id),
        set_at=setting.now(),
        scoring_version=SCORING_VERSION,
        evalcli_version=setting.evalcli_version,
        baseline_id=None,
    )
    history.save_baseline(regraded, expected_id=..., how=BaselineMove.ACCEPTED)
    return (describe_regrading(baseline, records),)


def _only_yardstick(yardsticks: Sequence[str], kind: str) -> str:
    """Give the one yardstick of all gradings; the kind of grader where nothing needed one.

    Raises:
        DecisionError: there is more than one.
    """
    if len(yardsticks) > 1:
        raise DecisionError(
            DecisionCode.FAILED,
            "the judge changed while the baseline was graded again: "
            f"{', '.join(yardsticks)}; it stays as it was, and nothing was asked",
            advice="name a pinned model version for the judge",
        )
    return yardsticks[0] if yardsticks else kind


def _records_of(outcome: RunOutcome) -> dict[str, BaselinePrompt]:
    return {
        prompt.prompt_id: BaselinePrompt(
            prompt.prompt_id,
            prompt.fingerprints,
            prompt.pass_share,
            prompt.score,
            outcome.run.run_id,
        )
        for prompt in outcome.summary.prompts
        if prompt.pass_share is not None and prompt.score is not None
    }


def _find_baseline(run: Run, history: History) -> Baseline | None:
    """Find the newest baseline of the run's set, target and kind of grader."""
    found = history.find_baselines_of_kind(run.set_identifier, run.target, run.grader_kind)
    return found[0] if found else None


def _is_regrading_needed(baseline: Baseline, prompt_set: PromptSet, grader: RunGrader) -> bool:
    """Whether the baseline's grades are not those of today; a judge has to be asked to know."""
    if grader.kind == DECISION or baseline.scoring_version != SCORING_VERSION:
        return True
    return any(
        baseline.prompts[prompt.id].fingerprints.graded != grader.grader.graded_fingerprint(prompt)
        for prompt in prompt_set.prompts
        if prompt.id in baseline.prompts
    )


async def _regrade(
    source: Run,
    prompt_set: PromptSet,
    prompt_ids: Collection[str],
    grader: RunGrader,
    options: RunOptions,
    setting: RunSetting,
) -> RunOutcome:
    """Grade the chosen prompts of one stored run; store and compare the result."""
    history = setting.history
    _check_source(source, prompt_set, history)
    prompts = _find_prompts(source, prompt_set, prompt_ids, grader)
    run = _regraded_run(source, prompts, grader, options, setting)
    jobs = [
        _Regrading(
            prompts[trial.prompt_id],
            trial,
            system_prompt(prompts[trial.prompt_id], source.treatment.system),
        )
        for trial in history.load_trials(source.run_id)
        if trial.prompt_id in prompts
    ]
    grader.remember()

    async def perform(job: _Regrading) -> Trial:
        if job.trial.state is TrialState.UNMEASURED:
            return replace(job.trial, finished_at=setting.now())
        return await grade_trial(job.prompt, job.trial, grader.grader, job.system, setting.now)

    with history.hold_run(run.run_id):
        is_interrupted = await _conduct(run, jobs, perform, setting)
        outcome = finish_run(
            run,
            history.load_trials(run.run_id),
            history,
            finished_at=setting.now(),
            branch=setting.workspace.eval.baseline_branch,
            is_interrupted=is_interrupted,
        )
    if is_interrupted:
        raise InterruptedRunError(
            f"interrupted: the regrading {run.run_id} keeps {outcome.summary.measured} of "
            f"{len(run.plan)} prompts",
            run_id=run.run_id,
            advice=f"grade again with `{run.resume_command}`",
        )
    return outcome


async def _conduct(
    run: Run,
    jobs: Sequence[_Regrading],
    perform: Callable[[_Regrading], Awaitable[Trial]],
    setting: RunSetting,
) -> bool:
    """Perform all jobs; tell whether the run was interrupted."""
    return await was_interrupted(
        conduct_run(
            run,
            jobs,
            perform,
            (history_listener(setting.history), *setting.listeners),
            concurrency=_CONCURRENCY,
        )
    )


def _check_source(source: Run, prompt_set: PromptSet, history: History) -> None:
    if source.kind != "prompts" or source.set_identifier != prompt_set.identifier:
        raise UsageError(
            f"run {source.run_id} is of the {source.kind} set {source.set_identifier}",
            advice=f"only runs of {prompt_set.identifier} can be graded by it",
        )
    if not history.has_texts(source.run_id):
        raise UsageError(
            f"the answers of run {source.run_id} were not kept, so they cannot be graded again",
            advice="set `history: {content: full}` and run the set again",
        )


def _find_prompts(
    source: Run, prompt_set: PromptSet, prompt_ids: Collection[str], grader: RunGrader
) -> dict[str, GoldenPrompt]:
    """Find what the stored answers are graded by now.

    Raises:
        UsageError: a prompt is not declared any more, has nothing this grader grades by, or was
            asked in other words than a judge would be shown.
    """
    declared = {prompt.id: prompt for prompt in prompt_set.prompts}
    asked = {planned.prompt_id: planned.fingerprints.asked for planned in source.plan}
    gone = [i for i in prompt_ids if i not in declared]
    bare = [i for i in prompt_ids if i in declared and not grader.grades(declared[i])]
    reworded = [
        i
        for i in prompt_ids
        if i in declared and grader.kind != DETERMINISTIC
        if asked_fingerprint(declared[i]) != asked[i]
    ]
    for ids, why in (
        (gone, "are not declared any more"),
        (bare, f"have nothing the {grader.kind} grader grades by"),
        (reworded, "were asked in other words than a judge would be shown"),
    ):
        if ids:
            raise UsageError(
                f"run {source.run_id} cannot be graded again: its prompts {', '.join(ids)} {why}",
                advice="put them back, or run the set again",
            )
    return {i: declared[i] for i in prompt_ids}


def _regraded_run(
    source: Run,
    prompts: dict[str, GoldenPrompt],
    grader: RunGrader,
    options: RunOptions,
    setting: RunSetting,
) -> Run:
    """Make the new run: what was asked is the stored run's, what grades is today's."""
    limits, workspace_limits = read_limits(options, setting.workspace.eval)
    plan = tuple(
        PlannedPrompt(
            planned.prompt_id,
            Fingerprints(
                planned.fingerprints.asked,
                grader.grader.graded_fingerprint(prompts[planned.prompt_id]),
            ),
        )
        for planned in source.plan
        if planned.prompt_id in prompts
    )
    return replace(
        source,
        run_id=setting.history.new_run_id(),
        grader=grader.kind,
        grader_kind=grader.kind,
        status=RunStatus.RUNNING,
        started_at=setting.now(),
        finished_at=None,
        plan=plan,
        scoring_version=SCORING_VERSION,
        is_partial=source.is_partial or len(plan) < len(source.plan),
        is_interrupted=False,
        limits=limits,
        workspace_limits=workspace_limits,
        options={"grader_configuration": options.grader_configuration}
        if options.grader_configuration is not None
        else {},
        baseline_as_of=setting.history.newest_baseline_id(),
        baseline_id=None,
        baseline_source=options.baseline or "current",
        evalcli_version=setting.evalcli_version,
        git=setting.git,
        regraded_from=source.run_id,
    )


def _open_pipeline(setting: RunSetting) -> Pipeline:
    return Pipeline(
        setting.workspace,
        root=setting.root,
        environ=setting.environ,
        on_retry=retry_listener(setting.listeners),
    )
