"""Splitting by heading and by size."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.retrieval.chunking import Chunk, slug_of, split_by_heading, split_by_size

TEXT = """\
Before.

# Guide

Intro.

## Exit status

Zero is fine.

```sh
# no heading
```

## Exit status

Again.

# Other ##

### Deep

Down here.
"""


def test_each_heading_begins_a_chunk_with_its_path_as_title() -> None:
    assert list(split_by_heading(TEXT)) == [
        Chunk("", "", "Before."),
        Chunk("guide", "Guide", "Intro."),
        Chunk("exit-status", "Guide › Exit status", "Zero is fine.\n\n```sh\n# no heading\n```"),
        Chunk("exit-status-1", "Guide › Exit status", "Again."),
        Chunk("deep", "Other › Deep", "Down here."),
    ]


def test_a_text_of_headings_alone_is_found_by_them() -> None:
    assert list(split_by_heading("\n# Leaving\n## Notice\n# Moving\n")) == [
        Chunk("leaving", "Leaving", ""),
        Chunk("notice", "Leaving › Notice", ""),
        Chunk("moving", "Moving", ""),
    ]


def test_a_heading_without_words_and_text_is_one_chunk() -> None:
    assert len(list(split_by_heading("#  #\n"))) == 1


def test_headings_that_look_like_numbered_ones_get_names_of_their_own() -> None:
    names = [chunk.name for chunk in split_by_heading("# a\nx\n# a-1\nx\n# a\nx\n")]

    assert names == ["a", "a-1", "a-2"]


def test_a_longer_fence_is_closed_by_one_as_long_only() -> None:
    text = "````\n```\n# no\n````\n# yes\n\ntext\n"

    assert [chunk.name for chunk in split_by_heading(text)] == ["", "yes"]


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Exit status", "exit-status"),
        ("What's `--k`?", "whats---k"),
        ("Über uns", "über-uns"),
        ("snake_case", "snake_case"),
    ],
)
def test_a_heading_is_named_as_in_links(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_chunks_of_a_size_share_their_overlap() -> None:
    text = " ".join(f"word{number:02d}" for number in range(40))

    chunks = [chunk.text for chunk in split_by_size(text, 100, 30)]

    assert all(len(chunk) <= 100 for chunk in chunks)
    for before, after in pairwise(chunks):
        shared = after.split()[0]
        assert shared in before.split()[1:]
        assert len(before) - before.index(shared) <= 30


def test_a_text_without_white_space_is_cut_all_the_same() -> None:
    assert [chunk.text for chunk in split_by_size("x" * 250, 100, 0)] == [
        "x" * 100,
        "x" * 100,
        "x" * 50,
    ]


def test_an_empty_text_has_no_chunk_of_a_size() -> None:
    assert list(split_by_size("  \n", 100, 10)) == []


@given(st.text(max_size=600), st.integers(50, 200), st.data())
def test_no_word_is_lost_by_size(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))

    chunks = [chunk.text for chunk in split_by_size(text, size, overlap)]

    assert all(0 < len(chunk) <= size for chunk in chunks)
    together = "".join("".join(chunks).split())
    assert set(together) == set("".join(text.split()))
    for word in text.split():
        if len(word) < size // 2:
            assert any(word in chunk for chunk in chunks)


@given(st.text(alphabet="#`~ \nab-", max_size=200))
def test_splitting_by_heading_never_fails_and_loses_no_letter(text: str) -> None:
    chunks = list(split_by_heading(text))

    assert len({chunk.name for chunk in chunks}) == len(chunks)
