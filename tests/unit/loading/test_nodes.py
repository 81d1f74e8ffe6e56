"""Paths and places in a document."""

from __future__ import annotations

import pytest

from evalcli.declarations.scalars import Path
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    Place,
    find_key_place,
    find_node,
    find_place,
    find_use,
    path_text,
    plain_tree,
)
from tests.support.yaml_text import read_text

TEXT = """\
top: 1
flow: {a: [x, y]}
block:
  - p: 1
    q:
      r: 2
shared: &s
  k: [v]
used: *s
list: [*s, z]
merged: {<<: *s, own: 1}
"""


def tree() -> Node:
    root = read_text(TEXT).root
    assert isinstance(root, MappingNode)
    return root


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("top",), (1, 6)),
        (("flow",), (2, 7)),
        (("flow", "a", 1), (2, 15)),
        (("block",), (3, 1)),
        (("block", 0), (4, 5)),
        (("block", 0, "q"), (5, 5)),
        (("block", 0, "q", "r"), (6, 10)),
        (("block", 0, "missing"), (4, 5)),
        (("block", 7, "x"), (3, 1)),
        (("top", "deeper"), (1, 6)),
        (("used", "k"), (8, 6)),
        (("used",), (7, 9)),
    ],
)
def test_places_of_values(path: Path, place: tuple[int, int]) -> None:
    assert find_place(tree(), path) == Place(*place)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("flow", "a"), (2, 8)),
        (("block", 0, "q"), (5, 5)),
        (("merged", "k"), (8, 3)),
        (("block", 0), (4, 5)),
        (("flow", "none"), (2, 7)),
        ((), (1, 1)),
    ],
)
def test_places_of_keys(path: Path, place: tuple[int, int]) -> None:
    assert find_key_place(tree(), path) == Place(*place)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("used",), Place(9, 7)),
        (("used", "k", 0), Place(9, 7)),
        (("list", 0, "k"), Place(10, 8)),
        (("merged", "k"), Place(11, 10)),
        (("merged", "own"), None),
        (("shared", "k"), None),
    ],
)
def test_places_of_aliases(path: Path, place: Place | None) -> None:
    assert find_use(tree(), path) == place


@pytest.mark.parametrize("path", [("none",), ("top", "x"), ("list", 9), ("list", "x"), ("flow", 0)])
def test_paths_that_lead_nowhere(path: Path) -> None:
    assert find_node(tree(), path) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("prompts", 0, "assertions", 12), "prompts[0].assertions[12]"),
        (("models", "gpt-6-luna", "id"), "models.gpt-6-luna.id"),
        (("models", "gpt-6.1", "id"), 'models["gpt-6.1"].id'),
        ((0, "a"), "[0].a"),
        (("x" * 100,), f'["{"x" * 59}…"]'),
    ],
)
def test_path_text(path: Path, text: str) -> None:
    assert path_text(path) == text


def test_plain_tree_keeps_source_texts() -> None:
    plain = plain_tree(tree())

    assert isinstance(plain, dict)
    assert plain["block"] == [
        {"p": plain["block"][0]["p"], "q": {"r": plain["block"][0]["q"]["r"]}}
    ]
    assert plain["top"].text == "1"
    assert plain["top"].value == 1
