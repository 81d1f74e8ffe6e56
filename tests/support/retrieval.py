"""Builders for retrieval tests: questions, corpora in a folder, retrievers opened from entries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalcli.declarations.question_set import Form, GoldenQuestion
from evalcli.declarations.retriever import RetrieverEntry, parse_retriever_entry
from evalcli.records import Ranking, RetrievedDocument
from evalcli.retrieval.opening import EmbedderFactory, OpenRetriever, RetrieverRoom, open_retriever

CUTOFFS = (1, 3, 5, 10)


def make_question(
    identifier: str = "q1",
    *,
    question: str = "When is the office open?",
    expected: Sequence[str] | Mapping[str, int] = ("doc-a",),
    form: Form = Form.MATCH,
    hard_class: str | None = None,
) -> GoldenQuestion:
    """Make a labelled question."""
    return GoldenQuestion(
        id=identifier,
        question=question,
        form=form,
        expected=dict(expected) if isinstance(expected, Mapping) else tuple(expected),
        hard_class=hard_class,
    )


def make_ranking(*identifiers: str) -> Ranking:
    """Make a ranking of distinct documents."""
    documents = tuple(RetrievedDocument(one) for one in identifiers)
    return Ranking(documents, returned=len(documents))


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write a JSONL file; gzipped where its name ends in .gz."""
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    data = text.encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def write_documents(root: Path, documents: Mapping[str, str], name: str = "corpus.jsonl") -> Path:
    """Write a corpus of id → text."""
    return write_jsonl(root / name, ({"id": one, "text": text} for one, text in documents.items()))


def make_entries(declared: Mapping[str, object]) -> dict[str, RetrieverEntry]:
    """Make the models of a workspace's `retrievers`."""
    return {name: parse_retriever_entry(raw) for name, raw in declared.items()}


def open_declared(
    root: Path,
    entry: Mapping[str, object],
    *,
    others: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    embedder_for: EmbedderFactory | None = None,
) -> OpenRetriever:
    """Open one retriever, called `site`, as a workspace in `root` declares it."""
    room = RetrieverRoom(
        root=root,
        cache=root / ".evalcli" / "cache",
        environ=environ or {},
        embedder_for=embedder_for,
    )
    return open_retriever("site", make_entries({"site": entry, **(others or {})}), room)
