"""The size of an unfolded pattern is estimated, and never too low by much."""

from __future__ import annotations

import pytest

from evalcli.graders.pattern_size import unfolded_size


@pytest.mark.parametrize(
    ("pattern", "at_least", "at_most"),
    [
        ("abc", 3, 3),
        ("a{1000}", 1000, 1001),
        (r"[\s\S]{2000,}", 2000, 2001),
        ("a{0,5000}b{,5000}", 0, 20),
        ("(a{100}){100}", 10_000, 10_200),
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}" * 10, 100, 200),
        ("((a{1000}){1000}){1000}", 10**9, 10**9),
        ("a{99999999999999999999}", 10**9, 10**9),
        ("[)]{5}", 5, 6),
    ],
)
def test_estimate(pattern: str, at_least: int, at_most: int) -> None:
    assert at_least <= unfolded_size(pattern) <= at_most


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a{1000}[)]){1000}",
        "(?#[)(a{1000}){1000}",
        "(?x)# [\n(a{1000}){1000}",
        "(?x)(a{1000}) {1000}",
        r"(?x)(a{1000}){ 1000 }",
        "(?V1)(?:a{1000}[[a](]){1000}",
        r"(?:a{1000}\)){1000}",
        "(a{1000})(?#comment){1000}",
    ],
)
def test_a_big_pattern_cannot_hide(pattern: str) -> None:
    assert unfolded_size(pattern) >= 1_000_000 / 2
