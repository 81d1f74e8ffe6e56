"""Lines are measured in cells, wrapped on a terminal, and left alone without one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evalcli.reports.text_layout import Page, Report, cut_to_width, pad_to_width, wrap_text

_TEXT = st.text("ab c日é`-", max_size=80)


@given(_TEXT, st.integers(4, 40))
def test_wrapped_pieces_fit(text: str, width: int) -> None:
    assert all(cell_len(piece) <= width for piece in wrap_text(text, width))


@given(_TEXT, st.integers(4, 40))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    assert "".join(wrap_text(text, width)).replace(" ", "") == text.replace(" ", "")


@given(_TEXT, st.integers(2, 40))
def test_cut_text_fits(text: str, width: int) -> None:
    assert cell_len(cut_to_width(text, width)) <= width


def test_words_stay_whole() -> None:
    assert wrap_text("one two three", 8) == ["one two", "three"]


def test_command_stays_whole_where_it_fits() -> None:
    assert wrap_text("see `a b c` now", 8) == ["see", "`a b c`", "now"]


def test_command_longer_than_a_line_is_broken_at_its_spaces() -> None:
    assert wrap_text("`aaaa bbbb cccc`", 10) == ["`aaaa bbbb", "cccc`"]


def test_word_longer_than_a_line_is_broken() -> None:
    assert wrap_text("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_indentation_of_a_line_is_kept() -> None:
    assert wrap_text("    four four", 9) == ["    four", "four"]


def test_wide_characters_count_twice() -> None:
    assert wrap_text("日本語", 4) == ["日本", "語"]
    assert cut_to_width("日本語", 5) == "日本…"
    assert pad_to_width("日本", 6) == "日本  "


def test_page_without_a_terminal_wraps_nothing() -> None:
    page = Page(None)
    page.say("word " * 100, lead="LEAD: ", style="red", indent=2, hang=4)
    page.label("name", "text " * 100)
    assert len(page.lines) == 2


def test_continuation_lines_hang() -> None:
    page = Page(40)
    page.label("name", "word " * 12, name_width=6)
    lines = [line.plain for line in page.lines]
    assert lines[0].startswith("  name    word")
    assert all(line.startswith(" " * 10 + "word") for line in lines[1:])


def test_only_the_lead_is_marked() -> None:
    page = Page(80)
    page.say("all is well", lead="PASSED: ", style="green")
    (span,) = page.lines[0].spans
    assert (span.start, span.end, span.style) == (0, 8, "green")


def test_facts_share_a_line_on_a_terminal_only() -> None:
    pairs = [("Pass rate", "92.5 %"), ("Cost", "$1.00")]
    wide, piped = Page(80), Page(None)
    wide.facts(pairs)
    piped.facts(pairs)
    assert [line.plain for line in wide.lines] == ["Pass rate  92.5 %   Cost  $1.00"]
    assert [line.plain for line in piped.lines] == ["Pass rate  92.5 %", "Cost       $1.00"]


def test_heading_breaks_between_its_parts() -> None:
    page = Page(40)
    page.heading(["acme.faq", "forty prompts of them", "three fail"])
    assert [line.plain for line in page.lines] == ["acme.faq · forty prompts of them", "three fail"]


def test_blank_lines_do_not_add_up() -> None:
    page = Page(80)
    page.blank()
    page.say("a")
    page.blank()
    page.blank()
    page.say("b")
    assert [line.plain for line in page.lines] == ["a", "", "b"]


def test_report_ends_without_blank_lines() -> None:
    def write(page: Page) -> None:
        page.say("a")
        page.blank()

    assert Report(write).text(80) == "a\n"


def test_columns_need_a_terminal() -> None:
    with pytest.raises(ValueError, match="width"):
        Page(None).columns(["a"], ["b"], indent=2)


def test_columns_stand_beside_each_other() -> None:
    page = Page(40)
    page.columns(["left", "more"], ["right"], indent=2)
    assert [line.plain for line in page.lines] == [
        "  left              │ right",
        "  more              │",
    ]
