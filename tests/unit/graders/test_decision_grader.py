"""From a level to a grade: what passes, and in which words it is told."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass, GoldenPrompt
from evalcli.graders.decision import DecisionGrader
from evalcli.records import DecisionAnswer, Grade
from evalcli.testing import FakeDecisionService

pytestmark = pytest.mark.anyio

PROFILE = Profile.model_validate(
    {
        "kind": "profile",
        "identifier": "acme.fulfilment",
        "version": 1,
        "requires": ["task", "candidate"],
        "questions": {
            "fulfilment": {
                "type": "score",
                "instructions": "How well?",
                "levels": ["none", "little", "half", "nearly", "all"],
            }
        },
    }
)
PROMPT = GoldenPrompt.model_validate({"id": "one", "prompt": "Do it.", "reference": "Done."})


async def grade(level: float) -> Grade:
    service = FakeDecisionService()
    service.queue_answers(fulfilment=DecisionAnswer(level))
    grader = DecisionGrader(
        service, PROFILE, configuration=None, data_class=DataClass.EDITOR_CONTENT
    )
    return await grader.grade(PROMPT, "It is done.", system=None)


@pytest.mark.parametrize(
    ("level", "score", "passed"),
    [(0, 0, False), (2.39, Fraction(239, 400), False), (2.4, Fraction(3, 5), True), (4, 1, True)],
)
async def test_level_is_scaled_and_passes_from_three_fifths(
    level: float, score: Fraction, passed: bool
) -> None:
    given = await grade(level)
    assert (given.score, given.passed) == (score, passed)


@pytest.mark.parametrize(
    ("level", "reason"),
    [
        (1, "level 1 of 4 (passes from 2.4): little"),
        (1.25, "level 1.25 of 4 (passes from 2.4): little / half"),
        (3, "level 3 of 4: nearly"),
    ],
)
async def test_reason_names_the_level_and_what_was_missing(level: float, reason: str) -> None:
    assert (await grade(level)).reason == reason
