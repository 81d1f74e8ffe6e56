"""Runs of golden question sets, and single questions to a retriever."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalcli.api.event_loop import run_async
from evalcli.api.run_surroundings import run_setting
from evalcli.api.workspaces import history_of, open_workspace, workspace_root
from evalcli.loading.catalog import Catalog
from evalcli.records import RetrieverReply, RunOutcome
from evalcli.runs.retrieval_options import RetrievalOptions
from evalcli.runs.retrieval_run import run_question_set
from evalcli.runs.retriever_access import ask_question_of, choose_names
from evalcli.runs.run import Listener


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
    with history_of(loaded) as history:
        resumed = None if given.resume is None else history.find_run(given.resume)
        identifier, name = choose_names(set_identifier, retriever, loaded.file.retrievers, resumed)
        question_set = catalog.find_question_set(identifier)
        setting = run_setting(loaded, catalog, history, listeners)
        return run_async(run_question_set(question_set, name, given, setting))


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
    return run_async(
        ask_question_of(
            retriever,
            question,
            limit,
            workspace=loaded.file,
            root=workspace_root(loaded),
            environ=os.environ,
        )
    )
