"""How fast lexical search is beside bm25s, what the bookkeeping costs, how much memory it takes.

    python -m tests.bench.retrieval

Questions are asked one by one, with the same stemmer, stop words kept in both, and the same limit;
both take turns, round by round; a question's time is that of its best round, a figure the mean
over the questions. The collections of `EVALCLI_COLLECTIONS` are measured where there are
any; the synthetic corpus always is: 200,000 documents of 8 to 24 words, drawn from 50,000 words
by the law of Zipf and Mandelbrot, and questions of words of one document.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s  # type: ignore[import-untyped]  # it has no types
import numpy as np
import Stemmer  # type: ignore[import-not-found]  # it has no stubs

from evalcli.declarations.question_set import Form, GoldenQuestion
from evalcli.declarations.retriever import JsonlCorpus
from evalcli.importers.beir import import_beir
from evalcli.retrieval.corpus import open_corpus
from evalcli.retrieval.opening import OpenRetriever
from evalcli.retrieval.scoring import (
    DEFAULT_CUTOFFS,
    check_cutoffs,
    grade_question,
    rank_documents,
    raw_limit,
)
from tests.bench.figures import Figure, show_and_exit
from tests.support.retrieval import open_declared

CUTOFFS = check_cutoffs(DEFAULT_CUTOFFS)
LIMIT = raw_limit(CUTOFFS)
SMALL_LIMIT = 12
DOCUMENTS = 200_000
WORDS = 50_000
ROUNDS = 9
QUESTIONS = 200
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus file below `root`, questions over it, and their language."""

    name: str
    root: Path
    corpus: str
    language: str
    questions: Sequence[GoldenQuestion]

    def open(self) -> OpenRetriever:
        """Open lexical search over it, its index kept beside it."""
        return open_declared(
            self.root,
            {"type": "lexical", "corpus": {"jsonl": self.corpus}, "language": self.language},
        )


def find_collections(root: Path) -> list[Collection]:
    """Give the real collections that are there, and the synthetic one."""
    found = []
    given = os.environ.get("EVALCLI_COLLECTIONS")
    for name, language in (("npl", "english"), ("xquad-de", "german")):
        source = Path(given, name) if given else None
        if source is not None and source.is_dir():
            corpus = next(source.glob("corpus.jsonl*"))
            folder = root / name
            folder.mkdir()
            (folder / corpus.name).symlink_to(corpus)
            questions = import_beir(source).questions[:QUESTIONS]
            found.append(Collection(name, folder, corpus.name, language, questions))
    return [*found, make_synthetic(root / "synthetic")]


def make_synthetic(folder: Path) -> Collection:
    """Write a corpus of made-up words; the same every time."""
    folder.mkdir()
    random = np.random.default_rng(7)
    weights = 1 / (np.arange(1, WORDS + 1) + 2.7)  # Mandelbrot (1953)
    words = np.asarray([f"w{number:x}" for number in range(WORDS)])
    lengths = random.integers(8, 25, DOCUMENTS)
    drawn = words[random.choice(WORDS, lengths.sum(), p=weights / weights.sum())]
    ends = lengths.cumsum()
    with (folder / "corpus.jsonl").open("w", encoding="ascii") as stream:
        for number, (end, length) in enumerate(zip(ends, lengths, strict=True)):
            row = {"id": f"d{number}", "text": " ".join(drawn[end - length : end])}
            stream.write(f"{json.dumps(row)}\n")
    questions = []
    for number in range(QUESTIONS):
        place = int(random.integers(DOCUMENTS))
        own = drawn[ends[place] - lengths[place] : ends[place]]
        text = " ".join(random.choice(own, min(8, len(own)), replace=False))
        questions.append(
            GoldenQuestion(id=f"q{number}", question=text, form=Form.MATCH, expected=(f"d{place}",))
        )
    return Collection("synthetic", folder, "corpus.jsonl", "english", questions)


def index_with_bm25s(collection: Collection) -> Callable[[str, int], object]:
    """Index the same texts with bm25s; gives its search."""
    stemmer = Stemmer.Stemmer(collection.language)
    corpus = open_corpus(JsonlCorpus(jsonl=collection.corpus), collection.root)
    bodies = [passage.body for passage in corpus.read_passages()]
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(bodies, stopwords=[], stemmer=stemmer, show_progress=False),
        show_progress=False,
    )

    def search(question: str, limit: int) -> object:
        terms = bm25s.tokenize([question], stopwords=[], stemmer=stemmer, show_progress=False)
        return index.retrieve(terms, k=limit, show_progress=False)

    return search


async def time_both(
    questions: Sequence[str],
    ours: Callable[[str], Awaitable[object]],
    theirs: Callable[[str], object],
) -> tuple[float, float]:
    """Time both in turns; gives mean seconds a question, of the best round of each question."""
    best = np.full((2, len(questions)), np.inf)
    for _ in range(ROUNDS):
        for number, question in enumerate(questions):
            start = time.perf_counter()
            await ours(question)
            best[0, number] = min(best[0, number], time.perf_counter() - start)
        for number, question in enumerate(questions):
            start = time.perf_counter()
            theirs(question)
            best[1, number] = min(best[1, number], time.perf_counter() - start)
    return float(best[0].mean()), float(best[1].mean())


async def measure_speed(collection: Collection) -> list[Figure]:
    """Compare with bm25s at both limits, and the bookkeeping with the search."""
    opened = collection.open()
    await opened.prepare()
    theirs = index_with_bm25s(collection)
    questions = [question.question for question in collection.questions]
    figures = []
    for limit, most in ((LIMIT, 1.0), (SMALL_LIMIT, 0.7)):
        ours_s, theirs_s = await time_both(
            questions,
            lambda question, limit=limit: opened.retriever.retrieve(question, limit),  # type: ignore[misc]
            lambda question, limit=limit: theirs(question, limit),  # type: ignore[misc]
        )
        note = f"{ours_s * 1e3:.3f} ms, bm25s {theirs_s * 1e3:.3f} ms a question"
        name = f"{collection.name}: lexical to bm25s, limit {limit}"
        figures.append(Figure(name, ours_s / theirs_s, "times", limit=most, note=note))
    return [*figures, await measure_bookkeeping(collection, opened)]


async def measure_bookkeeping(collection: Collection, opened: OpenRetriever) -> Figure:
    """Time all that is done with the results, beside the search that gave them."""
    best = np.full((2, len(collection.questions)), np.inf)
    for _ in range(ROUNDS):
        for number, question in enumerate(collection.questions):
            start = time.perf_counter()
            results = await opened.retriever.retrieve(question.question, LIMIT)
            between = time.perf_counter()
            ranking = rank_documents(results, limit=LIMIT, cutoff=max(CUTOFFS), latency_ms=1.0)
            grade_question(question, ranking, CUTOFFS)
            end = time.perf_counter()
            best[0, number] = min(best[0, number], between - start)
            best[1, number] = min(best[1, number], end - between)
    search_s, scoring_s = (float(row.mean()) for row in best)
    note = f"{scoring_s * 1e3:.3f} ms, search {search_s * 1e3:.3f} ms a question"
    name = f"{collection.name}: scoring to search"
    return Figure(name, scoring_s / search_s, "times", limit=1.0, note=note)


def measure_memory(collection: Collection) -> list[Figure]:
    """Build and search in a process of its own; then once more, when nothing may be built."""
    command = [sys.executable, "-m", "tests.bench.retrieval_memory", str(collection.root)]
    figures = []
    for name in ("first", "second"):
        cache = collection.root / ".evalcli" / "cache" / "lexical"
        before = sorted(path.stat().st_mtime_ns for path in cache.glob("*/*.idx"))
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measured = json.loads(done.stdout)
        after = sorted(path.stat().st_mtime_ns for path in cache.glob("*/*.idx"))
        figures.append(
            Figure(
                f"{collection.name}: peak memory of the {name} run",
                measured["peak_bytes"] / _MIB,
                "MiB",
                limit=300,
                note=f"ready in {measured['ready_s']:.2f} s",
            )
        )
        if name == "second":
            built = float(before != after)
            figures.append(
                Figure("synthetic: indexes that the second run built", built, "", limit=0)
            )
    return figures


def main() -> None:
    """Measure and show everything."""
    with tempfile.TemporaryDirectory() as folder:
        collections = find_collections(Path(folder))
        figures = measure_memory(collections[-1])
        for collection in collections:
            figures += asyncio.run(measure_speed(collection))
    show_and_exit(figures)


if __name__ == "__main__":
    main()
