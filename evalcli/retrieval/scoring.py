"""From a retriever's results to a grade, and from grades to the figures of a run; pure.

The rules, in the manual too: rank is list order; results beyond the limit are cut; ids compare
exactly; a document counts at its first place only; a question that nothing answers is hit only
when nothing was returned, and stays out of MRR, recall and nDCG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from math import isfinite

from evalcli.comparison.fingerprint import fingerprint_of
from evalcli.declarations.question_set import GoldenQuestion
from evalcli.errors import UsageError
from evalcli.records import (
    Fingerprints,
    Grade,
    QuestionScore,
    Ranking,
    RetrievalRow,
    RetrievalSummary,
    RetrievedDocument,
)
from evalcli.retrieval.metrics import first_hit, ndcg, recall, reciprocal_rank

YARDSTICK = "retrieval_hit_rate"
"""The grader that retrieval runs are stored under."""

OVERFETCH = 4
"""Raw results asked for per place shown, so that repeated documents push nothing out."""

NDCG_CUTOFF = 10
DEFAULT_CUTOFFS = (1, 3, 5, 10)
MAX_CUTOFF = 1000
SHOWN_CHARACTERS = 200
"""The most of a passage that is kept to be shown."""


class ResultFaultError(ValueError):
    """A retriever returned something that is no ranking; the question is unmeasured."""


def check_cutoffs(cutoffs: Iterable[int]) -> tuple[int, ...]:
    """Put cutoffs in order, with 1 and 3 (the metrics of record) and 10 (nDCG) among them.

    Raises:
        UsageError: one is out of range.
    """
    found = set(cutoffs)
    for cutoff in sorted(found):
        if not 1 <= cutoff <= MAX_CUTOFF:
            raise UsageError(
                f"cutoff {cutoff} is out of range", advice=f"write numbers from 1 to {MAX_CUTOFF}"
            )
    return tuple(sorted(found | {1, 3, NDCG_CUTOFF}))


def describe_cutoffs(cutoffs: Iterable[int]) -> str:
    """Write cutoffs as they stand among a run's settings: `1, 3, 5, 10`."""
    return ", ".join(map(str, cutoffs))


def read_cutoffs(text: str) -> tuple[int, ...]:
    """Read what `describe_cutoffs` wrote."""
    return tuple(int(cutoff) for cutoff in text.split(", "))


def raw_limit(cutoffs: Sequence[int]) -> int:
    """Say how many raw results to ask for."""
    return OVERFETCH * max(cutoffs)


def rank_documents(
    results: Sequence[object],
    *,
    limit: int,
    cutoff: int,
    min_score: float | None = None,
    latency_ms: float | None = None,
) -> Ranking:
    """Turn raw results into a ranking of at most `cutoff` distinct documents.

    Shapes: `results` should hold texts and `RetrievedDocument`s, best first. What is beyond
    `limit` is not looked at.

    Raises:
        ResultFaultError: a result is something else, or has no score where `min_score` needs one.
    """
    documents: list[RetrievedDocument] = []
    seen: set[str] = set()
    repeated = below = 0
    for place, result in enumerate(results[:limit], start=1):
        document = _check_result(result, place)
        if min_score is not None and _score_of(document, place) < min_score:
            below += 1
        elif document.id in seen:
            repeated += 1
        else:
            seen.add(document.id)
            if len(documents) < cutoff:
                documents.append(document)
    return Ranking(
        documents=tuple(documents),
        returned=len(results),
        surplus=max(0, len(results) - limit),
        repeated=repeated,
        below_min_score=below,
        latency_ms=latency_ms,
    )


def _check_result(result: object, place: int) -> RetrievedDocument:
    if isinstance(result, str):
        result = RetrievedDocument(result)
    if not isinstance(result, RetrievedDocument) or not isinstance(result.id, str):
        found = result.id if isinstance(result, RetrievedDocument) else result
        raise ResultFaultError(
            f"result {place} is {_kind_of(found)} where a document id, a text, is needed"
        )
    if not result.id:
        raise ResultFaultError(f"result {place} has an empty document id")
    if result.score is not None and not _is_number(result.score):
        raise ResultFaultError(f"result {place} has a score that is no finite number")
    if result.text is not None and not isinstance(result.text, str):
        raise ResultFaultError(f"result {place} has a text that is {_kind_of(result.text)}")
    if result.text is not None and len(result.text) > SHOWN_CHARACTERS:
        return RetrievedDocument(result.id, result.score, result.text[:SHOWN_CHARACTERS])
    return result


def _is_number(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return False
    try:
        return isfinite(score)
    except OverflowError:  # a whole number beyond what a float holds
        return False


def _score_of(document: RetrievedDocument, place: int) -> float:
    if document.score is None:
        raise ResultFaultError(
            f"result {place} has no score, and the retriever's min_score needs one"
        )
    return document.score


def _kind_of(value: object) -> str:
    if value is None:
        return "nothing (null)"
    return f"of type {type(value).__name__}"


# --- one question ---------------------------------------------------------------------------------


def score_question(
    question: GoldenQuestion, ranking: Ranking, cutoffs: Sequence[int]
) -> QuestionScore:
    """Score one ranking against its labels.

    Shapes: `cutoffs` ascend, as `check_cutoffs` gives them; `ranking` was cut at the largest.
    """
    grades = question.grades
    ranked = [document.id for document in ranking.documents]
    hard_class, form = question.hard_class, question.form.value
    if not grades:
        return QuestionScore(form, hard_class, False, None, len(ranked))
    return QuestionScore(
        form=form,
        hard_class=hard_class,
        is_answerable=True,
        first_hit=first_hit(ranked, grades),
        returned=len(ranked),
        reciprocal_rank=reciprocal_rank(ranked, grades),
        recall={cutoff: recall(ranked[:cutoff], grades) for cutoff in cutoffs},
        ndcg=ndcg(ranked, grades, NDCG_CUTOFF),
        expected=tuple(sorted(grades, key=lambda one: -grades[one])),
    )


def grade_question(question: GoldenQuestion, ranking: Ranking, cutoffs: Sequence[int]) -> Grade:
    """Grade one ranking: passed is a hit at 1, the score is a hit at 3."""
    score = score_question(question, ranking, cutoffs)
    return Grade(
        passed=score.is_hit(1),
        score=Fraction(int(score.is_hit(3))),
        reason=describe_miss(question, ranking, score),
        yardstick=YARDSTICK,
        question=score,
    )


def describe_miss(question: GoldenQuestion, ranking: Ranking, score: QuestionScore) -> str:
    """Say what was wanted and what came back instead; empty where the first place is right."""
    if score.is_hit(1):
        return ""
    came = _name_some([document.id for document in ranking.documents]) or "nothing"
    if not score.is_answerable:
        return f"wanted nothing, got {came}"
    wanted = _name_some(list(question.grades), " or ")
    place = f", right at rank {score.first_hit}" if score.first_hit is not None else ""
    return f"wanted {wanted}, got {came}{place}"


def _name_some(identifiers: Sequence[str], between: str = ", ", most: int = 3) -> str:
    named = between.join(identifiers[:most])
    more = len(identifiers) - most
    return f"{named} and {more} more" if more > 0 else named


# --- all questions --------------------------------------------------------------------------------


def summarize_retrieval(
    scores: Iterable[QuestionScore], cutoffs: Sequence[int]
) -> RetrievalSummary:
    """Sum up measured questions: all, by form, by hard class; a group without any is left out."""
    all_scores = list(scores)
    rows = []
    if all_scores:
        rows.append(_make_row("all", "all", all_scores, cutoffs))
    for group in ("form", "hard_class"):
        by_name: dict[str, list[QuestionScore]] = {}
        for score in all_scores:
            name = score.form if group == "form" else score.hard_class
            if name is not None:
                by_name.setdefault(name, []).append(score)
        names = sorted(by_name, reverse=group == "form")  # match before gap
        rows.extend(_make_row(group, name, by_name[name], cutoffs) for name in names)
    return RetrievalSummary(cutoffs=tuple(cutoffs), rows=tuple(rows))


def _make_row(
    group: str, name: str, scores: Sequence[QuestionScore], cutoffs: Sequence[int]
) -> RetrievalRow:
    answerable = [score for score in scores if score.is_answerable]
    recalls = [score.recall for score in answerable if score.recall is not None]
    return RetrievalRow(
        group=group,
        name=name,
        questions=len(scores),
        answerable=len(answerable),
        hits={cutoff: sum(score.is_hit(cutoff) for score in scores) for cutoff in cutoffs},
        mean_reciprocal_rank=_mean(score.reciprocal_rank for score in answerable),
        mean_recall=(
            {cutoff: sum(one[cutoff] for one in recalls) / len(recalls) for cutoff in cutoffs}
            if recalls
            else None
        ),
        mean_ndcg=_mean(score.ndcg for score in answerable),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


# --- what is comparable, what does not belong -----------------------------------------------------


ANY_CORPUS = "any"
"""What the labels' fingerprints say of the corpus where a changed one is to be compared."""


def question_fingerprints(question: GoldenQuestion, corpus: str | None) -> Fingerprints:
    """Fingerprint what makes a question comparable.

    `corpus` is the corpus revision the labels speak of; None (not known) gives no fingerprint of
    the grading. Order of the expected documents and the gist do not count.
    """
    labels = {
        "form": question.form.value,
        "hard_class": question.hard_class,
        "expected": dict(question.grades),
        "corpus": corpus,
    }
    return Fingerprints(
        asked=fingerprint_of("asked", {"question": question.question}),
        graded=None if corpus is None else fingerprint_of("graded:retrieval", labels),
    )


def find_unknown_expected(
    questions: Iterable[GoldenQuestion], known: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Find expected documents that the corpus does not hold, by question id."""
    found = {}
    for question in questions:
        unknown = tuple(one for one in question.grades if one not in known)
        if unknown:
            found[question.id] = unknown
    return found


def find_unknown_documents(rankings: Iterable[Ranking], known: Collection[str]) -> dict[str, int]:
    """Count documents that were returned but are not in the corpus, most frequent first."""
    counts = Counter(
        document.id
        for ranking in rankings
        for document in ranking.documents
        if document.id not in known
    )
    return dict(counts.most_common())
