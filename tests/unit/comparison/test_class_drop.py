"""Hard classes before and after."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evalcli.comparison.class_drop import find_class_drops
from evalcli.comparison.overlap import Pair

YES, NO = Fraction(1), Fraction(0)


def make_pairs(name: str, count: int, *, before: Fraction, after: Fraction) -> list[Pair]:
    """Make questions that all have a hit at 3 and change their hit at 1."""
    return [Pair(f"{name}-{number}", before, after, YES, YES) for number in range(count)]


def test_a_class_that_falls_shows_while_the_total_rises() -> None:
    weak = make_pairs("weak", 5, before=YES, after=NO)
    strong = make_pairs("strong", 10, before=NO, after=YES)
    classes = {pair.prompt_id: pair.prompt_id.partition("-")[0] for pair in [*weak, *strong]}

    drops = {
        (one.name, one.cutoff): one.drop for one in find_class_drops([*weak, *strong], classes)
    }

    assert drops == {("strong", 1): -1, ("strong", 3): 0, ("weak", 1): 1, ("weak", 3): 0}


@pytest.mark.parametrize(("count", "is_gated"), [(4, False), (5, True)])
def test_a_class_under_five_questions_is_reported_but_not_gated(count: int, is_gated: bool) -> None:
    pairs = make_pairs("rare", count, before=YES, after=YES)

    drops = find_class_drops(pairs, {pair.prompt_id: "rare" for pair in pairs})

    assert [drop.is_gated for drop in drops] == [is_gated, is_gated]
    assert {drop.questions for drop in drops} == {count}


def test_a_question_without_a_class_counts_in_none() -> None:
    pairs = make_pairs("plain", 6, before=YES, after=NO)

    assert find_class_drops(pairs, {pair.prompt_id: None for pair in pairs[:3]}) == ()
