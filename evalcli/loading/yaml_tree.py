"""Events of the YAML parser → nodes: equal keys, aliases, merge keys, tags, bounds.

Source: YAML 1.2.2; merge keys: yaml.org/type/merge.html.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from evalcli.declarations.scalars import Path
from evalcli.loading.nodes import MappingNode, Node, Place, PlacedFault, ScalarNode, SequenceNode
from evalcli.loading.yaml_scalars import core_value, has_tagged_type, is_typed_tag

MAX_DEPTH = 100
"""Bound on nesting, aliases counted where they stand."""

MAX_VALUES = 250_000
"""Bound on the values of one file, those that aliases repeat counted each time."""

MAX_ALIAS_VALUES = 100_000
"""Bound on the values that aliases repeat."""

MAX_ALIAS_CHARACTERS = 10_000_000
"""Bound on the characters that aliases repeat."""

_TAGS = "tag:yaml.org,2002:"
_MERGE = "<<"
_SURROGATE = re.compile("[\ud800-\udfff]")


class StopReadingError(Exception):
    """Nothing further can be read."""

    def __init__(self, fault: PlacedFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is not closed yet."""

    node: MappingNode | SequenceNode
    key: ScalarNode | None = None
    has_key: bool = False
    merges: list[tuple[Place, Node]] = field(default_factory=list)


class TreeBuilder:
    """Takes parser events, one at a time, and builds nodes: no recursion, bounded."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.faults: list[PlacedFault] = []
        self._frames: list[_Frame] = []
        self._anchors: dict[str, Node] = {}
        self._values = 0
        self._alias_values = 0
        self._alias_characters = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(MappingNode(_place(event)), event, "map")
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(SequenceNode(_place(event)), event, "seq")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._start_document(event)

    def path(self) -> Path:
        """Name the place in the document where the next value belongs."""
        steps: list[str | int] = []
        for frame in self._frames:
            if isinstance(frame.node, SequenceNode):
                steps.append(len(frame.node.items))
            elif frame.has_key:
                steps.append(frame.key.text if frame.key is not None else "?")
        return tuple(steps)

    def _fault(self, place: Place, message: str, advice: str) -> None:
        self.faults.append(PlacedFault(place, self.path(), message, advice))

    def _stop(self, place: Place, message: str, advice: str) -> StopReadingError:
        return StopReadingError(PlacedFault(place, self.path(), message, advice))

    def _start_document(self, event: yaml.DocumentStartEvent) -> None:
        if self.root is not None:
            raise self._stop(
                _place(event),
                "a second document begins here",
                "write one declaration a file and remove this `---`",
            )

    # --- values ---

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        node = self._scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._add(node)

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        text, tag = event.value, event.tag
        if tag is None and event.implicit[0]:
            return ScalarNode(text, core_value(text), True, *_place(event))
        place = _place(event)
        if not text.isascii() and _SURROGATE.search(text):
            self._fault(
                place,
                r"holds a \ud800 to \udfff escape, which is half a character",
                r"write the character itself, or \U and its eight digits",
            )
            return ScalarNode("", "", False, *place)
        name = tag.removeprefix(_TAGS) if tag is not None else "str"
        if is_typed_tag(name):
            value = core_value(text)
            if has_tagged_type(value, name):
                return ScalarNode(text, value, True, *place)
            self._fault(place, f"is no value of the type !!{name}", "remove the tag, or the value")
        elif name not in ("str", "!"):
            self._fault_of_tag(place)
        return ScalarNode(text, text, False, *place)

    def _fault_of_tag(self, place: Place) -> None:
        # The tag is not repeated: a secret that begins with "!" would be one.
        self._fault(
            place,
            "has a tag, and tags such as !custom or !!python/name are not read",
            'remove it, or put a text that begins with "!" in quotes',
        )

    def _open(
        self,
        node: MappingNode | SequenceNode,
        event: yaml.MappingStartEvent | yaml.SequenceStartEvent,
        name: str,
    ) -> None:
        if event.tag not in (None, "!", _TAGS + name):
            self._fault_of_tag(node.place)
        if len(self._frames) >= MAX_DEPTH:
            raise self._stop(
                node.place, f"is nested deeper than {MAX_DEPTH} levels", "write it less nested"
            )
        self._frames.append(_Frame(node))
        if event.anchor is not None:
            self._anchors[event.anchor] = node

    def _close(self) -> None:
        frame = self._frames.pop()
        if isinstance(frame.node, MappingNode):
            self._merge(frame, frame.node)
        self._add(frame.node)

    def _add(self, node: Node, use: Place | None = None) -> None:
        """Give a finished value to the mapping or list that is open, or make it the root."""
        self._values += 1
        if self._values + self._alias_values > MAX_VALUES:
            raise self._stop(
                node.place,
                f"the file holds more than {MAX_VALUES:,} values",
                "split it into several",
            )
        if not self._frames:
            self.root = node
            return
        frame = self._frames[-1]
        if isinstance(frame.node, SequenceNode):
            if use is not None:
                frame.node.uses[len(frame.node.items)] = use
            frame.node.items.append(node)
            _weigh(frame.node, node)
        elif not frame.has_key:
            self._take_key(frame, node, use)
        else:
            self._take_value(frame, frame.node, node, use)

    # --- mappings ---

    def _take_key(self, frame: _Frame, node: Node, use: Place | None) -> None:
        frame.has_key, frame.key = True, None
        if not isinstance(node, ScalarNode):
            self._fault(use or node.place, "a key must be text", "write a word before the colon")
        elif node.text == "" and node.value is None:
            self._fault(use or node.place, "a key is empty", "write a word before the colon")
        else:
            frame.key = node if use is None else ScalarNode(node.text, node.value, True, *use)

    def _take_value(
        self, frame: _Frame, mapping: MappingNode, node: Node, use: Place | None
    ) -> None:
        key, frame.has_key, frame.key = frame.key, False, None
        if key is None:
            return
        if key.text == _MERGE and key.is_plain:
            frame.merges.append((key.place, node))
            return
        first = mapping.keys.get(key.text)
        if first is not None:
            frame.has_key, frame.key = True, key
            self._fault(
                key.place, f"is written twice, first at line {first.line}", "keep one of them"
            )
            frame.has_key, frame.key = False, None
            return
        mapping.entries[key.text] = node
        mapping.keys[key.text] = key
        if use is not None:
            mapping.uses[key.text] = use
        _weigh(mapping, node)

    def _merge(self, frame: _Frame, mapping: MappingNode) -> None:
        """Add what `<<` names; keys of the mapping itself win, then the earlier ones."""
        if len(frame.merges) > 1:
            place, first = frame.merges[1][0], frame.merges[0][0]
            self._fault(
                place,
                f'"<<" is written twice, first at line {first.line}',
                "write one `<<: [*one, *other]`",
            )
        for place, node in frame.merges:
            for source in node.items if isinstance(node, SequenceNode) else [node]:
                if not isinstance(source, MappingNode):
                    self._fault(
                        place, '"<<" needs mappings', "write `<<: *name`, or `<<: [*one, *other]`"
                    )
                    continue
                for key, value in source.entries.items():
                    if key not in mapping.entries:
                        mapping.entries[key] = value
                        mapping.keys[key] = source.keys[key]
                        mapping.uses[key] = place
                        _weigh(mapping, value)

    # --- aliases ---

    def _take_alias(self, event: yaml.AliasEvent) -> None:
        place, name = _place(event), str(event.anchor)
        node = self._anchors.get(name)
        if node is not None and any(frame.node is node for frame in self._frames):
            raise self._stop(
                place, "an alias stands inside the value it names", "write the value out"
            )
        if node is None:
            # Not repeated either: a text that begins with "*" may be anything.
            self._fault(
                place,
                "an alias names no anchor that stands before it",
                'write the anchor (&name) first, or put a text that begins with "*" in quotes',
            )
            node = ScalarNode("", "", False, *place)
        self._count_alias(place, node)
        self._add(node, place)

    def _count_alias(self, place: Place, node: Node) -> None:
        if isinstance(node, ScalarNode):
            values, characters, height = 1, len(node.text), 0
        else:
            values, characters, height = node.values, node.characters, node.height
        self._alias_values += values
        self._alias_characters += characters
        if self._alias_values > MAX_ALIAS_VALUES:
            bound = f"{MAX_ALIAS_VALUES:,} values"
        elif self._alias_characters > MAX_ALIAS_CHARACTERS:
            bound = f"{MAX_ALIAS_CHARACTERS:,} characters"
        elif len(self._frames) + height > MAX_DEPTH:
            raise self._stop(
                place, f"is nested deeper than {MAX_DEPTH} levels", "write it less nested"
            )
        else:
            return
        raise self._stop(place, f"aliases repeat more than {bound}", "write fewer aliases")


def _weigh(parent: MappingNode | SequenceNode, child: Node) -> None:
    if isinstance(child, ScalarNode):
        parent.values += 1
        parent.characters += len(child.text)
    else:
        parent.values += child.values
        parent.characters += child.characters
        parent.height = max(parent.height, child.height + 1)


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)
