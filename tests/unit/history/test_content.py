"""`history.content: metadata`: no text of an answer is anywhere in the file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from evalcli.history.store import History
from evalcli.records import (
    Answer,
    AssertionOutcome,
    Baseline,
    BaselineMove,
    Grade,
    Ranking,
    RetrievedDocument,
    Treatment,
    TrialError,
    TrialState,
    UnmeasuredCause,
)
from tests.support.builders import (
    make_baseline,
    make_call,
    make_run,
    make_trial,
    make_unmeasured_trial,
)

_TEXTS = (
    "ANSWERTEXT",
    "REASONINGTEXT",
    "REFUSALTEXT",
    "SYSTEMTEXT",
    "EXCERPTTEXT",
    "JUDGETEXT",
    "REPLYTEXT",
)


def fill(history: History) -> None:
    """Store every text that a run can have."""
    answer = Answer(text="ANSWERTEXT", reasoning="REASONINGTEXT", refusal="REFUSALTEXT")
    grade = Grade(
        passed=False,
        score=Fraction(0),
        reason='contains "x": not in "EXCERPTTEXT"',
        outcomes=(AssertionOutcome("contains", passed=False, reason='not in "EXCERPTTEXT"'),),
    )
    treatment = Treatment(system="SYSTEMTEXT", system_fingerprint="v1:1")
    run = replace(
        make_run(["a", "b", "c", "d"]), treatment=treatment, options={"system": "SYSTEMTEXT"}
    )
    history.start_run(run)
    history.save_trial("91c2", replace(make_trial("a", answer=answer), grade=grade))
    history.save_trial(
        "91c2",
        replace(
            make_trial("b", answer=answer),
            state=TrialState.NOT_GRADED,
            grade=None,
            error=TrialError(UnmeasuredCause.GRADER, 'the judge said "JUDGETEXT"'),
        ),
    )
    said = 'main answered with something that is not JSON (it is not UTF-8): "REPLYTEXT"'
    history.save_trial("91c2", make_unmeasured_trial("d", message=said, status=200))
    ranking = Ranking((RetrievedDocument("234_0", text="EXCERPTTEXT"),), returned=1)
    history.save_trial(
        "91c2", replace(make_trial("c", answer=answer, call=make_call()), ranking=ranking)
    )
    history.save_baseline(baseline_with(treatment), expected_id=None, how=BaselineMove.SET)


def baseline_with(treatment: Treatment) -> Baseline:
    baseline = make_baseline(make_run(["a"]), [make_trial("a")])
    return replace(baseline, treatment=treatment)


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize("text", _TEXTS)
def test_a_text_is_in_no_file(tmp_path: Path, text: str) -> None:
    with History.open(tmp_path / "history.db", content="metadata") as history:
        fill(history)
        assert text.encode() not in all_bytes(tmp_path)
        history.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert text.encode() not in all_bytes(tmp_path)


@pytest.mark.parametrize("text", _TEXTS)
def test_the_same_text_is_kept_by_default(tmp_path: Path, text: str) -> None:
    with History.open(tmp_path / "history.db") as history:
        fill(history)
    assert text.encode() in all_bytes(tmp_path)


@pytest.mark.parametrize(
    ("status", "message", "kept"),
    [
        (200, 'main answered with JSON that is no answer: "{}"', "JSON that is no answer"),
        (503, 'main said 503 "over"', 'main said 503 "over"'),
        (None, 'main answered with an error: "loading"', 'an error: "loading"'),
    ],
)
def test_messages_of_providers_are_kept(
    tmp_path: Path, status: int | None, message: str, kept: str
) -> None:
    with History.open(tmp_path / "history.db", content="metadata") as history:
        history.start_run(make_run(["a"]))
        history.save_trial("91c2", make_unmeasured_trial("a", message=message, status=status))
        (trial,) = history.load_trials("91c2")
    assert trial.error is not None
    assert trial.error.message.endswith(kept)
