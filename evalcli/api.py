"""All that evalcli does, as plain functions. They print nothing and return records.

Each function finds the workspace as the command line does (`workspace`, else
`EVALCLI_WORKSPACE`, else the nearest folder upwards from the current one with `evalcli.yaml`,
else the built-in defaults) and raises an `EvalcliError` that a person can act on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from evalcli import __version__
from evalcli.comparison.baseline_move import accept_run
from evalcli.comparison.gate import compare_run, exit_status_of, judge_run
from evalcli.comparison.summary import summarize_trials
from evalcli.decisions.batch import BatchOrder
from evalcli.decisions.batch import decide_batch as perform_batch
from evalcli.decisions.deciding import DecisionSetting, decide_once
from evalcli.decisions.profile_memory import (
    ProfileComparison,
    compare_with_stored,
    split_profile_name,
)
from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.errors import DeclarationError, UsageError
from evalcli.history.store import History
from evalcli.importers.imported import WrittenImport
from evalcli.importers.importing import ImportForm, ImportOptions, import_source
from evalcli.loading.catalog import (
    Catalog,
    Listing,
    LoadedWorkspace,
    Shelf,
    ValidationReport,
    find_workspace,
    load_workspace,
    validate_declarations,
)
from evalcli.loading.schema import declaration_schema as build_schema
from evalcli.loading.starter import write_starter
from evalcli.plugins import BUILTIN, plugin_names
from evalcli.providers.local_models import fetch_model
from evalcli.records import (
    Baseline,
    BaselineMove,
    BatchOutcome,
    BatchProgress,
    DecisionRequest,
    GateLimits,
    JudgedDecision,
    PruneReport,
    RetrieverReply,
    Run,
    RunEvent,
    RunListing,
    RunOutcome,
    RunStatus,
    StoredProfile,
    Subject,
)
from evalcli.runs.finish import baseline_of_stored_run
from evalcli.runs.git_state import read_git_state
from evalcli.runs.options import RunOptions
from evalcli.runs.prompt_run import run_prompt_set
from evalcli.runs.regrade import regrade_stored_run
from evalcli.runs.retrieval_options import RetrievalOptions
from evalcli.runs.retrieval_outcome import add_rank_changes, summarize_questions
from evalcli.runs.retrieval_run import run_question_set
from evalcli.runs.retriever_access import ask_question_of, choose_names
from evalcli.runs.setting import RunSetting

__all__ = [
    "ImportOptions",
    "RetrievalOptions",
    "RunOptions",
    "accept_baseline",
    "ask_retriever",
    "compare_stored_runs",
    "current_baseline",
    "decide",
    "decide_batch",
    "exit_status_of",
    "export_run",
    "fetch_model",
    "import_set",
    "list_runs",
    "open_history",
    "prune_history",
    "regrade_run",
    "run_prompts",
    "run_retrieval",
    "show_run",
]

ResultT = TypeVar("ResultT")
Listener = Callable[[RunEvent], None]

_MAX_LISTED = 1_000_000


# --- workspace --------------------------------------------------------------------------------


def open_workspace(workspace: Path | None = None) -> LoadedWorkspace:
    """Find and read the workspace.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        DeclarationError: `evalcli.yaml` has faults.
    """
    return load_workspace(workspace, os.environ, _current_folder())


def open_catalog(workspace: Path | None = None) -> Catalog:
    """Read all declarations the workspace can see; broken ones are set aside, not raised."""
    return Catalog(open_workspace(workspace))


def workspace_root(loaded: LoadedWorkspace) -> Path:
    """Find the folder that paths are relative to: the workspace, else the current one."""
    return loaded.root if loaded.root is not None else _current_folder()


@contextmanager
def open_history(workspace: Path | None = None) -> Iterator[History]:
    """Open the history of a workspace, making it where there is none.

    Raises:
        HistoryError: it cannot be opened, or is from a newer evalcli.
    """
    loaded = open_workspace(workspace)
    with _history_of(loaded) as history:
        yield history


def _history_of(loaded: LoadedWorkspace) -> History:
    settings = loaded.file.history
    return History.open(workspace_root(loaded) / settings.path, content=settings.content)


# --- runs -------------------------------------------------------------------------------------


def run_prompts(
    set_identifier: str,
    options: RunOptions | None = None,
    *,
    workspace: Path | None = None,
    listeners: Sequence[Listener] = (),
) -> RunOutcome:
    """Run a golden prompt set, grade it, store it and compare it with its baseline.

    Every graded answer is committed before a listener hears of it. `exit_status_of(outcome)`
    gives what the command line would end with.

    Raises:
        UsageError, ConfigurationError, DeclarationError, TrustZoneError: nothing was sent.
        HistoryError: `exit_status` says whether something was sent.
        InterruptedRunError: SIGINT or SIGTERM; what was measured is kept.
    """
    loaded = open_workspace(workspace)
    catalog = Catalog(loaded)
    prompt_set = catalog.find_prompt_set(set_identifier)
    with _history_of(loaded) as history:
        setting = _run_setting(loaded, catalog, history, listeners)
        return _run_async(run_prompt_set(prompt_set, options or RunOptions(), setting))


def regrade_run(
    run: str,
    options: RunOptions | None = None,
    *,
    workspace: Path | None = None,
    listeners: Sequence[Listener] = (),
) -> RunOutcome:
    """Grade the stored answers of a run again, asking no model for an answer; store a new run.

    `run` is an id, a unique prefix, or `latest`. Of `options`, the grader, its configuration and
    the gate count; without a grader it is the stored run's.

    Raises:
        UsageError: no such run, no texts of it, or its prompts are not declared any more.
        DecisionError, ConfigurationError: the judge cannot be asked; nothing was sent.
    """
    loaded = open_workspace(workspace)
    catalog = Catalog(loaded)
    with _history_of(loaded) as history:
        source = history.find_run(run)
        prompt_set = catalog.find_prompt_set(source.set_identifier)
        setting = _run_setting(loaded, catalog, history, listeners)
        return _run_async(regrade_stored_run(source, prompt_set, options or RunOptions(), setting))


def run_retrieval(
    set_identifier: str | None = None,
    retriever: str | None = None,
    options: RetrievalOptions | None = None,
    *,
    workspace: Path | None = None,
    listeners: Sequence[Listener] = (),
) -> RunOutcome:
    """Ask a golden question set of a retriever, score it, store it and compare it.

    Without names, the built-in set is asked of the built-in retriever; a set alone is asked of
    the only retriever that is declared; with `options.resume`, what the run was made of counts.

    Raises:
        UsageError, ConfigurationError, DeclarationError, TrustZoneError: nothing was asked.
        ProviderError: the retriever could not be prepared; no run was stored.
        HistoryError: `exit_status` says whether something was asked.
        InterruptedRunError: SIGINT or SIGTERM; what was measured is kept.
    """
    given = options or RetrievalOptions()
    loaded = open_workspace(workspace)
    catalog = Catalog(loaded)
    with _history_of(loaded) as history:
        resumed = None if given.resume is None else history.find_run(given.resume)
        identifier, name = choose_names(set_identifier, retriever, loaded.file.retrievers, resumed)
        question_set = catalog.find_question_set(identifier)
        setting = _run_setting(loaded, catalog, history, listeners)
        return _run_async(run_question_set(question_set, name, given, setting))


def ask_retriever(
    retriever: str, question: str, *, limit: int = 10, workspace: Path | None = None
) -> RetrieverReply:
    """Ask a retriever one question, for a person to look at; nothing is stored.

    Units: at most `limit` distinct documents come back.

    Raises:
        UsageError, ConfigurationError, DeclarationError, TrustZoneError: it was not asked.
        ProviderError: it did not answer.
    """
    loaded = open_workspace(workspace)
    return _run_async(
        ask_question_of(
            retriever,
            question,
            limit,
            workspace=loaded.file,
            root=workspace_root(loaded),
            environ=os.environ,
        )
    )


def decide(
    profile: str | Profile,
    subject: Subject,
    *,
    configuration: str | None = None,
    data_class: str | DataClass | None = None,
    require: Sequence[str] = (),
    is_stored: bool = True,
    workspace: Path | None = None,
) -> JudgedDecision:
    """Ask a profile's questions about a subject, verify the answers, and keep them.

    `profile` is an identifier, or a profile that is declared nowhere. `require` holds thresholds
    such as `supported>=0.8`; whether they hold is in the result, and raises nothing.

    Raises:
        DecisionError: there is no decision; `code` says why, and the cause is chained.
        UsageError, ConfigurationError, DeclarationError: nothing was sent.
        HistoryError: `exit_status` says whether something was sent.
    """
    request = DecisionRequest(profile, subject, configuration, _read_data_class(data_class))
    loaded = open_workspace(workspace)
    with _decision_setting(loaded, is_stored=is_stored) as setting:
        return _run_async(decide_once(request, setting, require=require))


def decide_batch(
    profile: str | Profile,
    source: Path,
    output: Path,
    *,
    configuration: str | None = None,
    data_class: str | DataClass | None = None,
    require: Sequence[str] = (),
    concurrency: int | None = None,
    is_stored: bool = True,
    workspace: Path | None = None,
    listener: Callable[[BatchProgress], None] | None = None,
) -> BatchOutcome:
    """Decide about every subject of a JSONL file, and write one result a line, in order.

    The whole file is checked first. Where `output` has lines of the same batch already, it goes on
    after them. A line that failed is `{"error": {"code": ...}}`.

    Raises:
        DeclarationError: lines of `source` cannot be used; nothing was sent.
        DecisionError, UsageError, ConfigurationError: nothing was sent.
        InterruptedRunError: SIGINT or SIGTERM; the lines that are written stay.
    """
    order = BatchOrder(
        profile, source, output, configuration, _read_data_class(data_class), require, concurrency
    )
    loaded = open_workspace(workspace)
    with _decision_setting(loaded, is_stored=is_stored) as setting:
        return _run_async(perform_batch(order, setting, listener=listener))


def _read_data_class(name: str | DataClass | None) -> DataClass | None:
    try:
        return None if name is None else DataClass(name)
    except ValueError as exc:
        raise UsageError(
            f'"{name}" is no class of data', advice=f"known: {', '.join(DataClass)}"
        ) from exc


@contextmanager
def _decision_setting(loaded: LoadedWorkspace, *, is_stored: bool) -> Iterator[DecisionSetting]:
    path = workspace_root(loaded) / loaded.file.history.path
    # What is not stored makes no history; one that is there still knows the profile's versions.
    has_history = is_stored or path.exists()
    with _history_of(loaded) if has_history else nullcontext() as history:
        yield DecisionSetting(
            workspace=loaded.file,
            root=workspace_root(loaded),
            environ=os.environ,
            find_profile=Catalog(loaded).find_profile,
            now=_now,
            history=history,
            is_stored=is_stored,
        )


def _run_setting(
    loaded: LoadedWorkspace, catalog: Catalog, history: History, listeners: Sequence[Listener]
) -> RunSetting:
    root = workspace_root(loaded)
    return RunSetting(
        workspace=loaded.file,
        root=root,
        environ=os.environ,
        history=history,
        git=read_git_state(root, os.environ),
        evalcli_version=__version__,
        now=_now,
        find_profile=catalog.find_profile,
        listeners=tuple(listeners),
    )


def _run_async(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end on an event loop; the first SIGINT or SIGTERM cancels the work.

    The handlers that were there before have the second signal (somebody is in a hurry), and they
    are there again in the end.

    Raises:
        UsageError: this thread runs an event loop already.
        KeyboardInterrupt: the work was cancelled where it could keep nothing.
    """
    if _is_in_event_loop():
        work.close()
        raise UsageError(
            "this is called inside a running event loop",
            advice="call it in a thread: `await asyncio.to_thread(evalcli.run_prompts, ...)`",
        )

    async def guarded() -> ResultT:
        with _cancelled_by_signals(before):
            return await work

    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _SIGNALS} if is_main else {}
    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SignalHandlers = dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None]


@contextmanager
def _cancelled_by_signals(before: _SignalHandlers) -> Iterator[None]:
    """Let the first signal cancel the present task; `before` is put back then, or in the end."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def restore() -> None:
        for number, handler in before.items():
            if loop.remove_signal_handler(number) and handler is not None:
                signal.signal(number, handler)

    def cancel() -> None:
        restore()
        if task is not None:
            task.cancel()

    for number in before:
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        restore()


def _now() -> datetime:
    return datetime.now(UTC)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as exc:
        raise UsageError(
            f"the current folder cannot be used ({exc.strerror or exc})",
            advice="change to a folder that exists",
        ) from exc


# --- history ----------------------------------------------------------------------------------


def list_runs(
    *, set_identifier: str | None = None, limit: int = 20, workspace: Path | None = None
) -> tuple[RunListing, ...]:
    """List stored runs, newest first.

    Raises:
        UsageError: `limit` is not a number from 1 to a million.
    """
    if not 1 <= limit <= _MAX_LISTED:
        raise UsageError(f"limit {limit} is out of range", advice=f"give 1 to {_MAX_LISTED}")
    with open_history(workspace) as history:
        return history.list_runs(set_identifier=set_identifier, limit=limit)


def show_run(run: str, *, workspace: Path | None = None) -> RunOutcome:
    """Read a stored run with its answers, comparison and verdict.

    `run` is an id, a unique prefix, or `latest`.

    Raises:
        UsageError: no such run, or more than one.
    """
    with open_history(workspace) as history:
        return stored_outcome(history, history.find_run(run))


def stored_outcome(history: History, run: Run) -> RunOutcome:
    """Put a stored run together as its report showed it."""
    trials = history.load_trials(run.run_id)
    summary = summarize_trials(run.plan, trials, run.trials)
    stored = history.load_outcome(run.run_id)
    baseline = history.load_baseline(run.baseline_id) if run.baseline_id is not None else None
    if stored is None:
        comparison = compare_run(run, summary, None)
        return RunOutcome(
            run,
            trials,
            summary,
            comparison,
            judge_run(run, summary, comparison),
            baseline,
            retrieval=summarize_questions(run, trials),
        )
    return RunOutcome(
        run=run,
        trials=trials,
        summary=summary,
        comparison=stored.comparison,
        verdict=stored.verdict,
        baseline=baseline,
        baseline_move=stored.baseline_move,
        baseline_note=stored.baseline_note,
        notes=stored.notes,
        retrieval=summarize_questions(run, trials),
    )


def compare_stored_runs(
    before: str, after: str, *, workspace: Path | None = None
) -> tuple[RunOutcome, RunOutcome]:
    """Compare two stored runs of one set; the second outcome's comparison is against the first.

    Raises:
        UsageError: a run is unknown or incomplete, or they are of different sets.
    """
    with open_history(workspace) as history:
        old, new = history.find_run(before), history.find_run(after)
        if old.set_identifier != new.set_identifier:
            raise UsageError(
                f"run {old.run_id} is of {old.set_identifier}, run {new.run_id} of "
                f"{new.set_identifier}",
                advice="compare two runs of one set",
            )
        baseline = baseline_of_stored_run(old, history, source=old.run_id)
        if new.status is not RunStatus.COMPLETE:
            raise UsageError(
                f"run {new.run_id} is incomplete", advice="finish it with --resume first"
            )
        outcome = stored_outcome(history, new)
        run = replace(new, limits=replace(new.limits, fail_on_regression=False))
        comparison = compare_run(run, outcome.summary, baseline)
        comparison = add_rank_changes(comparison, run, outcome.trials, baseline, history)
        compared = RunOutcome(
            run=run,
            trials=outcome.trials,
            summary=outcome.summary,
            comparison=comparison,
            verdict=judge_run(run, outcome.summary, comparison),
            baseline=baseline,
            retrieval=outcome.retrieval,
        )
        return stored_outcome(history, old), compared


def prune_history(
    older_than: timedelta, *, is_dry_run: bool = False, workspace: Path | None = None
) -> PruneReport:
    """Remove runs that are older; never one that a baseline rests on.

    Raises:
        UsageError: the age is negative.
    """
    if older_than < timedelta(0):
        raise UsageError("an age cannot be negative", advice="give timedelta(days=90), say")
    now = _now()
    # Older than all time there is: nothing is.
    before = now - min(older_than, now - datetime.min.replace(tzinfo=UTC))
    with open_history(workspace) as history:
        return history.prune(older_than=before, dry_run=is_dry_run)


def export_run(run: str, *, workspace: Path | None = None) -> Iterator[dict[str, object]]:
    """Give a stored run as JSON-able rows: the run first, then its trials."""
    with open_history(workspace) as history:
        yield from history.export_run(history.find_run(run).run_id)


# --- baselines --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A baseline set on purpose, and what was accepted with it."""

    baseline: Baseline
    outcome: RunOutcome
    previous: Baseline | None


def accept_baseline(run: str, *, workspace: Path | None = None) -> Acceptance:
    """Make a stored run the baseline of its series, whatever its drops.

    Raises:
        UsageError: the run is unknown, incomplete, mixed or partial.
    """
    with open_history(workspace) as history:
        stored = history.find_run(run)
        outcome = stored_outcome(history, stored)
        previous = history.find_baseline(stored.set_identifier, stored.target, stored.grader)
        baseline = accept_run(stored, outcome.summary, set_at=_now())
        saved = history.save_baseline(baseline, expected_id=..., how=BaselineMove.ACCEPTED)
        free = replace(stored, limits=GateLimits())
        comparison = compare_run(free, outcome.summary, previous)
        comparison = add_rank_changes(comparison, free, outcome.trials, previous, history)
        return Acceptance(
            baseline=saved if saved is not None else baseline,
            outcome=replace(
                outcome, comparison=comparison, verdict=judge_run(free, outcome.summary, comparison)
            ),
            previous=previous,
        )


def current_baseline(
    set_identifier: str,
    *,
    target: str | None = None,
    grader: str | None = None,
    workspace: Path | None = None,
) -> Baseline:
    """Find the current baseline of a set.

    `target` is the configuration's name, default `eval.configuration`; where that has no baseline
    and the set has exactly one, that one is meant.

    Raises:
        UsageError: there is none, or more than one fits.
    """
    loaded = open_workspace(workspace)
    with _history_of(loaded) as history:
        found = [
            baseline
            for baseline in history.list_baselines(set_identifier)
            if (target is None or baseline.target == target)
            and (grader is None or baseline.grader == grader)
        ]
    if target is None and len(found) > 1:
        preferred = [b for b in found if b.target == loaded.file.eval.configuration]
        found = preferred or found
    if grader is None and len(found) > 1:
        found = [b for b in found if b.grader == "deterministic"] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"{set_identifier} has no such baseline in this history",
            advice=f"the first complete run makes one: `evalcli eval run {set_identifier}`",
        )
    series = ", ".join(f"{b.target} ({b.grader})" for b in found)
    raise UsageError(
        f"{set_identifier} has {len(found)} baselines: {series}",
        advice="choose one with --configuration or --grader",
    )


# --- declarations -----------------------------------------------------------------------------


def open_sets(workspace: Path | None = None) -> Shelf:
    """Read all golden sets; what is set aside is in `faults`. `evalcli.yaml` is not read.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
    """
    cwd = _current_folder()
    return Shelf("sets", root=find_workspace(workspace, os.environ, cwd), cwd=cwd)


def find_set(identifier: str, *, workspace: Path | None = None) -> Listing:
    """Find one golden set of any kind, and where it comes from.

    Raises:
        DeclarationError: it was set aside or withheld; says where and why.
        UsageError: nothing of that name is declared.
    """
    return open_sets(workspace).find_listing(identifier)


def import_set(
    form: ImportForm,
    source: Path,
    options: ImportOptions | None = None,
    *,
    workspace: Path | None = None,
) -> WrittenImport:
    """Write a foreign collection of labelled questions into the workspace, as a set and a corpus.

    `form` is `beir` for a folder with corpus, queries and qrels (or corpus and questions), `csv`
    for a CSV file. Nothing is added to `evalcli.yaml`; what to add is in the result.

    Raises:
        UsageError: an option cannot work, a file is missing, or one to be written is there.
        DeclarationError: the source has faults.
    """
    root = find_workspace(workspace, os.environ, _current_folder()) or _current_folder()
    return import_source(form, source, options or ImportOptions(), root)


def validate_sets(files: Sequence[Path] = (), *, workspace: Path | None = None) -> ValidationReport:
    """Check all golden sets, or the named files and folders; raises no faults, returns them.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        UsageError: a named file does not exist.
    """
    cwd = _current_folder()
    root = find_workspace(workspace, os.environ, cwd)
    return validate_declarations("sets", files, root=root, cwd=cwd)


def open_profiles(workspace: Path | None = None) -> Shelf:
    """Read all decision profiles; as `open_sets`.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
    """
    cwd = _current_folder()
    return Shelf("profiles", root=find_workspace(workspace, os.environ, cwd), cwd=cwd)


def find_profile(identifier: str, *, workspace: Path | None = None) -> Listing:
    """Find one decision profile, and where it comes from.

    Raises:
        DeclarationError: it was set aside or withheld; says where and why.
        UsageError: nothing of that name is declared.
    """
    return open_profiles(workspace).find_listing(identifier)


def validate_profiles(
    files: Sequence[Path] = (), *, workspace: Path | None = None
) -> ValidationReport:
    """Check all decision profiles, or the named files and folders; as `validate_sets`.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`.
        UsageError: a named file does not exist.
    """
    cwd = _current_folder()
    root = find_workspace(workspace, os.environ, cwd)
    return validate_declarations("profiles", files, root=root, cwd=cwd)


def compare_profile(name: str, *, workspace: Path | None = None) -> ProfileComparison:
    """Compare a profile as it is declared with what a version of it was at its first stored use.

    `name` is an identifier, or `identifier@version`; without a version it is the declared one
    where that was used, else the newest that was.

    Raises:
        DeclarationError, UsageError: there is no such profile, or that version was never used.
    """
    identifier, version = split_profile_name(name)
    loaded = open_workspace(workspace)
    declared = Catalog(loaded).find_profile(identifier)
    with _history_of(loaded) as history:
        versions = history.list_profiles(identifier)
    wanted = declared.version if version is None else version
    stored = next((one for one in versions if one.version == wanted), None)
    if stored is None and version is not None:
        raise _never_used(identifier, version, versions)
    if stored is None:
        stored = next(iter(versions), None)
    return compare_with_stored(declared, stored)


def forget_profile(name: str, *, workspace: Path | None = None) -> StoredProfile:
    """Forget what a version of a profile was at its first stored use; gives what it was.

    `name` is `identifier@version`; the profile need not be declared any more.

    Raises:
        UsageError: no version is named, or it was never used.
    """
    identifier, version = split_profile_name(name)
    if version is None:
        raise UsageError(f'"{name}" names no version', advice=f"write {name}@1, for version 1")
    with open_history(workspace) as history:
        stored = history.find_profile(identifier, version)
        if stored is None or not history.forget_profile(identifier, version):
            raise _never_used(identifier, version, history.list_profiles(identifier))
    return stored


def _never_used(identifier: str, version: int, versions: Sequence[StoredProfile]) -> UsageError:
    known = ", ".join(f"{identifier}@{one.version}" for one in versions)
    return UsageError(
        f"the history knows no use of {identifier}@{version}",
        advice=f"known: {known}" if known else "no version of this profile was used yet",
    )


def validate_workspace(workspace: Path | None = None) -> ValidationReport:
    """Check `evalcli.yaml`; of 0 files where there is none.

    Raises:
        ConfigurationError: the named folder has no `evalcli.yaml`, or it cannot be read.
    """
    try:
        loaded = open_workspace(workspace)
    except DeclarationError as error:
        return ValidationReport(files=1, faulty=1, faults=error.faults)
    return ValidationReport(files=0 if loaded.path is None else 1, faulty=0, faults=())


def declaration_schema(name: str) -> dict[str, object]:
    """Give the JSON Schema of `prompt_set`, `question_set`, `profile` or `workspace`."""
    others = set(plugin_names("assertions")) - set(BUILTIN["assertions"])
    return build_schema(name, other_assertions=tuple(sorted(others)))


def init_workspace(folder: Path | None = None) -> tuple[str, ...]:
    """Write a commented workspace; gives the names of the files, relative to the folder.

    Raises:
        UsageError: one of the files exists; nothing was written.
        ConfigurationError: the folder cannot be written.
    """
    return write_starter(folder or _current_folder())
