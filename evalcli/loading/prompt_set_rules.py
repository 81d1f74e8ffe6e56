"""Rules of a golden prompt set that no single field shows, each fault with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcli.declarations.prompt_set import GoldenPrompt, PromptFault, prompt_faults
from evalcli.declarations.scalars import Path, cite
from evalcli.graders.declared_assertion import check_assertion
from evalcli.loading.field_faults import misspelt_keys
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    PlacedFault,
    find_key_place,
    find_node,
    find_place,
    place_fault,
)


def find_prompt_set_faults(root: Node, tree: object) -> Iterator[PlacedFault]:
    """Check ids, what is there to grade with, and that every assertion can work.

    Shapes: `tree` is the plain form of `root`, as its fields are validated from.
    """
    prompts = tree.get("prompts") if isinstance(tree, Mapping) else None
    if not isinstance(prompts, list):
        return
    for fault in prompt_faults(prompts):
        if not _is_misspelt(root, fault):
            yield place_fault(root, fault)
    for index, prompt in enumerate(prompts):
        assertions = prompt.get("assertions") if isinstance(prompt, Mapping) else None
        for number, body in enumerate(assertions if isinstance(assertions, list) else ()):
            if isinstance(body, Mapping):
                yield from _assertion_faults(root, ("prompts", index, "assertions", number), body)


def _is_misspelt(root: Node, fault: PromptFault) -> bool:
    """Whether the assertions that seem to be missing stand under a misspelt key."""
    node = find_node(root, fault.path)
    if not isinstance(node, MappingNode):
        return False
    return bool(misspelt_keys(GoldenPrompt, node) & {"assertions", "reference"})


def _assertion_faults(
    root: Node, path: Path, body: Mapping[object, object]
) -> Iterator[PlacedFault]:
    for fault in check_assertion(body):
        full = (*path, *fault.path)
        if not fault.message.startswith("unknown key"):
            yield PlacedFault(find_place(root, full), full, fault.message, fault.advice)
            continue
        # About a key, which the path ends with or which stands in the mapping it leads to.
        at = _path_of_key(root, full, fault.message)
        yield PlacedFault(find_key_place(root, at), at[:-1], fault.message, fault.advice)


def _path_of_key(root: Node, path: Path, message: str) -> Path:
    node = find_node(root, path)
    if cite(str(path[-1])) in message or not isinstance(node, MappingNode):
        return path
    return next(((*path, key) for key in node.entries if cite(key) in message), path)
