"""Entries of `retrievers`: each type, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import ValidationError

from evalcli.declarations.retriever import (
    FilesCorpus,
    HybridEntry,
    LexicalEntry,
    PluginEntry,
    RunFileEntry,
    SizeChunks,
    VectorEntry,
    parse_retriever_entry,
)
from evalcli.declarations.scalars import SourceScalar

CORPUS = {"jsonl": "corpus.jsonl"}


def test_the_entries_of_the_manual_are_read() -> None:
    lexical = parse_retriever_entry(
        {
            "type": "lexical",
            "corpus": {"files": "docs/**/*.md", "chunk": "heading"},
            "language": "german",
        }
    )
    dense = parse_retriever_entry(
        {"type": "vector", "corpus": CORPUS, "model": "text-embedding-3-small"}
    )
    both = parse_retriever_entry({"type": "hybrid", "parts": ["handbook", "dense"]})
    frozen = parse_retriever_entry(
        {"type": "run_file", "path": "runs/bm25.trec", "revisions": {"corpus": "r41"}}
    )

    assert isinstance(lexical, LexicalEntry)
    assert isinstance(lexical.corpus, FilesCorpus)
    assert (lexical.corpus.files, lexical.stop_words) == (("docs/**/*.md",), "keep")
    assert isinstance(dense, VectorEntry)
    assert isinstance(both, HybridEntry)
    assert both.k == 60
    assert isinstance(frozen, RunFileEntry)
    assert frozen.revisions.corpus == "r41"


def test_scalars_of_a_file_are_taken_by_the_type_of_the_field() -> None:
    entry = parse_retriever_entry(
        {
            "type": SourceScalar("lexical", "lexical"),
            "corpus": {"jsonl": SourceScalar("007", 7)},
            "min_score": SourceScalar("0.50", 0.5),
            "revisions": {"corpus": SourceScalar("2026-11", "2026-11")},
        }
    )

    assert isinstance(entry, LexicalEntry)
    assert entry.min_score == Decimal("0.50")
    assert entry.revisions.corpus == "2026-11"


def test_sizes_of_chunks_are_read() -> None:
    entry = parse_retriever_entry(
        {
            "type": "lexical",
            "corpus": {"files": ["a/*.md", "b/*.md"], "chunk": {"size": 800, "overlap": 100}},
        }
    )

    assert isinstance(entry, LexicalEntry)
    assert isinstance(entry.corpus, FilesCorpus)
    assert entry.corpus.chunk == SizeChunks(size=800, overlap=100)


def test_an_entry_of_another_type_keeps_its_options() -> None:
    entry = parse_retriever_entry({"type": "acme", "index": "main", "min_score": 0.5})

    assert isinstance(entry, PluginEntry)
    assert entry.options == {"index": "main"}
    assert entry.min_score == Decimal("0.5")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "Field required"),
        ({"type": "lexical"}, "Field required"),
        ({"type": "lexical", "corpus": {"file": "x"}}, "not permitted"),
        ({"type": "lexical", "corpus": CORPUS, "language": "klingon"}, "'none', 'arabic'"),
        ({"type": "lexical", "corpus": CORPUS, "stop_words": "drop"}, "has no list"),
        ({"type": "lexical", "corpus": {"files": "../x/*.md"}}, "inside the workspace"),
        ({"type": "lexical", "corpus": {"files": "/etc/*"}}, "inside the workspace"),
        ({"type": "lexical", "corpus": {"files": "."}}, "names no file"),
        ({"type": "lexical", "corpus": {"files": "docs/*.md", "exclude": "./"}}, "names no file"),
        ({"type": "lexical", "corpus": {"files": "docs/**.md"}}, "between slashes"),
        ({"type": "lexical", "corpus": {"files": []}}, "at least 1 item"),
        (
            {"type": "lexical", "corpus": {"files": "*.md", "chunk": {"size": 100, "overlap": 51}}},
            "more than half",
        ),
        ({"type": "lexical", "corpus": CORPUS, "revisions": {"index": "x"}}, "not permitted"),
        ({"type": "lexical", "corpus": CORPUS, "corpus_change": "ignore"}, "'compare'"),
        ({"type": "lexical", "corpus": CORPUS, "timeout_s": 0}, "greater than 0"),
        ({"type": "vector", "corpus": CORPUS}, "Field required"),
        ({"type": "hybrid", "parts": ["a"]}, "at least 2 items"),
        ({"type": "hybrid", "parts": ["a", "a"]}, "twice"),
        ({"type": "http", "url": "ftp://x/y"}, "no address"),
        ({"type": "http", "url": "https://user:pass@x/y"}, "never stands in a file"),
        ({"type": "http", "url": "https://x/y#z"}, "no address"),
        ({"type": "python", "callable": "acme.search"}, "names no callable"),
        ({"type": "python", "callable": "acme.search:"}, "names no callable"),
    ],
)
def test_what_cannot_work_is_refused(raw: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse_retriever_entry(raw)

    assert said in str(caught.value)


def test_a_literal_secret_in_a_header_is_refused_without_repeating_it() -> None:
    raw = {"type": "http", "url": "https://x/y", "headers": {"Authorization": "Bearer abc-123"}}

    with pytest.raises(ValidationError) as caught:
        parse_retriever_entry(raw)

    assert "must be a reference" in str(caught.value)
    assert "abc-123" not in str(caught.value)
