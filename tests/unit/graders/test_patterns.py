"""`regex`: how a pattern is written, what is refused at load, and that time is bounded."""

from __future__ import annotations

import threading
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.bounds import MAX_STOPS, EvaluationStoppedError
from evalcli.graders.patterns import REGEX, RegexType, compile_pattern, search_within
from evalcli.protocols import AssertionFaultError
from evalcli.records import AssertionOutcome

LIMIT_S = 0.05
RUNAWAY = "^(a|aa)+$"
RUNAWAY_ANSWER = "a" * 60 + "!"

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def evaluate(pattern: str, answer: str) -> AssertionOutcome:
    return RegexType(LIMIT_S).compile(pattern, {}).evaluate(answer)


def fault_of(pattern: object) -> AssertionFaultError:
    with pytest.raises(AssertionFaultError) as caught:
        REGEX.compile(pattern, {})
    assert caught.value.path == ("regex",)
    assert caught.value.advice
    return caught.value


# --- how it is written ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "answer", "found"),
    [
        ("30 days", "within 30 days of", True),
        ("30 Days", "within 30 days of", False),
        ("/30 Days/i", "within 30 days of", True),
        ("/^b$/m", "a\nb\nc", True),
        ("^b$", "a\nb\nc", False),
        ("/a.b/s", "a\nb", True),
        ("a.b", "a\nb", False),
        ("/a  b # comment/x", "ab", True),
        ("/é/u", "café", True),
        (r"/9(:00)?\s*(am|–|-)/i", "From 9 AM on", True),
        (r"/a\/b/", "a/b", True),
        (r"\p{Greek}", "λ", True),
        (r"\d", "٣", True),
        ("//x"[1:] + "/", "x", True),
    ],
)
def test_search(pattern: str, answer: str, found: bool) -> None:
    assert evaluate(pattern, answer).passed == found


def test_a_plain_scalar_keeps_its_source_text() -> None:
    compiled = REGEX.compile(SourceScalar("1.10", 1.1), {})
    assert compiled.evaluate("1x10").passed
    assert not compiled.evaluate("1.1").passed


PATTERNS = st.lists(
    st.sampled_from(["a", "b", ".", "[ab]", "(a|b)", "a*", "b?", r"\d", r"\w", "^", "$", "é", "|"]),
    min_size=1,
    max_size=6,
).map("".join)


@given(PATTERNS, st.one_of(ANY_TEXT, st.text("abé1 \n")))
def test_finds_exactly_what_the_package_finds(pattern: str, answer: str) -> None:
    expected = regex.search(pattern, answer) is not None
    assert RegexType(5).compile(pattern, {}).evaluate(answer).passed == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "/a/"),
        ("a", "/a/u"),
        ("/a/im", "/a/mi"),
        ("/a/imu", "/a/mi"),
        ("a/b", r"/a\/b/"),
        (r"a\\b/c", r"/a\\b\/c/"),
    ],
)
def test_same_meaning_has_one_canonical_text(one: str, other: str) -> None:
    assert REGEX.compile(one, {}).canonical == REGEX.compile(other, {}).canonical


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("a", "/a/i"), ("/a/i", "/a/s")])
def test_other_meaning_has_another_canonical_text(one: str, other: str) -> None:
    assert REGEX.compile(one, {}).canonical != REGEX.compile(other, {}).canonical


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("/abc", 'begins with "/", and the closing "/" is missing'),
        (r"/abc\/", 'begins with "/", and the closing "/" is missing'),
        ("/", 'begins with "/", and the closing "/" is missing'),
        ("/a/b/", 'has an unescaped "/" inside the pattern, at character 3'),
        ("/[/]/", 'has an unescaped "/" inside the pattern, at character 3'),
        ("/usr/bin", '"bin" after the closing "/": unknown flag "b", known are i m s x u'),
        ("/a/g", '"g" after the closing "/": unknown flag "g", known are i m s x u'),
        ("/a/I", '"I" after the closing "/": unknown flag "I", known are i m s x u'),
        ("/a/ii", 'the flag "i" is there twice'),
        ("//", "the pattern is empty"),
        ("//i", "the pattern is empty"),
        ("", "is empty"),
        ("(a", "is not a valid pattern: missing ) at character 3"),
        ("/(a/", "is not a valid pattern: missing ) at character 4"),
        ("a**", "is not a valid pattern: multiple repeat at character 3"),
        ("[a", "is not a valid pattern: unterminated character set at character 3"),
        (r"\p{Foo}", "is not a valid pattern: unknown property at character 8"),
        (r"\L<names>", "is not a valid pattern: undefined named list at character 10"),
    ],
)
def test_faults(pattern: str, message: str) -> None:
    assert fault_of(pattern).message == message


@pytest.mark.parametrize("pattern", ["/abc", "/a/b/", "/usr/bin"])
def test_slash_faults_say_to_escape_or_to_drop_the_delimiters(pattern: str) -> None:
    assert r"escape a / of the pattern as \/, or drop the delimiters" in fault_of(pattern).advice


@pytest.mark.parametrize(
    ("character", "escape"),
    [("\b", r"\b"), ("\f", r"\f"), ("\v", r"\v"), ("\0", r"\0"), ("\a", r"\a"), ("\u2029", r"\P")],
)
def test_escapes_that_double_quotes_ate_are_faults(character: str, escape: str) -> None:
    fault = fault_of(f"/x{character}word/")
    assert f"U+{ord(character):04X} at character 3; YAML makes it of {escape} in double" in (
        fault.message
    )
    assert fault.advice == "write the pattern in single quotes"


@pytest.mark.parametrize("pattern", ["a\tb", "a\nb", "a\r\nb"])
def test_tabs_and_line_breaks_may_stand_in_a_pattern(pattern: str) -> None:
    assert evaluate(pattern, pattern).passed


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{1000}){1000}",
        "((a{1000}){1000}){1000}",
        "a{4294967294}",
        "(" * 5_000 + ")" * 5_000,
        "a" * 100_000,
    ],
    ids=["square", "cube", "wide", "deep", "long"],
)
def test_patterns_that_explode_while_compiling_are_refused_at_once(pattern: str) -> None:
    started = time.process_time()
    fault_of(pattern)
    assert time.process_time() - started < 1


@given(st.text("ab(){}[]|*+?^$\\.-,0123456789<>=!:#PVLpi/ \t", max_size=30))
def test_any_text_is_a_pattern_or_a_fault(pattern: str) -> None:
    try:
        compiled = RegexType(LIMIT_S).compile(pattern, {})
    except AssertionFaultError as fault:
        assert fault.message
    else:
        assert compiled.evaluate("ab12").type == "regex"


# --- time -------------------------------------------------------------------------------------

RUNAWAYS = [
    (RUNAWAY, RUNAWAY_ANSWER),
    (r"(?:a|aa|aaa)+?$", RUNAWAY_ANSWER),
    (r"(.*?,){30}P", "1," * 60),
    (r"(?>(a|aa)+)b", "a" * 100_000),
    (r"(?R)a", "aaa"),
    (r"(?:(?:a{1,100}){1,100}){1,100}b", "a" * 100_000),
    (r"(?e)(?:hello world how are you){e<=10}", "xyz " * 10_000),
    (r"(?if)(straße)+x", "strasse" * 2_000),
]


@pytest.mark.parametrize(("pattern", "answer"), RUNAWAYS, ids=[pattern for pattern, _ in RUNAWAYS])
def test_runaway_patterns_are_stopped(pattern: str, answer: str) -> None:
    outcome = evaluate(pattern, answer)
    assert not outcome.passed
    assert not outcome.is_evaluated
    assert outcome.reason == f"regex /{pattern}/: could not be evaluated: stopped after 0.05 s"


def test_a_pattern_is_not_tried_again_after_three_stops() -> None:
    compiled = RegexType(LIMIT_S).compile(RUNAWAY, {})
    reasons = [compiled.evaluate(RUNAWAY_ANSWER).reason for _ in range(MAX_STOPS + 1)]
    assert all("stopped after" in reason for reason in reasons[:-1])
    assert "not tried again, it was stopped 3 times in this run" in reasons[-1]
    # Not even where it would be quick.
    assert not compiled.evaluate("aa").is_evaluated
    quick = compiled.try_quickly("aa")
    assert quick is not None
    assert not quick.is_evaluated


def test_a_short_try_does_not_count_as_a_stop() -> None:
    compiled = RegexType(LIMIT_S).compile(RUNAWAY, {})
    assert [compiled.try_quickly(RUNAWAY_ANSWER) for _ in range(MAX_STOPS + 1)] == [None] * 4
    assert compiled.evaluate("aa").passed


def test_what_other_threads_compute_does_not_stop_a_search() -> None:
    """The package's own limit counts the computing time of the whole process."""
    end = threading.Event()
    busy = compile_pattern(RUNAWAY)

    def compute() -> None:
        while not end.is_set():
            with pytest.raises(EvaluationStoppedError):
                search_within(busy, RUNAWAY_ANSWER, 0.02)

    others = [threading.Thread(target=compute) for _ in range(3)]
    for other in others:
        other.start()
    try:
        started = time.thread_time()
        with pytest.raises(EvaluationStoppedError):
            search_within(compile_pattern(RUNAWAY), RUNAWAY_ANSWER, 0.1)
        assert time.thread_time() - started >= 0.09
    finally:
        end.set()
        for other in others:
            other.join()


# --- reasons ----------------------------------------------------------------------------------


def test_the_reason_names_pattern_and_answer() -> None:
    assert evaluate("/30 days/i", "You can return items.").reason == (
        'regex /30 days/i: not found in "You can return items."'
    )


@pytest.mark.parametrize(
    ("pattern", "answer", "hint"),
    [
        ("30 days", "30 DAYS", "case"),
        ("^done$", " done\t", "surrounding white space"),
        ("a\nb", "a\r\nb", "line ends"),
        ("caf\u00e9", "cafe\u0301", "Unicode normalisation (NFC)"),
        (r"e\u0301", "caf\u00e9", "Unicode normalisation (NFD)"),
        ("fine", "\uff46ine", "Unicode normalisation (NFKC)"),
    ],
)
def test_near_misses_are_explained(pattern: str, answer: str, hint: str) -> None:
    assert evaluate(pattern, answer).reason.endswith(f" (differs only in {hint})")


def test_a_real_difference_gets_no_hint() -> None:
    assert "differs" not in evaluate("/monday/i", "Lundi").reason
