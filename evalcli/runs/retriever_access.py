"""The retrievers a workspace declares: opened with all they need, chosen, asked one question."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from evalcli.calls.pipeline import Pipeline
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.retriever import parse_retriever_entries
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import ProviderError, UsageError
from evalcli.records import RetrieverReply, Run
from evalcli.retrieval.opening import (
    DEFAULT_QUESTION_SET,
    DEFAULT_RETRIEVER,
    OpenRetriever,
    RetrieverRoom,
    open_retriever,
)
from evalcli.retrieval.provider_embedder import provider_embedders
from evalcli.retrieval.scoring import MAX_CUTOFF


async def open_declared_retriever(
    stack: AsyncExitStack,
    pipeline: Pipeline,
    retriever: str,
    workspace: WorkspaceFile,
    data_class: DataClass,
    *,
    root: Path,
    environ: Mapping[str, str],
    concurrency: int | None = None,
) -> OpenRetriever:
    """Open a retriever of a workspace; the stack closes it, and then the pipeline."""
    await stack.enter_async_context(pipeline)
    room = RetrieverRoom(
        root=root,
        cache=root / ".evalcli" / "cache",
        environ=environ,
        embedder_for=provider_embedders(pipeline, workspace, data_class),
    )
    entries = parse_retriever_entries(workspace.retrievers)
    opened = open_retriever(retriever, entries, room, concurrency=concurrency)
    stack.push_async_callback(opened.aclose)
    return opened


# --- a question that is in no set -----------------------------------------------------------------


async def ask_question_of(
    retriever: str,
    question: str,
    limit: int,
    *,
    workspace: WorkspaceFile,
    root: Path,
    environ: Mapping[str, str],
) -> RetrieverReply:
    """Ask a retriever one question, for a person to look at; nothing is stored.

    Raises:
        UsageError: the limit is out of range, the question is empty, there is no such retriever, or
            it is a finished run.
        ProviderError: it did not answer.
    """
    if not 1 <= limit <= MAX_CUTOFF:
        raise UsageError(
            f"--limit {limit} is out of range", advice=f"write a number from 1 to {MAX_CUTOFF}"
        )
    if not question.strip():
        raise UsageError("the question is empty", advice="write what is to be searched for")
    pipeline = Pipeline(workspace, root=root, environ=environ)
    async with AsyncExitStack() as stack:
        # What a person types while labelling is taken to be as sensitive as the corpus.
        opened = await open_declared_retriever(
            stack,
            pipeline,
            retriever,
            workspace,
            DataClass.PUBLIC_CONTENT,
            root=root,
            environ=environ,
        )
        if opened.is_finished_run:
            raise UsageError(
                f"{retriever} answers the questions of a finished run only, by their ids",
                advice="name a retriever that can be asked anything",
            )
        await opened.prepare()
        result = await opened.show(question, limit)
        if result.ranking is None:
            raise result.error or ProviderError(retriever, f"{retriever} gave no ranking")
        ranked = [document.id for document in result.ranking.documents]
        passages = {
            **opened.find_texts(ranked, question),
            **{one.id: one.text for one in result.ranking.documents if one.text},
        }
        return RetrieverReply(retriever, question, result.ranking, passages, opened.notes)


# --- what is meant where nothing is named ---------------------------------------------------------


def choose_names(
    set_identifier: str | None,
    retriever: str | None,
    declared: Collection[str],
    resumed: Run | None,
) -> tuple[str, str]:
    """Choose set and retriever: as named, else the resumed run's, else what can only be meant.

    The built-in set is about the built-in retriever's corpus.

    Raises:
        UsageError: a set alone is named, and not exactly one retriever is declared.
    """
    if resumed is not None:
        return set_identifier or resumed.set_identifier, retriever or resumed.target
    chosen = set_identifier or DEFAULT_QUESTION_SET
    if retriever is not None:
        return chosen, retriever
    if chosen == DEFAULT_QUESTION_SET:
        return chosen, DEFAULT_RETRIEVER
    if len(declared) == 1:
        return chosen, next(iter(declared))
    if not declared:
        raise UsageError(
            f"no retriever is named for {chosen}, and evalcli.yaml declares none",
            advice="declare one under `retrievers`, and name it: "
            f"`evalcli eval retrieval {chosen} NAME`",
        )
    raise UsageError(
        f"no retriever is named for {chosen}, and several are declared",
        advice=f"name one of {', '.join(declared)}",
    )
