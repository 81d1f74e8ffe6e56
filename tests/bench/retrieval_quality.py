"""How good lexical, vector and hybrid search are on labelled collections, side by side.

    EVALCLI_COLLECTIONS=DIR python -m tests.bench.retrieval_quality

For information: over the answerable questions, with the packaged embedding model. Fusion gains
where both parts are about equally good and loses where one is weak.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from evalcli.importers.beir import import_beir
from evalcli.records import RetrievalRow
from evalcli.retrieval.opening import OpenRetriever, RetrieverRoom, open_retriever
from evalcli.retrieval.scoring import (
    DEFAULT_CUTOFFS,
    check_cutoffs,
    score_question,
    summarize_retrieval,
)
from tests.support.retrieval import make_entries

CUTOFFS = check_cutoffs(DEFAULT_CUTOFFS)
LANGUAGES = {
    "cranfield": "english",
    "npl": "english",
    "xquad-de": "german",
    "covid-faq-de": "german",
}


async def measure(opened: OpenRetriever, source: Path) -> tuple[RetrievalRow, float]:
    """Ask all answerable questions; gives their row and the mean milliseconds a question."""
    await opened.prepare()
    questions = [question for question in import_beir(source).questions if question.grades]
    scores = []
    started = time.perf_counter()
    for question in questions:
        result = await opened.ask(question, CUTOFFS)
        if result.ranking is None:
            raise SystemExit(f"{opened.name}: {result.error}")
        scores.append(score_question(question, result.ranking, CUTOFFS))
    mean_ms = (time.perf_counter() - started) * 1000 / len(questions)
    await opened.aclose()
    return summarize_retrieval(scores, CUTOFFS).rows[0], mean_ms


def main() -> None:
    """Measure all collections that are there."""
    given = os.environ.get("EVALCLI_COLLECTIONS")
    if not given:
        raise SystemExit("EVALCLI_COLLECTIONS is not set")
    head = f"{'collection':<14}{'retriever':<10}{'hit@1':>8}{'hit@3':>8}{'MRR@10':>8}"
    sys.stdout.write(f"{head}{'R@10':>8}{'nDCG@10':>9}{'ms':>9}\n")
    for name, language in LANGUAGES.items():
        source = Path(given, name)
        corpus = {"jsonl": next(source.glob("corpus.jsonl*")).name}
        entries = make_entries(
            {
                "lexical": {"type": "lexical", "corpus": corpus, "language": language},
                "vector": {"type": "vector", "corpus": corpus, "model": "wordllama"},
                "hybrid": {"type": "hybrid", "parts": ["lexical", "vector"]},
            }
        )
        with tempfile.TemporaryDirectory() as cache:
            room = RetrieverRoom(source, Path(cache), {})
            for kind in entries:
                row, mean_ms = asyncio.run(measure(open_retriever(kind, entries, room), source))
                sys.stdout.write(f"{name:<14}{kind:<10}{_figures(row)}{mean_ms:>9.2f}\n")


def _figures(row: RetrievalRow) -> str:
    recall = (row.mean_recall or {}).get(10, 0.0)
    return (
        f"{float(row.hit_rate(1)):>8.4f}{float(row.hit_rate(3)):>8.4f}"
        f"{row.mean_reciprocal_rank or 0.0:>8.4f}{recall:>8.4f}{row.mean_ndcg or 0.0:>9.4f}"
    )


if __name__ == "__main__":
    main()
