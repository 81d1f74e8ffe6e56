"""Decisions by a profile, one or many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from evalcli.api.event_loop import run_async
from evalcli.api.workspaces import history_of, open_workspace, utc_now, workspace_root
from evalcli.decisions.batch import BatchOrder
from evalcli.decisions.batch import decide_batch as perform_batch
from evalcli.decisions.deciding import DecisionSetting, decide_once
from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.errors import UsageError
from evalcli.loading.catalog import Catalog, LoadedWorkspace
from evalcli.records import (
    BatchOutcome,
    BatchProgress,
    CallRetried,
    DecisionRequest,
    JudgedDecision,
    Subject,
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
    on_retry: Callable[[CallRetried], None] | None = None,
) -> JudgedDecision:
    """Ask a profile's questions about a subject, verify the answers, and keep them.

    `profile` is an identifier, or a profile that is declared nowhere. `require` holds thresholds
    such as `supported>=0.8`; whether they hold is in the result, and raises nothing. `on_retry` is
    told of every failed try that another one follows.

    Raises:
        DecisionError: there is no decision; `code` says why, and the cause is chained.
        UsageError, ConfigurationError, DeclarationError: nothing was sent.
        HistoryError: `exit_status` says whether something was sent.
    """
    request = DecisionRequest(profile, subject, configuration, _read_data_class(data_class))
    loaded = open_workspace(workspace)
    with _decision_setting(loaded, is_stored=is_stored, on_retry=on_retry) as setting:
        return run_async(decide_once(request, setting, require=require))


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
    on_retry: Callable[[CallRetried], None] | None = None,
) -> BatchOutcome:
    """Decide about every subject of a JSONL file, and write one result a line, in order.

    The whole file is checked first. Where `output` has lines of the same batch already, it goes on
    after them. A line that failed is `{"error": {"code": ...}}`. `listener` is told how far it is,
    `on_retry` of every failed try that another one follows.

    Raises:
        DeclarationError: lines of `source` cannot be used; nothing was sent.
        DecisionError, UsageError, ConfigurationError: nothing was sent.
        InterruptedRunError: SIGINT or SIGTERM; the lines that are written stay.
    """
    order = BatchOrder(
        profile, source, output, configuration, _read_data_class(data_class), require, concurrency
    )
    loaded = open_workspace(workspace)
    with _decision_setting(loaded, is_stored=is_stored, on_retry=on_retry) as setting:
        return run_async(perform_batch(order, setting, listener=listener))


def _read_data_class(name: str | DataClass | None) -> DataClass | None:
    try:
        return None if name is None else DataClass(name)
    except ValueError as exc:
        raise UsageError(
            f'"{name}" is no class of data', advice=f"known: {', '.join(DataClass)}"
        ) from exc


@contextmanager
def _decision_setting(
    loaded: LoadedWorkspace,
    *,
    is_stored: bool,
    on_retry: Callable[[CallRetried], None] | None,
) -> Iterator[DecisionSetting]:
    path = workspace_root(loaded) / loaded.file.history.path
    # What is not stored makes no history; one that is there still knows the profile's versions.
    has_history = is_stored or path.exists()
    with history_of(loaded) if has_history else nullcontext() as history:
        yield DecisionSetting(
            workspace=loaded.file,
            root=workspace_root(loaded),
            environ=os.environ,
            find_profile=Catalog(loaded).find_profile,
            now=utc_now,
            history=history,
            is_stored=is_stored,
            on_retry=on_retry,
        )
