"""What a run amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evalcli.records.runs import Fingerprints


@dataclass(frozen=True, slots=True)
class PromptSummary:
    """One prompt over its trials. None where a trial is missing or unmeasured.

    `hard_class` is a question's, None where it has none.
    """

    prompt_id: str
    fingerprints: Fingerprints
    trials: int
    measured: int
    passed: int
    pass_share: Fraction | None
    score: Fraction | None
    hard_class: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers.

    `pass_rate` and `mean_score` are None unless every prompt is measured; `measured_*` are over
    what was measured, for information. Costs and tokens are None where any call's are unknown;
    `known_cost_usd` sums the known ones.
    """

    prompts: tuple[PromptSummary, ...]
    measured: int
    passed: int
    pass_rate: Fraction | None
    mean_score: Fraction | None
    measured_pass_rate: Fraction | None
    measured_mean_score: Fraction | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    known_cost_usd: Decimal | None
    refused: int
    cut_off: int
    unmeasured: int
    not_graded: int
    yardsticks: tuple[str, ...]
    reported_models: tuple[str, ...]
    has_fallback: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every trial of every prompt has a grade."""
        return self.pass_rate is not None

    @property
    def not_asked(self) -> int:
        """How many trials are missing because the run was stopped before them."""
        without_grade = sum(prompt.trials - prompt.measured for prompt in self.prompts)
        return without_grade - self.unmeasured - self.not_graded


@dataclass(frozen=True, slots=True)
class RetrievalRow:
    """The figures of all questions, of one form or of one hard class.

    `group` is `all`, `form` or `hard_class`; `name` says which. `hits` maps each cutoff to the
    number of questions with a hit. The means are over the `answerable` questions, None where
    there is none; `mean_recall` maps each cutoff to its mean.
    """

    group: str
    name: str
    questions: int
    answerable: int
    hits: Mapping[int, int]
    mean_reciprocal_rank: float | None
    mean_recall: Mapping[int, float] | None
    mean_ndcg: float | None

    def hit_rate(self, cutoff: int) -> Fraction:
        """Share of questions with a hit among the first `cutoff`, exact, in 0..1."""
        return Fraction(self.hits[cutoff], self.questions)


@dataclass(frozen=True, slots=True)
class RetrievalSummary:
    """A retrieval run in numbers: the first row is over all measured questions.

    `cutoffs` ascend; MRR and recall are over the largest.
    """

    cutoffs: tuple[int, ...]
    rows: tuple[RetrievalRow, ...]


@dataclass(frozen=True, slots=True)
class ClassDrop:
    """How one hard class moved, at one cutoff, over the questions that both runs have.

    Units: rates in 0..1, exact. `is_gated` is False for a class too small to judge.
    """

    name: str
    cutoff: int
    questions: int
    before: Fraction
    after: Fraction
    is_gated: bool

    @property
    def drop(self) -> Fraction:
        """How far the rate fell; negative where it rose."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class RankChange:
    """A question whose hit at 1 or at 3 was lost or won.

    `before` and `after` say where its first expected document came, as a person reads it: `1`,
    `2 or 3` (a baseline file knows no ranks), `none of 10`; where nothing answers the question,
    `nothing` or `4 documents`, which is what was returned.
    """

    prompt_id: str
    is_lost: bool
    before: str
    after: str
