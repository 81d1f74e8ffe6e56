"""One run of a golden prompt set, from options to outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalcli.calls.pipeline import CallResult, Pipeline
from evalcli.comparison.fingerprint import system_fingerprint
from evalcli.declarations.prompt_set import DataClass, PromptSet
from evalcli.declarations.resolution import ResolvedConfiguration, resolve_configuration
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import InterruptedRunError
from evalcli.history.store import History
from evalcli.records import Run, RunOutcome, RunStatus, Treatment, Trial
from evalcli.runs.finish import ChosenBaseline, find_named_baseline, finish_run
from evalcli.runs.grading import RunGrader, open_grader
from evalcli.runs.options import (
    DETERMINISTIC,
    RunOptions,
    check_options,
    read_limits,
    resumed_options,
    stored_options,
)
from evalcli.runs.plan import Job, RunPlan, plan_run, what_is_missing
from evalcli.runs.regrade import regrade_baseline
from evalcli.runs.resume import check_resumable, check_unchanged, resumed_run
from evalcli.runs.run import RunStack, conduct_run, was_interrupted
from evalcli.runs.setting import RunSetting, history_listener, retry_listener
from evalcli.runs.trial import perform_job


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that has passed every check and is about to send its first request."""

    run: Run
    plan: RunPlan
    target: ResolvedConfiguration
    grader: RunGrader
    named_baseline: ChosenBaseline | None
    done: int = 0
    is_resumed: bool = False


async def run_prompt_set(
    prompt_set: PromptSet, options: RunOptions, setting: RunSetting
) -> RunOutcome:
    """Run a golden prompt set, or resume a run of it, and compare it with its baseline.

    Raises:
        UsageError, ConfigurationError, DeclarationError: before anything was sent.
        HistoryError: the history failed; `exit_status` says whether something was sent.
        InterruptedRunError: the run was cancelled; what was measured is kept.
    """
    async with RunStack() as stack:
        pipeline = await stack.enter_async_context(
            Pipeline(
                _with_concurrency(setting.workspace, options),
                root=setting.root,
                environ=setting.environ,
                on_retry=retry_listener(setting.listeners),
            )
        )
        stored = None if options.resume is None else setting.history.find_run(options.resume)
        run_id = setting.history.new_run_id() if stored is None else stored.run_id
        # Held before it is read: what another process still adds to it would be asked twice.
        stack.enter_context(setting.history.hold_run(run_id))
        if stored is not None:
            stored = setting.history.find_run(run_id)
        prepared = prepare_run(prompt_set, options, setting, pipeline, run_id, stored)
        stack.push_async_callback(prepared.grader.grader.aclose)
        prepared.grader.remember()
        notes: tuple[str, ...] = ()
        if options.regrade_baseline and not prepared.is_resumed:
            notes = await regrade_baseline(
                prompt_set, prepared.run, prepared.grader, options, setting
            )
            run = replace(
                prepared.run,
                started_at=setting.now(),
                baseline_as_of=setting.history.newest_baseline_id(),
            )
            prepared = replace(prepared, run=run)
        run = prepared.run
        is_interrupted = await _perform(prepared, pipeline, setting)
        outcome = finish_run(
            run,
            setting.history.load_trials(run.run_id),
            setting.history,
            finished_at=setting.now(),
            branch=setting.workspace.eval.baseline_branch,
            named=prepared.named_baseline,
            is_interrupted=is_interrupted,
            notes=notes,
        )
    if is_interrupted and outcome.run.is_interrupted:
        raise InterruptedRunError(
            f"interrupted: run {run.run_id} keeps {outcome.summary.measured} of "
            f"{len(run.plan)} prompts",
            run_id=run.run_id,
            advice=f"go on with `evalcli eval run {run.set_identifier} --resume {run.run_id}`",
        )
    return outcome


def prepare_run(
    prompt_set: PromptSet,
    options: RunOptions,
    setting: RunSetting,
    pipeline: Pipeline,
    run_id: str,
    stored: Run | None,
) -> PreparedRun:
    """Check everything that can be checked before the first request.

    `stored` is the run to be resumed, None for a new one.
    """
    if stored is not None:
        check_resumable(stored, prompt_set.identifier, "run")
        options = resumed_options(options, stored.options)
    check_options(options)
    limits, workspace_limits = read_limits(options, setting.workspace.eval)
    workspace = _with_concurrency(setting.workspace, options)
    target = resolve_configuration(
        workspace,
        configuration=options.configuration,
        model=options.model,
        provider=options.provider,
    )
    if options.system is not None:
        target = replace(target, system=options.system)
    kind = options.grader or DETERMINISTIC
    grader = open_grader(
        kind, prompt_set, setting, pipeline, configuration=options.grader_configuration
    )
    plan = plan_run(
        prompt_set,
        target,
        grades=grader.grades,
        graded_fingerprint=grader.grader.graded_fingerprint,
        only=options.only,
        trials=options.trials or 1,
    )
    pipeline.check(target, data_class=prompt_set.data_class)
    run = Run(
        run_id=run_id,
        kind="prompts",
        set_identifier=prompt_set.identifier,
        set_name=prompt_set.name,
        target=target.target,
        grader=kind,
        grader_kind=kind,
        status=RunStatus.RUNNING,
        started_at=setting.now(),
        plan=plan.prompts,
        trials=options.trials or 1,
        configuration=target.name,
        treatment=_treatment(target, options.trials or 1),
        data_class=prompt_set.data_class.value,
        is_draft=options.is_draft,
        is_partial=plan.is_partial,
        skipped=plan.skipped,
        ungraded=plan.ungraded,
        limits=limits,
        workspace_limits=workspace_limits,
        options=stored_options(options, keep_texts=setting.workspace.history.content == "full"),
        baseline_as_of=setting.history.newest_baseline_id(),
        baseline_source=options.baseline or "current",
        evalcli_version=setting.evalcli_version,
        git=setting.git,
    )
    # A named baseline that is missing or of another set is found out before anything is spent.
    named = find_named_baseline(run, setting.history)
    prepared = PreparedRun(run, plan, target, grader, named)
    return prepared if stored is None else _resumed(stored, prepared, setting.history)


def _resumed(stored: Run, prepared: PreparedRun, history: History) -> PreparedRun:
    check_unchanged(stored, prepared.run)
    missing = what_is_missing(prepared.plan, history.load_trials(stored.run_id))
    return replace(
        prepared,
        run=resumed_run(stored, prepared.run),
        plan=missing,
        done=len(prepared.plan.jobs) - len(missing.jobs),
        is_resumed=True,
    )


async def _perform(prepared: PreparedRun, pipeline: Pipeline, setting: RunSetting) -> bool:
    """Perform all jobs; tell whether the run was interrupted."""
    data_class = DataClass(prepared.run.data_class)

    async def ask(job: Job) -> CallResult:
        return await pipeline.ask_chat(
            prepared.target,
            job.request,
            data_class=data_class,
            caller="evalcli",
            caller_operation="eval.run",
        )

    async def perform(job: Job) -> Trial:
        return await perform_job(job, ask, prepared.grader.grader, setting.now)

    return await was_interrupted(
        conduct_run(
            prepared.run,
            prepared.plan.jobs,
            perform,
            (
                history_listener(setting.history, is_resumed=prepared.is_resumed),
                *setting.listeners,
            ),
            concurrency=prepared.target.entry.concurrency,
            done=prepared.done,
        )
    )


def _treatment(target: ResolvedConfiguration, trials: int) -> Treatment:
    settings = {
        "temperature": target.temperature,
        "max_output_tokens": target.max_output_tokens,
        "seed": target.seed,
    }
    return Treatment(
        provider=target.provider,
        model=target.model_id,
        system=target.system,
        system_fingerprint=system_fingerprint(target.system),
        settings={name: str(value) for name, value in settings.items() if value is not None},
        trials=trials,
        provider_type=target.entry.type,
    )


def _with_concurrency(workspace: WorkspaceFile, options: RunOptions) -> WorkspaceFile:
    """Let --concurrency stand in for the limit of every provider, for this run."""
    if options.concurrency is None:
        return workspace
    update = {"concurrency": options.concurrency}
    return workspace.model_copy(
        update={
            "providers": {
                name: entry.model_copy(update=update) for name, entry in workspace.providers.items()
            }
        }
    )
