"""What a YAML document consists of, each part with its place; and how a path finds its part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from evalcli.declarations.prompt_set import PromptFault
from evalcli.declarations.scalars import Path, SourceScalar, cite


class Place(NamedTuple):
    """A place in a file, from 1; `column` counts characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ScalarNode(SourceScalar):
    """A scalar with its place."""

    line: int = 1
    column: int = 1

    @property
    def place(self) -> Place:
        """Where it begins."""
        return Place(self.line, self.column)


class MappingNode:
    """A mapping: text keys, each with its place and its value.

    `uses` says for keys whose value an alias or a merge brought in where that was written; the
    value's own place is then where the anchor is.
    """

    __slots__ = ("characters", "entries", "height", "keys", "place", "uses", "values")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.entries: dict[str, Node] = {}
        self.keys: dict[str, ScalarNode] = {}
        self.uses: dict[str | int, Place] = {}
        self.values = 1
        self.characters = 0
        self.height = 1


class SequenceNode:
    """A list; `uses` says where the aliases among its items were written."""

    __slots__ = ("characters", "height", "items", "place", "uses", "values")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.items: list[Node] = []
        self.uses: dict[str | int, Place] = {}
        self.values = 1
        self.characters = 0
        self.height = 1


Node = ScalarNode | MappingNode | SequenceNode


class PlacedFault(NamedTuple):
    """One thing that is wrong in a document, before the file's name is known."""

    place: Place
    path: Path
    message: str
    advice: str


def plain_tree(node: Node) -> object:
    """Give the tree without places, as dicts, lists and `SourceScalar`s.

    Bounded: the document's depth is.
    """
    if isinstance(node, MappingNode):
        return {key: plain_tree(value) for key, value in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [plain_tree(item) for item in node.items]
    return node


def child_of(node: Node, step: str | int) -> Node | None:
    """Find the part one step below; None where there is none."""
    if isinstance(node, MappingNode) and isinstance(step, str):
        return node.entries.get(step)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


def find_node(root: Node, path: Path) -> Node | None:
    """Find the part a path names; None where there is none."""
    node: Node | None = root
    for step in path:
        node = child_of(node, step) if node is not None else None
    return node


def find_place(root: Node, path: Path) -> Place:
    """Find where a fault at `path` is: the value, or its key where a block begins further down.

    Where the file lacks a part of the path, it is the mapping or list that lacks it.
    """
    place, node = root.place, root
    for step in path:
        child = child_of(node, step)
        if child is None:
            break
        place = child.place
        if isinstance(node, MappingNode) and not isinstance(child, ScalarNode):
            key_place = node.keys[str(step)].place
            if step not in node.uses and key_place.line != place.line:
                place = key_place
        node = child
    return place


def find_key_place(root: Node, path: Path) -> Place:
    """Find the key a path ends with; where there is none, as `find_place`."""
    parent = find_node(root, path[:-1])
    if path and isinstance(parent, MappingNode) and path[-1] in parent.keys:
        return parent.keys[str(path[-1])].place
    return find_place(root, path)


def find_use(root: Node, path: Path) -> Place | None:
    """Find the alias or merge that brought in what `path` names; None where it stands there."""
    node: Node | None = root
    for step in path:
        if isinstance(node, MappingNode | SequenceNode) and step in node.uses:
            return node.uses[step]
        node = child_of(node, step) if node is not None else None
    return None


def place_fault(root: Node, fault: PromptFault) -> PlacedFault:
    """Place a broken rule; a repetition names the line of the first use.

    Where an alias repeats a value, the fault is at the alias, not where the value stands.
    """
    place, message = find_place(root, fault.path), fault.message
    if fault.first is not None:
        first = find_place(root, fault.first)
        if first == place:
            place = find_use(root, fault.path) or place
        message = f"{message}, first at line {first.line}"
    return PlacedFault(place, fault.path, message, fault.advice)


def path_text(path: Path) -> str:
    """Write a path as people do: `prompts[0].assertions[1]`; odd keys stand in quotes."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _SIMPLE_KEY.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{cite(step)}]")
    return "".join(parts)


_SIMPLE_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")
