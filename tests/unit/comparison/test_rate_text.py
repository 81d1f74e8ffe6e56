"""What a finding says of a rate."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evalcli.comparison.rate_text import format_count, format_names, rate_words


def test_a_drop_of_the_pass_rate_names_its_limit_as_a_setting() -> None:
    message = rate_words("prompts")[0].describe_drop(
        Fraction(3, 40), Fraction(1, 20), is_setting=True
    )
    assert message == (
        "the pass rate fell by 7.5 points, the limit is 5.0 (eval.max_pass_rate_drop)"
    )


def test_a_drop_of_the_mean_score_names_its_limit_as_an_option() -> None:
    message = rate_words("prompts")[1].describe_drop(
        Fraction(1, 16), Fraction(1, 20), is_setting=False
    )
    assert message == "the mean score fell by 0.062, the limit is 0.050 (--max-mean-score-drop)"


def test_a_rate_below_its_floor_says_over_what() -> None:
    message = rate_words("prompts")[0].describe_floor(
        Fraction(1, 2), Fraction(3, 4), scope=" over the 2 chosen prompts", is_setting=False
    )
    assert message == (
        "the pass rate over the 2 chosen prompts is 50.0 %, the floor is 75.0 % (--min-pass-rate)"
    )


def test_a_mean_score_below_its_floor_is_a_score() -> None:
    message = rate_words("prompts")[1].describe_floor(
        Fraction(1, 2), Fraction(3, 4), is_setting=True
    )
    assert message == "the mean score is 0.500, the floor is 0.750 (eval.min_mean_score)"


def test_questions_have_hit_rates_in_points() -> None:
    top_1, top_3 = rate_words("questions")
    drop = Fraction(1, 4), Fraction(1, 10)
    assert top_1.describe_drop(*drop, is_setting=True) == (
        "the top-1 hit rate fell by 25.0 points, the limit is 10.0 (eval.max_top1_drop)"
    )
    assert top_3.describe_drop(*drop, is_setting=False) == (
        "the top-3 hit rate fell by 25.0 points, the limit is 10.0 (--max-top3-drop)"
    )


def test_twenty_names_are_listed_and_the_rest_counted() -> None:
    names = [f"p{number}" for number in range(22)]
    assert format_names(names[:20]).endswith("p18, p19")
    assert format_names(names).endswith("p18, p19 and 2 more")


@pytest.mark.parametrize(("count", "text"), [(0, "0 prompts"), (1, "1 prompt"), (2, "2 prompts")])
def test_a_count_agrees_with_its_noun(count: int, text: str) -> None:
    assert format_count(count, "prompt") == text
