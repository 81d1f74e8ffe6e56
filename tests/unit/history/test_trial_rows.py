"""A trial is one row and comes back as it was."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given

from evalcli.history.trial_rows import TRIAL_COLUMNS, read_trial, trial_cells
from evalcli.records import (
    AssertionOutcome,
    Grade,
    Ranking,
    RetrievedDocument,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
)
from tests.support.builders import make_answer, make_trial
from tests.support.record_strategies import records_of


def stored_and_read(trial: Trial, *, keep_texts: bool = True) -> Trial:
    cells = trial_cells("91c2", trial, keep_texts=keep_texts)
    return read_trial(dict(zip(TRIAL_COLUMNS, cells, strict=True)))


@given(records_of(Trial))
def test_every_field_of_a_trial_comes_back(trial: Trial) -> None:
    assert stored_and_read(trial) == trial


def test_an_answer_that_says_what_its_call_says_is_stored_once() -> None:
    cells = dict(
        zip(TRIAL_COLUMNS, trial_cells("91c2", make_trial(), keep_texts=True), strict=True)
    )
    assert cells["answer_facts"] is None


def test_without_texts_the_reason_names_the_failed_assertions() -> None:
    grade = Grade(
        passed=False,
        score=Fraction(1, 2),
        reason='contains "Monday": not in "Montag"',
        outcomes=(
            AssertionOutcome("contains", passed=False, reason='not in "Montag"'),
            AssertionOutcome("regex", passed=True),
        ),
    )
    trial = Trial("opening-hours", 0, TrialState.GRADED, answer=make_answer(), grade=grade)
    kept = stored_and_read(trial, keep_texts=False).grade
    assert kept is not None
    assert kept.reason == "1 of 2 assertions failed: contains"
    assert kept.outcomes == (
        AssertionOutcome("contains", passed=False),
        AssertionOutcome("regex", passed=True),
    )


def test_without_texts_a_refusal_keeps_its_score_and_no_words() -> None:
    grade = Grade(passed=False, score=Fraction(0), reason='refused: "I cannot"')
    trial = Trial("legal", 0, TrialState.GRADED, answer=make_answer(), grade=grade, is_refused=True)
    kept = stored_and_read(trial, keep_texts=False)
    assert kept.is_refused
    assert kept.grade == Grade(passed=False, score=Fraction(0))


def test_without_texts_a_providers_message_stays() -> None:
    error = TrialError(UnmeasuredCause.PROVIDER, "main said 503", provider="main", status=503)
    trial = Trial("opening-hours", 0, TrialState.UNMEASURED, error=error)
    assert stored_and_read(trial, keep_texts=False).error == error


def test_without_texts_a_judges_words_do_not_stay() -> None:
    error = TrialError(UnmeasuredCause.GRADER, 'the judge said "Montag is wrong"')
    trial = Trial("opening-hours", 0, TrialState.NOT_GRADED, answer=make_answer(), error=error)
    kept = stored_and_read(trial, keep_texts=False).error
    assert kept == TrialError(UnmeasuredCause.GRADER, "the grading failed")


def test_without_texts_a_ranking_keeps_its_documents_and_no_passages() -> None:
    ranking = Ranking((RetrievedDocument("234_0", 1.5, "On 4 March, in Berlin."),), returned=1)
    trial = Trial("termin", 0, TrialState.GRADED, ranking=ranking)
    kept = stored_and_read(trial, keep_texts=False).ranking
    assert kept == Ranking((RetrievedDocument("234_0", 1.5),), returned=1)
