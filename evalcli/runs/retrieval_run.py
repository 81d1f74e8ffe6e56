"""One run of a golden question set against a retriever, from options to outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evalcli.calls.pipeline import Pipeline
from evalcli.calls.trust import more_sensitive
from evalcli.declarations.question_set import GoldenQuestion, QuestionSet
from evalcli.declarations.resolution import known_names
from evalcli.declarations.scalars import cite
from evalcli.errors import (
    ConfigurationError,
    DeclarationError,
    InterruptedRunError,
    ProviderError,
    UsageError,
)
from evalcli.records import (
    CallRecord,
    PlannedPrompt,
    Run,
    RunOutcome,
    RunPreparing,
    RunStatus,
    Treatment,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
    request_sha256,
)
from evalcli.reports.number_words import count, money
from evalcli.retrieval.call_ledger import collected_calls, sum_calls
from evalcli.retrieval.opening import (
    OpenRetriever,
)
from evalcli.retrieval.scoring import (
    DEFAULT_CUTOFFS,
    YARDSTICK,
    check_cutoffs,
    describe_cutoffs,
    find_unknown_documents,
    grade_question,
    question_fingerprints,
)
from evalcli.runs.finish import ChosenBaseline, find_named_baseline, finish_run
from evalcli.runs.resume import check_resumable, check_unchanged, resumed_run
from evalcli.runs.retrieval_options import (
    RetrievalOptions,
    check_retrieval_options,
    read_retrieval_limits,
    resumed_retrieval_options,
    stored_retrieval_options,
)
from evalcli.runs.retrieval_outcome import align_labels
from evalcli.runs.retriever_access import open_declared_retriever
from evalcli.runs.run import RunStack, conduct_run, was_interrupted
from evalcli.runs.setting import RunSetting, history_listener, retry_listener

_NAMED_AT_MOST = 5
_PASSAGES_AT_MOST = 100
"""Pieces of documents that are looked up to be shown; a report lists no more by itself."""


@dataclass(frozen=True, slots=True)
class PreparedQuestions:
    """A run of questions that has passed every check.

    `questions` are those to be asked now, `chosen` all of the run. `done` counts those that an
    earlier session measured.
    """

    run: Run
    opened: OpenRetriever
    cutoffs: tuple[int, ...]
    chosen: tuple[GoldenQuestion, ...]
    questions: tuple[GoldenQuestion, ...]
    named_baseline: ChosenBaseline | None
    done: int = 0
    is_resumed: bool = False


async def run_question_set(
    question_set: QuestionSet, retriever: str, options: RetrievalOptions, setting: RunSetting
) -> RunOutcome:
    """Ask a golden question set of a retriever, or resume a run of it, and compare it.

    Raises:
        UsageError, ConfigurationError, DeclarationError: before any question was asked.
        ProviderError: the retriever could not be prepared; no run was stored.
        HistoryError: the history failed; `exit_status` says whether something was asked.
        InterruptedRunError: the run was cancelled; what was measured is kept.
    """
    history = setting.history
    async with RunStack() as stack:
        stored = None if options.resume is None else history.find_run(options.resume)
        run_id = history.new_run_id() if stored is None else stored.run_id
        # Held before it is read: what another process still adds to it would be asked twice.
        stack.enter_context(history.hold_run(run_id))
        if stored is not None:
            stored = history.find_run(run_id)
            check_resumable(stored, question_set.identifier, "retrieval")
            options = resumed_retrieval_options(options, stored.options)
        check_retrieval_options(options)
        pipeline = Pipeline(
            setting.workspace,
            root=setting.root,
            environ=setting.environ,
            on_retry=retry_listener(setting.listeners),
        )
        opened = await open_declared_retriever(
            stack,
            pipeline,
            retriever,
            setting.workspace,
            question_set.data_class,
            root=setting.root,
            environ=setting.environ,
            concurrency=options.concurrency,
        )
        prepared = prepare_questions(question_set, opened, options, setting, run_id, stored)
        notes = await _prepare_retriever(prepared, setting)
        is_interrupted = await _perform(prepared, setting, notes)
        trials = history.load_trials(run_id)
        passages, unread = _find_passages(opened, trials)
        outcome = finish_run(
            prepared.run,
            trials,
            history,
            finished_at=setting.now(),
            branch=setting.workspace.eval.baseline_branch,
            named=prepared.named_baseline,
            is_interrupted=is_interrupted,
            notes=(*notes, *_unknown_documents(opened, trials), *unread),
            align=partial(
                align_labels,
                questions=prepared.chosen,
                run=prepared.run,
                corpus=opened.benchmark_corpus,
            ),
        )
        known = opened.document_ids
        documents = None if known is None else len(known)
        outcome = replace(outcome, documents=documents, passages=passages)
    if is_interrupted and outcome.run.is_interrupted:
        raise InterruptedRunError(
            f"interrupted: run {run_id} keeps {outcome.summary.measured} of "
            f"{len(outcome.run.plan)} questions",
            run_id=run_id,
            advice=f"go on with `{outcome.run.resume_command}`",
        )
    return outcome


def prepare_questions(
    question_set: QuestionSet,
    opened: OpenRetriever,
    options: RetrievalOptions,
    setting: RunSetting,
    run_id: str,
    stored: Run | None,
) -> PreparedQuestions:
    """Check everything that can be checked before the first question.

    `stored` is the run to be resumed, None for a new one.
    """
    cutoffs = check_cutoffs(options.cutoffs or DEFAULT_CUTOFFS)
    limits, workspace_limits = read_retrieval_limits(options, setting.workspace.eval)
    chosen = _choose_questions(question_set, options.only)
    corpus = opened.benchmark_corpus
    run = Run(
        run_id=run_id,
        kind="questions",
        set_identifier=question_set.identifier,
        set_name=question_set.name,
        target=opened.name,
        grader=YARDSTICK,
        grader_kind=YARDSTICK,
        status=RunStatus.RUNNING,
        started_at=setting.now(),
        plan=tuple(PlannedPrompt(one.id, question_fingerprints(one, corpus)) for one in chosen),
        treatment=_treatment(opened, cutoffs),
        data_class=more_sensitive(question_set.data_class, opened.entry.data_class).value,
        is_draft=options.is_draft,
        is_partial=bool(options.only),
        limits=limits,
        workspace_limits=workspace_limits,
        options=stored_retrieval_options(options),
        baseline_as_of=setting.history.newest_baseline_id(),
        baseline_source=options.baseline or "current",
        evalcli_version=setting.evalcli_version,
        git=setting.git,
    )
    # A named baseline that is missing or of another set is found out before anything is asked.
    named = find_named_baseline(run, setting.history)
    prepared = PreparedQuestions(run, opened, cutoffs, chosen, chosen, named)
    return prepared if stored is None else _resumed(stored, prepared, setting)


def _resumed(stored: Run, prepared: PreparedQuestions, setting: RunSetting) -> PreparedQuestions:
    now = prepared.run
    if stored.target != now.target:
        raise UsageError(
            f"run {stored.run_id} is of the retriever {stored.target}",
            advice=f"write `{stored.resume_command}`",
        )
    check_unchanged(stored, now)
    trials = setting.history.load_trials(stored.run_id)
    done = {trial.prompt_id for trial in trials if trial.state is TrialState.GRADED}
    return replace(
        prepared,
        run=resumed_run(stored, now),
        questions=tuple(one for one in prepared.chosen if one.id not in done),
        done=len(done),
        is_resumed=True,
    )


def _choose_questions(question_set: QuestionSet, only: Sequence[str]) -> tuple[GoldenQuestion, ...]:
    by_id = {question.id: question for question in question_set.questions}
    for question_id in only:
        if question_id not in by_id:
            raise UsageError(
                f"{question_set.identifier} has no question {cite(question_id)}",
                advice=known_names(by_id, question_id),
            )
    return tuple(one for one in question_set.questions if not only or one.id in only)


def _treatment(opened: OpenRetriever, cutoffs: Sequence[int]) -> Treatment:
    """Name what is tried out; the corpus beside it, so that another one is told by its revision."""
    settings = {
        "type": opened.entry.type,
        **opened.provenance,
        "k": describe_cutoffs(cutoffs),
    }
    if opened.entry.min_score is not None:
        settings["min_score"] = f"{opened.entry.min_score:f}"
    return Treatment(settings=settings)


async def _prepare_retriever(prepared: PreparedQuestions, setting: RunSetting) -> tuple[str, ...]:
    """Build what the questions need; give what a person should know before the first one."""
    opened = prepared.opened
    for listener in setting.listeners:
        listener(RunPreparing(f"preparing {opened.name}"))
    with collected_calls() as calls:
        await opened.prepare()
    return (*opened.notes, *_embedding_note(calls), *opened.check_questions(prepared.chosen))


def _embedding_note(calls: Sequence[CallRecord]) -> tuple[str, ...]:
    """Say what it took to embed the corpus, where a provider was asked for it."""
    call = sum_calls(calls)
    if call is None:
        return ()
    tokens = call.usage.input_tokens
    facts = [
        count(len(calls), "request"),
        "tokens unknown" if tokens is None else f"{tokens:,} tokens",
        "cost unknown" if call.cost_usd is None else money(call.cost_usd),
    ]
    return (f"the corpus was embedded by {call.provider}: {', '.join(facts)}; vectors are kept",)


async def _perform(
    prepared: PreparedQuestions, setting: RunSetting, notes: tuple[str, ...]
) -> bool:
    """Ask all questions; tell whether the run was interrupted."""

    async def perform(question: GoldenQuestion) -> Trial:
        return await ask_question(question, prepared, setting)

    listeners = (
        history_listener(setting.history, is_resumed=prepared.is_resumed),
        *setting.listeners,
    )
    return await was_interrupted(
        conduct_run(
            prepared.run,
            prepared.questions,
            perform,
            listeners,
            concurrency=prepared.opened.concurrency,
            done=prepared.done,
            notes=notes,
        )
    )


async def ask_question(
    question: GoldenQuestion, prepared: PreparedQuestions, setting: RunSetting
) -> Trial:
    """Ask one question and grade its ranking; every failure of a retriever becomes a value."""
    result = await prepared.opened.ask(question, prepared.cutoffs)
    asked = request_sha256(None, question.question)
    if result.ranking is None:
        return Trial(
            question.id,
            trial=0,
            state=TrialState.UNMEASURED,
            error=_trial_error(prepared.opened.name, result.error, result.call),
            call=result.call,
            finished_at=setting.now(),
            request_sha256=asked,
        )
    return Trial(
        question.id,
        trial=0,
        state=TrialState.GRADED,
        grade=grade_question(question, result.ranking, prepared.cutoffs),
        call=result.call,
        finished_at=setting.now(),
        ranking=result.ranking,
        request_sha256=asked,
    )


def _trial_error(name: str, error: ProviderError | None, call: CallRecord | None) -> TrialError:
    if error is None:
        return TrialError(UnmeasuredCause.EMPTY, f"{name} gave no ranking", provider=name)
    # The tries of a call through the pipeline stand in the call's own record.
    tries = f" ({error.tries} tries)" if error.tries > 1 and call is None else ""
    return TrialError(
        UnmeasuredCause.PROVIDER, f"{error}{tries}", provider=error.provider, status=error.status
    )


def _unknown_documents(opened: OpenRetriever, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Name documents that came back and are not in the corpus; its ids are not what they seem."""
    known = opened.document_ids
    if known is None:
        return ()
    rankings = [trial.ranking for trial in trials if trial.ranking is not None]
    unknown = find_unknown_documents(rankings, known)
    if not unknown:
        return ()
    named = [f"{cite(one)} ({count(times, 'time')})" for one, times in unknown.items()]
    more = len(named) - _NAMED_AT_MOST
    what = (
        "1 document that was returned is"
        if len(named) == 1
        else (f"{len(named)} documents that were returned are")
    )
    rest = f" and {more} more" if more > 0 else ""
    return (f"{what} not in the corpus: {', '.join(named[:_NAMED_AT_MOST])}{rest}",)


def _find_passages(
    opened: OpenRetriever, trials: Sequence[Trial]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Find pieces of what came first by mistake; a corpus that went meanwhile is only noted.

    The questions were asked, so that what they showed is kept whatever became of the corpus.
    """
    wrong = dict.fromkeys(
        trial.ranking.documents[0].id
        for trial in trials
        if trial.ranking is not None and trial.ranking.documents
        if trial.grade is not None and not trial.grade.passed
    )
    if not wrong:
        return {}, ()
    try:
        return opened.find_texts(list(wrong)[:_PASSAGES_AT_MOST]), ()
    except (ConfigurationError, DeclarationError) as exc:
        return {}, (f"what came back cannot be shown: {exc}",)
