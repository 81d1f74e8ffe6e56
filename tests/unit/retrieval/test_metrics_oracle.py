"""Our metrics equal those of trec_eval (through pytrec-eval) on the same rankings."""

from __future__ import annotations

from random import Random

import pytest
import pytrec_eval

from evalcli.declarations.question_set import GoldenQuestion
from evalcli.retrieval.scoring import score_question
from tests.support.retrieval import CUTOFFS, make_question, make_ranking

MEASURES = {"recip_rank", "recall.1,3,5,10", "ndcg_cut.10", "success.1,3,5,10"}


def evaluate(
    questions: list[GoldenQuestion], rankings: dict[str, list[str]]
) -> dict[str, dict[str, float]]:
    """Ask trec_eval; it ranks by score, so that places become falling scores."""
    labels = {question.id: dict(question.grades) for question in questions}
    run = {
        identifier: {one: float(-place) for place, one in enumerate(ranked)}
        for identifier, ranked in rankings.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(labels, MEASURES)
    found: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_metrics_equal_trec_eval_on_random_rankings(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - reproducible cases, no secret
    documents = [f"d{number}" for number in range(40)]
    questions, rankings = [], dict[str, list[str]]()
    for number in range(30):
        expected = random.sample(documents, random.randint(1, 15))
        grades = {one: random.randint(1, 4) for one in expected}
        questions.append(make_question(f"q{number}", expected=grades))
        rankings[f"q{number}"] = random.sample(documents, random.randint(1, 10))

    oracle = evaluate(questions, rankings)

    for question in questions:
        score = score_question(question, make_ranking(*rankings[question.id]), CUTOFFS)
        theirs = oracle[question.id]
        assert score.reciprocal_rank == pytest.approx(theirs["recip_rank"], abs=1e-9)
        assert score.ndcg == pytest.approx(theirs["ndcg_cut_10"], abs=1e-9)
        assert score.recall is not None
        for cutoff in CUTOFFS:
            assert score.recall[cutoff] == pytest.approx(theirs[f"recall_{cutoff}"], abs=1e-9)
            assert score.is_hit(cutoff) == (theirs[f"success_{cutoff}"] == 1.0)
