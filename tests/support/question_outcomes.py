"""Runs of questions as they can end, by name: what reports are looked at with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from evalcli.comparison.rank_change import find_rank_changes
from evalcli.declarations.question_set import Form, GoldenQuestion
from evalcli.records import (
    Baseline,
    GateLimits,
    PlannedPrompt,
    QuestionScore,
    Ranking,
    RetrievedDocument,
    Run,
    RunOutcome,
    Treatment,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
)
from evalcli.retrieval.scoring import YARDSTICK, grade_question, question_fingerprints
from evalcli.runs.retrieval_outcome import summarize_questions
from tests.support.builders import STARTED_AT, make_baseline, make_outcome, make_run
from tests.support.outcomes import HOSTILE
from tests.support.retrieval import CUTOFFS, make_question

ARMED = GateLimits(fail_on_regression=True)
CLASS_GATE = GateLimits(max_class_drop=Fraction(1, 10), fail_on_regression=True)
OTHERS = tuple(f"other-{number}" for number in range(20))
PASSAGES = {
    "118_0": "Wohnsitz an- und abmelden\nWer umzieht, muss sich innerhalb von zwei Wochen melden.",
    "other-0": "Something else altogether, which goes on for much longer than a line of a report.",
}


def handbook() -> tuple[GoldenQuestion, ...]:
    """Make 48 questions: 24 of each form, 9 near-duplicates, one that nothing answers."""
    named = [
        make_question(
            "umzug-melden", expected=("234_0",), form=Form.GAP, hard_class="near-duplicate"
        ),
        make_question("parkausweis", expected=("77_1", "77_2"), form=Form.GAP),
        make_question("dialogforum", expected=("234_0", "309_0"), hard_class="near-duplicate"),
        make_question("weltmeister", expected=(), form=Form.GAP, hard_class="unanswerable"),
    ]
    rest = [
        make_question(
            f"frage-{number:02}",
            expected=(f"doc-{number}",),
            form=Form.GAP if number % 2 else Form.MATCH,
            hard_class="near-duplicate" if number < 7 else None,
        )
        for number in range(44)
    ]
    return (*named, *rest)


def ranked(
    question: GoldenQuestion, rank: int | None, *, first: str = "other-0", returned: int = 10
) -> Ranking:
    """Make a ranking with the first expected document at a rank, or without it."""
    ids = [first, *(other for other in OTHERS if other != first)][:returned]
    if rank is not None:
        ids.insert(rank - 1, next(iter(question.grades)))
    documents = tuple(RetrievedDocument(one) for one in ids[: max(CUTOFFS)])
    return Ranking(documents, returned=4 * len(documents), repeated=3, latency_ms=2.5)


def graded(question: GoldenQuestion, ranking: Ranking) -> Trial:
    """Make a graded trial of a question."""
    return Trial(
        question.id,
        trial=0,
        state=TrialState.GRADED,
        grade=grade_question(question, ranking, CUTOFFS),
        finished_at=STARTED_AT + timedelta(seconds=1),
        ranking=ranking,
    )


def right(question: GoldenQuestion) -> Trial:
    """Make a trial whose first place is right."""
    if not question.grades:
        return graded(question, Ranking((), returned=0, latency_ms=1.0))
    return graded(question, ranked(question, 1))


def answers(
    questions: Sequence[GoldenQuestion], rankings: Mapping[str, Ranking | None]
) -> list[Trial]:
    """Make trials: as given, None for a call that failed, and right where nothing is given."""
    trials = []
    for question in questions:
        ranking = rankings.get(question.id)
        if question.id in rankings and ranking is None:
            trials.append(_failed(question))
        else:
            trials.append(right(question) if ranking is None else graded(question, ranking))
    return trials


def _failed(question: GoldenQuestion) -> Trial:
    message = 'handbook said 503 "The index is being built" (3 tries)'
    error = TrialError(UnmeasuredCause.PROVIDER, message, provider="handbook", status=503)
    at = STARTED_AT + timedelta(seconds=11)
    return Trial(question.id, 0, TrialState.UNMEASURED, error=error, finished_at=at)


def make_question_run(
    questions: Sequence[GoldenQuestion],
    *,
    run_id: str = "91c2",
    corpus: str = "sha256:aa",
    limits: GateLimits | None = None,
    settings: Mapping[str, str] | None = None,
) -> Run:
    """Make a complete run of `acme.handbook` on the retriever `handbook`."""
    run = make_run((), run_id=run_id, target="handbook", configuration=None, limits=limits)
    return replace(
        run,
        kind="questions",
        set_identifier="acme.handbook",
        set_name="Handbook retrieval",
        grader=YARDSTICK,
        grader_kind=YARDSTICK,
        plan=tuple(PlannedPrompt(q.id, question_fingerprints(q, corpus)) for q in questions),
        treatment=Treatment(
            settings={
                "type": "lexical",
                "corpus": corpus,
                "pipeline": "bm25",
                "k": "1, 3, 5, 10",
                **(settings or {}),
            }
        ),
    )


def make_question_outcome(
    run: Run,
    trials: Sequence[Trial],
    *,
    before: tuple[Run, Sequence[Trial]] | None = None,
    are_ranks_known: bool = True,
    notes: Sequence[str] = (),
) -> RunOutcome:
    """End a run of questions as evalcli does; `before` becomes its baseline."""
    baseline = None if before is None else make_baseline(*before)
    if baseline is not None and run.baseline_source != "current":
        baseline = replace(baseline, source=run.baseline_source)
    outcome = make_outcome(run, trials, baseline=baseline, notes=notes)
    known = before[1] if before is not None and are_ranks_known else ()
    if baseline is not None:
        outcome = _with_rank_changes(outcome, baseline, known)
    return replace(
        outcome,
        retrieval=summarize_questions(outcome.run, trials),
        documents=96,
        passages=PASSAGES,
    )


def _with_rank_changes(
    outcome: RunOutcome, baseline: Baseline, before: Sequence[Trial]
) -> RunOutcome:
    changes = find_rank_changes(
        outcome.comparison.common, baseline.prompts, _scores(before), _scores(outcome.trials)
    )
    return replace(outcome, comparison=replace(outcome.comparison, rank_changes=changes))


def _scores(trials: Sequence[Trial]) -> dict[str, QuestionScore]:
    return {
        trial.prompt_id: trial.grade.question
        for trial in trials
        if trial.grade is not None and trial.grade.question is not None
    }


def baseline_run(questions: Sequence[GoldenQuestion], *, corpus: str = "sha256:aa") -> Run:
    """Make the run of 12 November that later ones are compared with."""
    at = datetime(2026, 11, 12, 9, 0, tzinfo=UTC)
    run = make_question_run(questions, run_id="33aa", corpus=corpus)
    return replace(run, started_at=at, finished_at=at + timedelta(seconds=30))


# --- the ways to end --------------------------------------------------------------------------


def first_questions() -> RunOutcome:
    """The first run: it becomes the baseline."""
    questions = handbook()
    by_id = {one.id: one for one in questions}
    rankings = {
        "umzug-melden": ranked(by_id["umzug-melden"], 4, first="118_0"),
        "parkausweis": Ranking((), returned=0, latency_ms=0.4),
        "dialogforum": ranked(by_id["dialogforum"], 2, first="301_0"),
        "weltmeister": ranked(by_id["weltmeister"], None, returned=4),
        "frage-10": ranked(by_id["frage-10"], 3),
    }
    return make_question_outcome(make_question_run(questions), answers(questions, rankings))


def questions_within_limits() -> RunOutcome:
    """One question lost, one won, nothing that the gate minds; another pipeline."""
    questions = handbook()
    by_id = {one.id: one for one in questions}
    before = answers(questions, {"dialogforum": ranked(by_id["dialogforum"], 2)})
    after = answers(questions, {"umzug-melden": ranked(by_id["umzug-melden"], 4, first="118_0")})
    run = make_question_run(questions, limits=ARMED, settings={"pipeline": "bm25, stemmed"})
    return make_question_outcome(run, after, before=(baseline_run(questions), before))


def class_regression() -> RunOutcome:
    """More questions right than before, but a hard class fell, and classes are gated."""
    questions = handbook()
    by_id = {one.id: one for one in questions}
    lost = ("umzug-melden", "frage-01", "frage-02")
    won = tuple(f"frage-{number}" for number in range(20, 26))
    before = answers(questions, {one: ranked(by_id[one], 5) for one in won})
    after = answers(questions, {one: ranked(by_id[one], None, first="118_0") for one in lost})
    run = make_question_run(questions, limits=CLASS_GATE)
    return make_question_outcome(run, after, before=(baseline_run(questions), before))


def question_regression_from_file() -> RunOutcome:
    """A regression against a baseline file, which knows no ranks; only reported."""
    questions = handbook()
    by_id = {one.id: one for one in questions}
    lost = [question.id for question in questions if question.id.startswith("frage-")][:9]
    before = answers(questions, {lost[0]: ranked(by_id[lost[0]], 3)})
    after = answers(questions, {one: ranked(by_id[one], None) for one in lost})
    run = replace(make_question_run(questions), baseline_source="baselines/acme.handbook.json")
    return make_question_outcome(
        run, after, before=(baseline_run(questions), before), are_ranks_known=False
    )


def questions_unmeasured() -> RunOutcome:
    """The service went away in the middle."""
    questions = handbook()
    failed = {f"frage-{number:02}": None for number in range(35, 44)}
    run = make_question_run(questions, run_id="40d7", limits=ARMED)
    return make_question_outcome(run, answers(questions, failed))


def other_corpus() -> RunOutcome:
    """The corpus is another one than the baseline's."""
    questions = handbook()
    run = make_question_run(questions, corpus="sha256:bb", limits=ARMED)
    before = (baseline_run(questions), answers(questions, {}))
    return make_question_outcome(run, answers(questions, {}), before=before)


def chosen_questions() -> RunOutcome:
    """Only two questions were chosen, as a draft; a document is not in the corpus."""
    questions = handbook()
    chosen = questions[:2]
    by_id = {one.id: one for one in chosen}
    run = replace(make_question_run(chosen, limits=ARMED), is_partial=True, is_draft=True)
    rankings = {"parkausweis": ranked(by_id["parkausweis"], 2, first="118_0")}
    return make_question_outcome(
        run,
        answers(chosen, rankings),
        before=(baseline_run(questions), answers(questions, {})),
        notes=('1 document that was returned is not in the corpus: "other-3" (2 times)',),
    )


def hostile_questions() -> RunOutcome:
    """Markup, control and bidi characters wherever outside text can stand."""
    questions = (
        make_question(f"id {HOSTILE}", expected=(f"doc {HOSTILE}",), hard_class=HOSTILE),
        make_question("日本語のとても長い名前の質問です", expected=("文書",)),
    )
    documents = (RetrievedDocument(f"other {HOSTILE}", text=HOSTILE),)
    ranking = Ranking(documents, returned=9, surplus=8, latency_ms=1.0)
    run = replace(
        make_question_run(questions, settings={"type": HOSTILE}), target=HOSTILE, is_draft=True
    )
    trials = answers(questions, {questions[0].id: ranking})
    return make_question_outcome(run, trials, notes=(HOSTILE,))


QUESTION_OUTCOMES: dict[str, Callable[[], RunOutcome]] = {
    make.__name__: make
    for make in (
        first_questions,
        questions_within_limits,
        class_regression,
        question_regression_from_file,
        questions_unmeasured,
        other_corpus,
        chosen_questions,
        hostile_questions,
    )
}
