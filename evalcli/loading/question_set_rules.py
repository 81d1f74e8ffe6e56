"""Rules of a golden question set that no single field shows, each fault with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcli.declarations.question_set import question_faults
from evalcli.loading.nodes import Node, PlacedFault, place_fault


def find_question_set_faults(root: Node, tree: object) -> Iterator[PlacedFault]:
    """Check that question ids, and the expected ids of each, are unique.

    Shapes: `tree` is the plain form of `root`, as its fields are validated from.
    """
    questions = tree.get("questions") if isinstance(tree, Mapping) else None
    if isinstance(questions, list):
        for fault in question_faults(questions):
            yield place_fault(root, fault)
