"""Text of a file → passages: by Markdown heading, or by size with overlap; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text. `name` tells it apart within its file; `title` is its heading path."""

    name: str
    title: str
    text: str


_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def split_by_heading(text: str) -> Iterator[Chunk]:
    """Split Markdown at its `#` headings; what stands before the first is a chunk without title.

    A chunk's title is the path of headings down to its own, its name the heading as GitHub links
    it (`#exit-status`, a second one `#exit-status-1`), empty before the first heading. Sections
    without a text of their own are left out, as the titles of those below say theirs; without
    any text, all headings are chunks. Code fences are respected.
    """
    sections = list(_sections(text))
    filled = [section for section in sections if section.text]
    return iter(filled or [section for section in sections if section.title] or sections[:1])


def _sections(text: str) -> Iterator[Chunk]:
    used: set[str] = set()
    titles: list[tuple[int, str]] = []
    name, lines, fence = "", list[str](), ""
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line) if not fence else None
        fence = _next_fence(fence, line)
        if heading is None:
            lines.append(line)
            continue
        yield Chunk(name, _join_titles(titles), "\n".join(lines).strip())
        level = len(heading[1])
        titles = [(above, title) for above, title in titles if above < level]
        titles.append((level, heading[2]))
        name, lines = _unique_slug(heading[2], used), []
    yield Chunk(name, _join_titles(titles), "\n".join(lines).strip())


def _join_titles(titles: list[tuple[int, str]]) -> str:
    return " › ".join(title for _, title in titles if title)


def _next_fence(fence: str, line: str) -> str:
    """Follow code fences: the mark of the open one, empty outside."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark = found[1]
    if not fence:
        return mark
    is_closing = mark[0] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return "" if is_closing else fence


def _unique_slug(title: str, used: set[str]) -> str:
    slug = first = slug_of(title) or "section"
    times = 0
    while slug in used:
        times += 1
        slug = f"{first}-{times}"
    used.add(slug)
    return slug


def slug_of(title: str) -> str:
    """Write a heading as GitHub does in links: lower case, hyphens, no punctuation."""
    kept = (
        "-" if sign == " " else sign
        for sign in unicodedata.normalize("NFC", title).strip().lower()
        if sign in " -_" or unicodedata.category(sign)[0] in "LNM"
    )
    return "".join(kept)


def split_by_size(text: str, size: int, overlap: int) -> Iterator[Chunk]:
    """Split a text into chunks of at most `size` characters, at white space where there is some.

    Neighbours share up to `overlap` characters. Names count from 1.
    """
    start, number = 0, 0
    while start < len(text):
        end = _break_before(text, start, start + size)
        piece = text[start:end].strip()
        if piece:
            number += 1
            yield Chunk(str(number), "", piece)
        if end >= len(text):
            return
        start = max(start + 1, _word_start(text, end - overlap, end))


def _break_before(text: str, start: int, end: int) -> int:
    """Find the last white space in the second half of a chunk; its end where there is none."""
    if end >= len(text):
        return len(text)
    middle = start + (end - start) // 2
    for place in range(end, middle, -1):
        if text[place].isspace():
            return place
    return end


def _word_start(text: str, place: int, end: int) -> int:
    """Move a chunk's start to the beginning of a word, not beyond `end`."""
    if place >= end:
        return end
    for at in range(place, end):
        if text[at - 1].isspace():
            return at
    return place
