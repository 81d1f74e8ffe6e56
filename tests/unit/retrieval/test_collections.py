"""Real labelled collections: imported, searched, scored as trec_eval does, good enough."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest
import pytrec_eval

from evalcli.declarations.question_set import GoldenQuestion
from evalcli.importers.beir import import_beir
from evalcli.records import QuestionScore, RetrievalRow
from evalcli.retrieval.opening import OpenRetriever
from evalcli.retrieval.scoring import score_question, summarize_retrieval
from tests.support.retrieval import CUTOFFS, open_declared

COLLECTIONS = Path(os.environ["EVALCLI_COLLECTIONS"])
LANGUAGES = {
    "cranfield": "english",
    "npl": "english",
    "xquad-de": "german",
    "covid-faq-de": "german",
}
TARGETS = [
    ("cranfield", "hit@3", 0.70),
    ("cranfield", "ndcg@10", 0.36),
    ("npl", "ndcg@10", 0.43),
    ("xquad-de", "hit@1", 0.89),
    ("covid-faq-de", "hit@3", 0.46),
]


@dataclass(frozen=True, slots=True)
class Measured:
    """Rankings and scores of one retriever over one collection."""

    rankings: dict[str, tuple[str, ...]]
    scores: dict[str, QuestionScore]


@cache
def questions_of(name: str) -> tuple[GoldenQuestion, ...]:
    return import_beir(COLLECTIONS / name).questions


def open_lexical(name: str, root: Path) -> OpenRetriever:
    source = next((COLLECTIONS / name).glob("corpus.jsonl*"))
    (root / source.name).symlink_to(source)
    entry = {"type": "lexical", "corpus": {"jsonl": source.name}, "language": LANGUAGES[name]}
    return open_declared(root, entry)


async def measure(name: str, root: Path) -> Measured:
    retriever = open_lexical(name, root)
    rankings, scores = dict[str, tuple[str, ...]](), dict[str, QuestionScore]()
    for question in questions_of(name):
        result = await retriever.ask(question, CUTOFFS)
        assert result.ranking is not None
        rankings[question.id] = tuple(one.id for one in result.ranking.documents)
        scores[question.id] = score_question(question, result.ranking, CUTOFFS)
    return Measured(rankings, scores)


def answerable_row(measured: Measured) -> RetrievalRow:
    scores = [score for score in measured.scores.values() if score.is_answerable]
    return summarize_retrieval(scores, CUTOFFS).rows[0]


@pytest.mark.parametrize(
    ("name", "count", "unanswered"),
    [("cranfield", 225, 0), ("npl", 93, 0), ("xquad-de", 1190, 0), ("covid-faq-de", 304, 28)],
)
def test_a_collection_is_imported_whole(name: str, count: int, unanswered: int) -> None:
    questions = questions_of(name)

    assert len(questions) == count
    assert sum(not question.grades for question in questions) == unanswered


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.anyio
async def test_all_figures_equal_those_of_trec_eval(name: str, tmp_path: Path) -> None:
    measured = await measure(name, tmp_path)
    asked = [question for question in questions_of(name) if question.grades]
    labels = {question.id: dict(question.grades) for question in asked}
    run = {
        question.id: {
            one: float(-place) for place, one in enumerate(measured.rankings[question.id])
        }
        for question in asked
    }
    measures = {"recip_rank", "recall.1,3,5,10", "ndcg_cut.10", "success.1,3,5,10"}
    oracle = pytrec_eval.RelevanceEvaluator(labels, measures).evaluate(run)

    row = answerable_row(measured)

    assert row.mean_recall is not None
    assert row.mean_reciprocal_rank == pytest.approx(mean_of(oracle, "recip_rank"), abs=1e-9)
    assert row.mean_ndcg == pytest.approx(mean_of(oracle, "ndcg_cut_10"), abs=1e-9)
    for cutoff in CUTOFFS:
        rate, recall = float(row.hit_rate(cutoff)), row.mean_recall[cutoff]
        assert rate == pytest.approx(mean_of(oracle, f"success_{cutoff}"), abs=1e-9)
        assert recall == pytest.approx(mean_of(oracle, f"recall_{cutoff}"), abs=1e-9)


def mean_of(oracle: dict[str, dict[str, float]], measure: str) -> float:
    return fmean(found[measure] for found in oracle.values())


@pytest.mark.parametrize(("name", "metric", "target"), TARGETS)
@pytest.mark.anyio
async def test_lexical_reaches_its_target(
    name: str, metric: str, target: float, tmp_path: Path
) -> None:
    row = answerable_row(await measure(name, tmp_path))
    assert row.mean_ndcg is not None
    figures = {
        "hit@1": float(row.hit_rate(1)),
        "hit@3": float(row.hit_rate(3)),
        "ndcg@10": row.mean_ndcg,
    }

    assert figures[metric] >= target


@pytest.mark.anyio
async def test_passages_can_be_scored_by_their_article(tmp_path: Path) -> None:
    source = COLLECTIONS / "xquad-de" / "corpus.jsonl.gz"
    (tmp_path / source.name).symlink_to(source)
    corpus = {"jsonl": source.name, "document": "document"}
    retriever = open_declared(tmp_path, {"type": "lexical", "corpus": corpus, "language": "german"})
    question = questions_of("xquad-de")[0]
    by_article = question.model_copy(
        update={"expected": tuple(one.partition("_")[0] for one in question.grades)}
    )

    result = await retriever.ask(by_article, CUTOFFS)

    assert result.ranking is not None
    assert result.ranking.repeated > 0
    assert score_question(by_article, result.ranking, CUTOFFS).is_hit(1)
