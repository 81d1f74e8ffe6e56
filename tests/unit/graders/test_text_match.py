"""`exact` and `contains`: code point by code point, and what only just failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.text_match import (
    CONTAINS,
    EXACT,
    MAX_EXPLAINED_CHARS,
    ContainsType,
    ExactType,
)
from evalcli.protocols import AssertionFaultError

# Every code point, lone surrogates and NUL included.
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT, ANY_TEXT.filter(bool))
def test_contains_is_the_substring_relation(answer: str, value: str) -> None:
    assert CONTAINS.compile(value, {}).evaluate(answer).passed == (value in answer)


@given(ANY_TEXT, ANY_TEXT.filter(bool), ANY_TEXT)
def test_contains_finds_what_is_there(before: str, value: str, after: str) -> None:
    assert CONTAINS.compile(value, {}).evaluate(before + value + after).passed


@given(ANY_TEXT, ANY_TEXT.filter(str.strip))
def test_exact_is_equality_of_trimmed_texts(answer: str, value: str) -> None:
    expected = value.strip() == answer.strip()
    assert EXACT.compile(value, {}).evaluate(answer).passed == expected


@given(ANY_TEXT.filter(str.strip), st.text(st.sampled_from(" \t\r\n\u00a0\u2003\u3000\x85")))
def test_exact_ignores_white_space_around(value: str, space: str) -> None:
    assert EXACT.compile(value, {}).evaluate(space + value + space).passed


def test_exact_keeps_white_space_inside() -> None:
    assert not EXACT.compile("a b", {}).evaluate("a  b").passed


@pytest.mark.parametrize("assertion", [EXACT, CONTAINS], ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("source", "value"),
    [("1.10", 1.1), ("007", 7), ("true", True), ("2026-11-30", "2026-11-30"), ("0x1F", 31)],
)
def test_plain_scalars_keep_their_source_text(
    assertion: ExactType | ContainsType, source: str, value: str | float | bool
) -> None:
    compiled = assertion.compile(SourceScalar(source, value), {})
    assert compiled.evaluate(source).passed
    assert compiled.canonical == assertion.compile(source, {}).canonical


@pytest.mark.parametrize("assertion", [EXACT, CONTAINS], ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (SourceScalar("", None), "is empty"),
        (SourceScalar("", "", is_plain=False), "is empty"),
        (SourceScalar("~", None), "is null where text is needed"),
        (None, "is empty"),
        ("", "is empty"),
        (["a"], "must be text"),
        ({"a": "b"}, "must be text"),
        (42, "must be text"),
    ],
)
def test_values_that_are_no_text_are_faults(
    assertion: ExactType | ContainsType, value: object, message: str
) -> None:
    with pytest.raises(AssertionFaultError) as caught:
        assertion.compile(value, {})
    assert caught.value.message == message
    assert caught.value.path == (assertion.name,)
    assert caught.value.advice


def test_null_says_how_to_quote_it() -> None:
    with pytest.raises(AssertionFaultError) as caught:
        EXACT.compile(SourceScalar("null", None), {})
    assert caught.value.advice == 'quote it: "null"'


def test_exact_refuses_a_value_that_trims_to_nothing() -> None:
    with pytest.raises(AssertionFaultError, match="only white space"):
        EXACT.compile(" \n", {})


def test_contains_accepts_white_space() -> None:
    assert CONTAINS.compile("\n", {}).evaluate("a\nb").passed


@pytest.mark.parametrize(
    ("value", "answer", "hint"),
    [
        ("ACKNOWLEDGED", "Acknowledged.", "case"),
        ("straße", "STRASSE 5", "case"),
        ("caf\u00e9", "a cafe\u0301", "Unicode normalisation (NFC)"),
        ("fine", "\ufb01ne", "case"),
        ("10 \u00b5m", "10 \u03bcm", "case"),
        ("x\u00b2", "x2", "Unicode normalisation (NFKC)"),
        ("a\nb", "a\r\nb", "line ends"),
        ("a b", "a \n b", "white space"),
        ("30 days", "30\u00a0days", "white space"),
        ("Monday to Friday", "MONDAY  to friday", "case and white space"),
    ],
)
def test_near_misses_of_contains_are_explained(value: str, answer: str, hint: str) -> None:
    outcome = CONTAINS.compile(value, {}).evaluate(answer)
    assert not outcome.passed
    assert outcome.reason.endswith(f" (differs only in {hint})")


def test_near_misses_of_exact_are_explained() -> None:
    outcome = EXACT.compile("Yes", {}).evaluate("yes\n")
    assert outcome.reason == 'exact "Yes": the answer is "yes" (differs only in case)'


@pytest.mark.parametrize(
    ("value", "answer"),
    [("Monday", "Lundi"), ("a b", "ab"), ("a", "\u0430"), (" ", "none"), ("ab cd", "cd ab")],
)
def test_real_differences_get_no_hint(value: str, answer: str) -> None:
    assert "differs only" not in CONTAINS.compile(value, {}).evaluate(answer).reason


def test_a_long_answer_is_not_searched_for_near_misses() -> None:
    answer = "monday" + " " * MAX_EXPLAINED_CHARS
    assert "differs" not in CONTAINS.compile("Monday", {}).evaluate(answer).reason


@given(ANY_TEXT.filter(bool), ANY_TEXT)
def test_a_reason_is_given_exactly_where_it_failed(value: str, answer: str) -> None:
    outcome = CONTAINS.compile(value, {}).evaluate(answer)
    assert bool(outcome.reason) != outcome.passed
    assert len(outcome.reason) < 300


def test_value_and_answer_are_cut_in_the_reason() -> None:
    outcome = CONTAINS.compile("v" * 200, {}).evaluate("a" * 200)
    assert outcome.reason == f'contains "{"v" * 59}…": not in "{"a" * 59}…"'


@given(ANY_TEXT.filter(bool), ANY_TEXT)
def test_canonicals_differ_exactly_where_values_do(one: str, other: str) -> None:
    if other:
        same = CONTAINS.compile(one, {}).canonical == CONTAINS.compile(other, {}).canonical
        assert same == (one == other)


def test_exact_and_contains_of_one_text_differ() -> None:
    assert EXACT.compile("a", {}).canonical != CONTAINS.compile("a", {}).canonical


def test_space_around_an_exact_value_means_nothing() -> None:
    assert EXACT.compile(" a\n", {}).canonical == EXACT.compile("a", {}).canonical
