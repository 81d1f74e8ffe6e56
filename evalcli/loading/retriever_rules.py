"""Rules of the entries of `retrievers`: each is what its type says, and names what is declared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from evalcli.declarations.resolution import known_names
from evalcli.declarations.retriever import (
    BUILTIN_RETRIEVER,
    OWN_ENTRIES,
    PACKAGED_MODEL,
    PluginEntry,
    RetrieverEntry,
)
from evalcli.declarations.scalars import Path, cite
from evalcli.loading.field_faults import validate_tree
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    PlacedFault,
    ScalarNode,
    SequenceNode,
    plain_tree,
)
from evalcli.plugins import plugin_names


def find_retriever_faults(
    retrievers: Mapping[str, Node], models: Collection[str]
) -> Iterator[PlacedFault]:
    """Check all entries; `models` are the names of the declared models."""
    names = {*retrievers, BUILTIN_RETRIEVER}
    for name, node in retrievers.items():
        if isinstance(node, MappingNode):
            for fault in _entry_faults(node, names, {*models, PACKAGED_MODEL}):
                yield fault._replace(path=("retrievers", name, *fault.path))


def _entry_faults(
    node: MappingNode, names: Collection[str], models: Collection[str]
) -> Iterator[PlacedFault]:
    kind = node.entries.get("type")
    known = plugin_names("retrievers")
    is_named = isinstance(kind, ScalarNode) and kind.value is not None
    if isinstance(kind, ScalarNode) and is_named and kind.text not in known:
        message = f"there is no retriever of the type {cite(kind.text)}"
        yield PlacedFault(kind.place, ("type",), message, known_names(known, kind.text))
        return
    own = OWN_ENTRIES.get(kind.text, PluginEntry) if isinstance(kind, ScalarNode) else None
    model: type[RetrieverEntry] = own or PluginEntry
    yield from validate_tree(model, plain_tree(node), node, str)[1]
    if model is not PluginEntry:
        yield from _unknown(node.entries.get("model"), ("model",), "model", models)
        parts = node.entries.get("parts")
        for number, part in enumerate(parts.items if isinstance(parts, SequenceNode) else ()):
            yield from _unknown(part, ("parts", number), "retriever", names)


def _unknown(
    node: Node | None, path: Path, noun: str, known: Collection[str]
) -> Iterator[PlacedFault]:
    if isinstance(node, ScalarNode) and node.value is not None and node.text not in known:
        message = f"unknown {noun} {cite(node.text)}"
        yield PlacedFault(node.place, path, message, known_names(known, node.text))
