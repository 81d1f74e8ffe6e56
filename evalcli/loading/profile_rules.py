"""Rules of a profile that no single field shows, each fault with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcli.declarations.profile import profile_faults
from evalcli.loading.nodes import Node, PlacedFault, place_fault


def find_profile_faults(root: Node, tree: object) -> Iterator[PlacedFault]:
    """Check the keys of questions, the numbers of options and levels, and repetitions.

    Shapes: `tree` is the plain form of `root`, as its fields are validated from.
    """
    if isinstance(tree, Mapping):
        for fault in profile_faults(tree):
            yield place_fault(root, fault)
