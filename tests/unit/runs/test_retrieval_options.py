"""What a run of questions is told, and what a resumed one need not be told again."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from evalcli.declarations.workspace import EvalSettings
from evalcli.errors import UsageError
from evalcli.records import Run
from evalcli.runs.retrieval_options import (
    RetrievalOptions,
    check_retrieval_options,
    read_retrieval_limits,
    resumed_retrieval_options,
    stored_retrieval_options,
)
from evalcli.runs.retriever_access import choose_names
from tests.support.question_outcomes import handbook, make_question_run

SETTINGS = EvalSettings(
    max_pass_rate_drop=Decimal("0.9"),
    max_top1_drop=Decimal("0.2"),
    min_top3_rate=Decimal("0.7"),
    require_baseline=True,
)


def test_limits_are_those_of_questions_and_options_go_before_the_workspace() -> None:
    options = RetrievalOptions(
        max_top3_drop="0.05",
        max_class_drop=Decimal("0.3"),
        min_top1_rate=1,
        fail_on_regression=True,
    )

    limits, workspace = read_retrieval_limits(options, SETTINGS)

    assert (limits.max_pass_rate_drop, limits.max_mean_score_drop) == (
        Fraction(1, 5),
        Fraction(1, 20),
    )
    assert (limits.min_pass_rate, limits.min_mean_score) == (Fraction(1), Fraction(7, 10))
    assert (limits.max_class_drop, workspace.max_class_drop) == (Fraction(3, 10), None)
    assert (workspace.max_mean_score_drop, workspace.min_pass_rate) == (Fraction(1, 10), None)
    assert limits.require_baseline
    assert (limits.fail_on_regression, workspace.fail_on_regression) == (True, False)


@pytest.mark.parametrize("name", ["max_top1_drop", "max_class_drop", "min_top3_rate"])
def test_a_limit_out_of_range_names_its_option(name: str) -> None:
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} 1.5 is not a limit"):
        read_retrieval_limits(RetrievalOptions(**{name: "1.5"}), SETTINGS)  # type: ignore[arg-type]  # one of three


@pytest.mark.parametrize(
    "options", [RetrievalOptions(concurrency=0), RetrievalOptions(only=("a", "a"))]
)
def test_numbers_out_of_range_and_repeated_ids_are_refused(options: RetrievalOptions) -> None:
    with pytest.raises(UsageError):
        check_retrieval_options(options)


def test_what_was_given_comes_back_and_what_is_given_now_goes_before() -> None:
    first = RetrievalOptions(
        cutoffs=(1, 20), only=("a",), max_top1_drop="0.3", is_draft=True, concurrency=3
    )
    stored = stored_retrieval_options(first)

    resumed = resumed_retrieval_options(RetrievalOptions(max_top1_drop="0.1", resume="x"), stored)

    assert stored == {
        "cutoffs": [1, 20],
        "only": ["a"],
        "max_top1_drop": "0.3",
        "is_draft": True,
    }
    assert resumed == RetrievalOptions(
        cutoffs=(1, 20), only=("a",), max_top1_drop="0.1", is_draft=True, resume="x"
    )


def a_run() -> Run:
    return make_question_run(handbook())


@pytest.mark.parametrize(
    ("given", "declared", "resumed", "chosen"),
    [
        ((None, None), (), False, ("nr.manual", "nr.lexical")),
        ((None, None), ("site",), False, ("nr.manual", "nr.lexical")),
        (("nr.manual", None), ("site",), False, ("nr.manual", "nr.lexical")),
        (("acme.x", None), ("site",), False, ("acme.x", "site")),
        (("acme.x", "b"), ("a", "b"), False, ("acme.x", "b")),
        ((None, None), ("site",), True, ("acme.handbook", "handbook")),
        (("acme.x", None), (), True, ("acme.x", "handbook")),
    ],
)
def test_names_that_are_not_given_are_those_that_can_only_be_meant(
    given: tuple[str | None, str | None],
    declared: tuple[str, ...],
    resumed: bool,
    chosen: tuple[str, str],
) -> None:
    assert choose_names(*given, declared, a_run() if resumed else None) == chosen


@pytest.mark.parametrize("declared", [(), ("a", "b")])
def test_a_set_alone_is_refused_where_several_retrievers_could_be_meant(
    declared: tuple[str, ...],
) -> None:
    with pytest.raises(UsageError, match=r"no retriever is named for acme\.x"):
        choose_names("acme.x", None, declared, None)
