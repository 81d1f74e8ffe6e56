"""Outside text is shown, and never obeyed."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.reports.plain_text import plain_lines, plain_text

_ANY = st.text(st.characters())  # lone surrogates and controls included
_VISIBLE_FORMAT_SIGNS = {
    # Signs of the Arabic, Kaithi and Syriac scripts that have the category of controls and a shape.
    *map(chr, range(0x600, 0x606)),
    "\u06dd",
    "\u0890",
    "\u0891",
    "\u08e2",
    "\U000110bd",
    "\U000110cd",
}


def test_no_control_or_hidden_character_of_unicode_gets_through() -> None:
    passed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        and chr(code) not in _VISIBLE_FORMAT_SIGNS
        and plain_text(chr(code)) == chr(code)
    ]
    assert passed == []


@given(_ANY)
def test_result_is_one_line_without_controls(text: str) -> None:
    shown = plain_text(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert len(shown.splitlines()) <= 1


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), max_codepoint=0x10FF)))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert plain_text(text) == text


@given(_ANY)
def test_result_can_be_encoded(text: str) -> None:
    plain_text(text).encode()


@given(_ANY)
def test_making_it_harmless_twice_changes_nothing(text: str) -> None:
    once = plain_text(text)
    assert plain_text(once) == once


@given(_ANY, st.integers(0, 20))
def test_limit_bounds_the_result(text: str, limit: int) -> None:
    shown = plain_text(text, limit=limit)
    assert len(shown) <= limit
    assert shown == plain_text(text) or limit == 0 or shown.endswith("…")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b2J", r"\x9b2J"),
        ("a\nb\r\nc\td", r"a\nb\r\nc\td"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2028b", r"a\u2028b"),
        ("\ud800", r"\ud800"),
        ("\x00", r"\x00"),
        ("a\u200bb", r"a\u200bb"),
        ("a\u200db", r"a\u200db"),
        ("x\U000e0041", r"x\U000e0041"),
        ("x\ufe0f", r"x\ufe0f"),
        ("[bold]no[/bold] [/INST]", "[bold]no[/bold] [/INST]"),
        (r"already \x1b", r"already \x1b"),
    ],
)
def test_what_is_not_visible_is_spelled_out(text: str, shown: str) -> None:
    assert plain_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧",
        "❤️",
        "1️⃣",
        "می‌خواهم",
        "क्‍ष",
        "日本語",
        "é",
        "🛟",
    ],
)
def test_joiners_and_selectors_stay_where_they_spell(text: str) -> None:
    assert plain_text(text) == text


def test_cutting_does_not_look_at_what_is_cut_away() -> None:
    assert plain_text("a" * 10_000_000, limit=5) == "aaaa…"


def test_lines_are_kept_and_tabs_become_spaces() -> None:
    assert plain_lines("a\tb\r\n\r\n[x] \x1b\rc\n") == ["a    b", "", r"[x] \x1b\rc"]


def test_text_without_a_line_end_is_one_line() -> None:
    assert plain_lines("a") == ["a"]
    assert plain_lines("") == [""]
    assert plain_lines("\n") == [""]


@given(_ANY)
def test_lines_hold_no_controls(text: str) -> None:
    for line in plain_lines(text):
        assert plain_text(line) == line
