"""What Pydantic refused → faults with a place, and with what to write instead.

No message repeats a value, except words that are looked up in a list and identifiers: a value may
be a secret that somebody wrote into the wrong key.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from evalcli.declarations.scalars import Declaration, Path, ValueFaultError, cite
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    PlacedFault,
    ScalarNode,
    SequenceNode,
    child_of,
    find_key_place,
    find_node,
    find_place,
)

DeclarationT = TypeVar("DeclarationT", bound=Declaration)
_MAX_ERRORS = 5000
"""Bound on the errors of one file that are looked at; nobody reads more."""

ReadText = Callable[[str], str]
"""Reads the long text that a path names; raises ValueFaultError."""


def validate_tree(
    model: type[DeclarationT],
    tree: object,
    root: Node,
    read_text: ReadText,
    more: Mapping[str, object] | None = None,
) -> tuple[DeclarationT | None, list[PlacedFault]]:
    """Validate the plain form of `root`; gives the declaration, or all faults of its fields.

    `more` is what the model's validators find in their context, too.
    """
    context = {"read_text": read_text, "has_places": True, **(more or {})}
    try:
        return model.model_validate(tree, context=context), []
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    return None, list(_translate_errors(model, root, errors))


def _translate_errors(
    model: type[Declaration], root: Node, errors: list[ErrorDetails]
) -> Iterator[PlacedFault]:
    unknown = _unknown_keys(model, root, errors)
    for error in errors:
        path = _path_of(root, error)
        if error["type"] == "missing":
            # A misspelt key is one fault, not an unknown key and a missing one.
            if path not in {(*key[:-1], near) for key, (near, _) in unknown.items()}:
                yield _missing_key(root, path)
        elif error["type"] == "extra_forbidden":
            yield _unknown_key(root, path, *unknown[path])
        elif error["type"] == "value_error":
            yield from _value_faults(root, path, error)
        elif not _is_about_the_rest(root, path, error):
            message, advice = _word(error, find_node(root, path))
            yield PlacedFault(find_place(root, path), path, message, advice)


def _path_of(root: Node, error: ErrorDetails) -> Path:
    """Give the place of an error in the document: without what only Pydantic knows, as tags."""
    steps = tuple(error["loc"])
    node, path = root, list[str | int]()
    for number, step in enumerate(steps):
        child = child_of(node, step)
        if child is not None:
            path.append(step)
            node = child
        elif error["type"] == "missing" and number == len(steps) - 1:
            path.append(step)
    return tuple(path)


def misspelt_keys(model: type[Declaration], node: MappingNode) -> set[str]:
    """Name the keys that a mapping seems to mean by keys it does not know."""
    names = tuple(model.model_fields)
    near = (nearest_name(key, names, node.entries) for key in node.entries if key not in names)
    return {name for name in near if name is not None}


def nearest_name(
    key: str, known: tuple[str, ...], present: Mapping[str, object] | None = None
) -> str | None:
    """Find the known name that a misspelt key means, first among those not `present`."""
    absent = [name for name in known if name not in (present or {})]
    near = get_close_matches(key, absent, n=1) or get_close_matches(key, known, n=1)
    return near[0] if near else None


# --- keys ---------------------------------------------------------------------------------------


def _unknown_keys(
    model: type[Declaration], root: Node, errors: list[ErrorDetails]
) -> dict[Path, tuple[str | None, tuple[str, ...]]]:
    """Map the path of each unknown key to the name that is probably meant, and to all names."""
    found: dict[Path, tuple[str | None, tuple[str, ...]]] = {}
    for error in errors:
        if error["type"] == "extra_forbidden":
            path = _path_of(root, error)
            parent = find_node(root, path[:-1])
            present = parent.entries if isinstance(parent, MappingNode) else None
            known = _field_names(model, tuple(error["loc"])[:-1])
            found[path] = nearest_name(str(path[-1]), known, present), known
    return found


def _unknown_key(root: Node, path: Path, near: str | None, known: tuple[str, ...]) -> PlacedFault:
    advice = f'write "{near}"' if near is not None else f"known keys: {', '.join(known)}"
    message = f"unknown key {cite(str(path[-1]))}"
    return PlacedFault(find_key_place(root, path), path[:-1], message, advice)


def _missing_key(root: Node, path: Path) -> PlacedFault:
    name = path[-1]
    place = find_place(root, path)
    return PlacedFault(place, path[:-1], f'the key "{name}" is missing', f'add "{name}:"')


def _field_names(model: type[Declaration], location: Path) -> tuple[str, ...]:
    """Name the keys that may stand at a location as Pydantic gives it, with the tags of unions."""
    current: object = model
    for step in location:
        current = _type_below(current, step)
    if isinstance(current, type) and issubclass(current, BaseModel):
        return tuple(current.model_fields)
    return ()


def _type_below(annotation: object, step: str | int) -> object:
    """Follow one step of a location through a declared type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(step))
        return _bare_type(field.annotation) if field is not None else None
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return _bare_type(arguments[1])
    if _is_union(annotation):
        return next((_bare_type(part) for part in arguments if step in _tags_of(part)), None)
    return _bare_type(arguments[0]) if get_origin(annotation) is tuple else None


def _bare_type(annotation: object) -> object:
    """Take `Annotated` and `| None` off a type; a union of several types stays one."""
    while True:
        if hasattr(annotation, "__metadata__"):
            annotation = get_args(annotation)[0]
            continue
        parts = [part for part in get_args(annotation) if part is not types.NoneType]
        if not _is_union(annotation) or len(parts) > 1:
            return annotation
        annotation = parts[0]


def _is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def _tags_of(annotation: object) -> list[str]:
    notes = getattr(annotation, "__metadata__", ())
    return [note.tag for note in notes if isinstance(note, Tag)]


# --- values -------------------------------------------------------------------------------------


def _value_faults(root: Node, path: Path, error: ErrorDetails) -> Iterator[PlacedFault]:
    cause = error.get("ctx", {}).get("error")
    if not isinstance(cause, ValueFaultError):
        yield PlacedFault(find_place(root, path), path, "cannot be used", "")
        return
    for fault in (cause, *cause.others):
        full = (*path, *fault.path)
        yield PlacedFault(find_place(root, full), full, fault.message, fault.advice)


def _is_about_the_rest(root: Node, path: Path, error: ErrorDetails) -> bool:
    """Whether a list seems too short only because its broken items were not counted."""
    node = find_node(root, path)
    if error["type"] != "too_short" or not isinstance(node, SequenceNode):
        return False
    return bool(len(node.items) >= error.get("ctx", {}).get("min_length", 1))


def _word(error: ErrorDetails, node: Node | None) -> tuple[str, str]:
    """Say what is wrong with a value, and what to write instead."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return _word_of_list(str(context.get("expected", "")), node)
    if kind == "string_pattern_mismatch":
        text = node.text if isinstance(node, ScalarNode) else ""
        return (
            f"{cite(text)} is no identifier",
            "write lower-case letters, digits and _ in parts joined by dots, such as acme.faq",
        )
    if kind in _BOUNDS:
        sign, key = _BOUNDS[kind]
        return f"must be {sign} {context.get(key)}", "write a number in that range"
    if kind in _EXPECTED:
        expected, advice = _EXPECTED[kind]
        return f"must be {expected}, and is {describe_node(node)}", advice
    if kind == "too_short":
        least, has = context.get("min_length", 1), context.get("actual_length", 0)
        return (f"needs {least}, has {has}", "add another") if has else _IS_EMPTY
    return "cannot be used", ""


_IS_EMPTY = ("is empty", "add at least one")

_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}

_EXPECTED = {
    "string_type": ("text", "write one text"),
    "int_type": ("a whole number", "write digits only, without quotes"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "is_instance_of": ("a number", "write it as 12 or 0.5, without quotes"),
    "model_type": ("a mapping", "write keys and values below it"),
    "dict_type": ("a mapping", "write keys and values below it"),
    "tuple_type": ("a list", 'write one item a line, each after "- "'),
}


def _word_of_list(expected: str, node: Node | None) -> tuple[str, str]:
    known = tuple(expected.replace("' or '", "', '").strip("'").split("', '"))
    text = node.text if isinstance(node, ScalarNode) else ""
    near = get_close_matches(text, known, n=1)
    choice = known[0] if len(known) == 1 else f"one of {', '.join(known)}"
    advice = f'write "{near[0]}"; known: {", ".join(known)}' if near else f"write {choice}"
    if isinstance(node, ScalarNode):
        return f"{cite(text)} is not known here", advice
    return f"must be one word, and is {describe_node(node)}", advice


def describe_node(node: Node | None) -> str:
    """Say what kind of value stands there, without repeating it."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if node is None or node.value is None:
        return "null" if node is not None and node.text else "empty"
    if isinstance(node.value, bool):
        return node.text
    return "text" if isinstance(node.value, str) else "another number"
