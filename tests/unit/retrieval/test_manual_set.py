"""The built-in question set over the manual: complete, labelled right, and good enough to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcli.declarations.question_set import Form, QuestionSet
from evalcli.loading.reader import read_declaration
from evalcli.retrieval.opening import (
    DEFAULT_QUESTION_SET,
    DEFAULT_RETRIEVER,
    OpenRetriever,
    RetrieverRoom,
    open_retriever,
)
from evalcli.retrieval.scoring import score_question, summarize_retrieval
from tests.support.retrieval import CUTOFFS

SET = Path(__file__).parents[3] / "sets" / "nr_manual.yaml"


@pytest.fixture
def manual_set() -> QuestionSet:
    reading = read_declaration(SET.read_bytes(), SET.name, folder="sets", read_text=str)
    assert reading.faults == ()
    assert isinstance(reading.declaration, QuestionSet)
    return reading.declaration


@pytest.fixture
def retriever(tmp_path: Path) -> OpenRetriever:
    return open_retriever(DEFAULT_RETRIEVER, {}, RetrieverRoom(tmp_path, tmp_path / "cache", {}))


def test_the_set_is_large_and_mixed_enough(manual_set: QuestionSet) -> None:
    questions = manual_set.questions
    unanswerable = [one for one in questions if not one.grades]

    assert manual_set.identifier == DEFAULT_QUESTION_SET
    assert len(questions) >= 40
    assert {one.form for one in questions} == {Form.MATCH, Form.GAP}
    assert len({one.hard_class for one in questions} - {None}) >= 4
    assert len(unanswerable) >= 5


def test_every_expected_section_is_in_the_manual(
    manual_set: QuestionSet, retriever: OpenRetriever
) -> None:
    assert retriever.check_questions(manual_set.questions) == ()


@pytest.mark.anyio
async def test_most_questions_are_answered(
    manual_set: QuestionSet, retriever: OpenRetriever
) -> None:
    scores = []
    for question in manual_set.questions:
        result = await retriever.ask(question, CUTOFFS)
        assert result.ranking is not None
        scores.append(score_question(question, result.ranking, CUTOFFS))
    answerable = [score for score in scores if score.is_answerable]

    row = summarize_retrieval(answerable, CUTOFFS).rows[0]

    assert row.hit_rate(3) >= 0.6
