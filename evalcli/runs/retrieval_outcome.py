"""What a run of questions amounts to beyond the two rates: figures by class, ranks won and lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evalcli.comparison.rank_change import find_changed, find_rank_changes
from evalcli.comparison.reason_text import CORPUS
from evalcli.declarations.question_set import GoldenQuestion
from evalcli.history.store import History
from evalcli.records import (
    Baseline,
    Comparison,
    QuestionScore,
    RetrievalSummary,
    Run,
    Trial,
    TrialState,
)
from evalcli.retrieval.scoring import (
    ANY_CORPUS,
    DEFAULT_CUTOFFS,
    describe_cutoffs,
    question_fingerprints,
    read_cutoffs,
    summarize_retrieval,
)

_DEFAULT = describe_cutoffs(DEFAULT_CUTOFFS)


def summarize_questions(run: Run, trials: Sequence[Trial]) -> RetrievalSummary | None:
    """Sum up the measured questions of a run; None where it asked no questions."""
    if run.kind != "questions":
        return None
    cutoffs = read_cutoffs(run.treatment.settings.get("k", _DEFAULT))
    return summarize_retrieval(_scores_by_id(trials).values(), cutoffs)


def add_rank_changes(
    comparison: Comparison,
    run: Run,
    trials: Sequence[Trial],
    baseline: Baseline | None,
    history: History,
) -> Comparison:
    """Add the questions won and lost, with their ranks as far as the history knows them."""
    if run.kind != "questions" or baseline is None or not comparison.common:
        return comparison
    after = _scores_by_id(trials)
    changed = find_changed(comparison.common, baseline.prompts, after)
    before = _load_scores(baseline, changed, history)
    changes = find_rank_changes(changed, baseline.prompts, before, after)
    return replace(comparison, rank_changes=changes)


def align_labels(
    baseline: Baseline,
    questions: Iterable[GoldenQuestion],
    run: Run,
    corpus: str | None,
) -> Baseline:
    """Write a baseline's labels with the word that this run has for the corpus.

    The word is the corpus' revision, or `any` where the retriever's entry says
    `corpus_change: compare`. Saying so must not make other labels of those that a baseline has
    from before, nor must taking it back over the same corpus.
    `questions` are those that `run` asked, `corpus` is its word.
    """
    was = baseline.treatment.settings.get(CORPUS)
    before = was if corpus == ANY_CORPUS else ANY_CORPUS
    if before is None or (corpus != ANY_CORPUS and was != run.treatment.settings.get(CORPUS)):
        return baseline
    said = {planned.prompt_id: planned.fingerprints.graded for planned in run.plan}
    aligned = dict(baseline.prompts)
    for question in questions:
        known = aligned.get(question.id)
        if known is None or known.fingerprints.graded in (None, said[question.id]):
            continue  # the usual case, which takes no fingerprint
        if known.fingerprints.graded == question_fingerprints(question, before).graded:
            fingerprints = replace(known.fingerprints, graded=said[question.id])
            aligned[question.id] = replace(known, fingerprints=fingerprints)
    return replace(baseline, prompts=aligned)


def _load_scores(
    baseline: Baseline, prompt_ids: Iterable[str], history: History
) -> Mapping[str, QuestionScore]:
    """Load the scores a baseline rests on; those of runs in another history lack."""
    wanted: dict[str, set[str]] = {}
    for prompt_id in prompt_ids:
        wanted.setdefault(baseline.prompts[prompt_id].run_id, set()).add(prompt_id)
    found: dict[str, QuestionScore] = {}
    for run_id, ids in wanted.items():
        found.update(history.load_question_scores(run_id, ids))
    return found


def _scores_by_id(trials: Sequence[Trial]) -> Mapping[str, QuestionScore]:
    return {
        trial.prompt_id: trial.grade.question
        for trial in trials
        if trial.state is TrialState.GRADED
        and trial.grade is not None
        and trial.grade.question is not None
    }
