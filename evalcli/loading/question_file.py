"""Questions in a JSONL file of their own, named by a set: `questions: {file: handbook.jsonl}`.

Each line is one JSON object with the keys of a question. A number where text is expected keeps its
source text, as in YAML.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite

from evalcli.declarations.question_set import GoldenQuestion, question_faults
from evalcli.declarations.scalars import Path, ValueFaultError, cite
from evalcli.loading.field_faults import validate_tree
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    Place,
    PlacedFault,
    ScalarNode,
    SequenceNode,
    path_text,
    plain_tree,
)

MAX_FAULTS = 100
_MAX_DEPTH = 20
_OPTIONAL = ("hard_class", "gist")  # JSON writers say null where YAML leaves the key out
_AT: Path = ("file",)


def read_question_file(name: str, read_text: Callable[[str], str]) -> list[GoldenQuestion]:
    """Read all questions of a file; `read_text` gives the text of the path that a set names.

    Raises:
        ValueFaultError: with every fault, each naming the line of the file.
    """
    questions: list[GoldenQuestion] = []
    faults: list[PlacedFault] = []
    lines: list[int] = []
    for number, line in enumerate(read_text(name).split("\n"), start=1):
        if not line.strip():
            continue
        found = _read_line(line, number)
        if isinstance(found, GoldenQuestion):
            questions.append(found)
            lines.append(number)
        else:
            faults += found
        if len(faults) >= MAX_FAULTS:
            break
    faults += _repetitions(questions, lines)
    if not questions and not faults:
        message = f"{cite(name)} holds no question"
        raise ValueFaultError(message, advice="write one JSON object a line", path=_AT)
    if faults:
        ordered = sorted(faults, key=lambda fault: fault.place)
        raise ValueFaultError.of([_as_value_fault(name, fault) for fault in ordered])
    return questions


def _as_value_fault(name: str, fault: PlacedFault) -> ValueFaultError:
    where = f"{path_text(fault.path)}: " if fault.path else ""
    message = f"{name}, line {fault.place.line}: {where}{fault.message}"
    return ValueFaultError(message, advice=fault.advice, path=_AT)


def _read_line(line: str, number: int) -> GoldenQuestion | list[PlacedFault]:
    place = Place(number, 1)
    try:
        raw = json.loads(
            line,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_repeated_keys,
        )
        root = _make_node(raw, place, _MAX_DEPTH)
    except json.JSONDecodeError as exc:
        bad = Place(number, exc.colno)
        return [PlacedFault(bad, (), f"is no JSON: {exc.msg}", "write one JSON object a line")]
    except (ValueFaultError, RecursionError) as exc:
        message = exc.message if isinstance(exc, ValueFaultError) else "is nested too deeply"
        return [PlacedFault(place, (), message, "")]
    if not isinstance(root, MappingNode):
        return [PlacedFault(place, (), "must be a JSON object", "write {} around its keys")]
    for key in _OPTIONAL:
        if key in raw and raw[key] is None:
            del root.entries[key]
    question, faults = validate_tree(GoldenQuestion, plain_tree(root), root, _no_files)
    return question if question is not None and not faults else faults


class _Number(str):
    """A JSON number as its characters."""

    __slots__ = ()


def _refuse_constant(name: str) -> object:
    raise ValueFaultError(f"{name} is no JSON")


def _refuse_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueFaultError(f"the key {cite(key)} stands there twice")
        found[key] = value
    return found


def _no_files(name: str) -> str:
    raise ValueFaultError("texts in files can be named in YAML files only")


def _make_node(raw: object, place: Place, depth: int) -> Node:
    if depth == 0:
        raise ValueFaultError("is nested too deeply")
    if isinstance(raw, dict):
        mapping = MappingNode(place)
        for key, value in raw.items():
            mapping.entries[key] = _make_node(value, place, depth - 1)
            mapping.keys[key] = ScalarNode(key, key, False, place.line, place.column)
        return mapping
    if isinstance(raw, list):
        sequence = SequenceNode(place)
        sequence.items = [_make_node(item, place, depth - 1) for item in raw]
        return sequence
    if isinstance(raw, _Number):
        return ScalarNode(str(raw), _value_of(raw), True, place.line, place.column)
    if isinstance(raw, str):
        return ScalarNode(raw, raw, False, place.line, place.column)
    word = {None: "null", True: "true", False: "false"}
    if raw is None or isinstance(raw, bool):
        return ScalarNode(word[raw], raw, True, place.line, place.column)
    raise TypeError(f"JSON gave a {type(raw).__name__}")


def _value_of(number: _Number) -> int | float:
    digits = number.removeprefix("-")
    if digits.isdecimal() and len(digits) < 1000:  # Python bounds what int() takes
        return int(number)
    value = float(number)
    if not isfinite(value):
        raise ValueFaultError("holds a number that is too large")
    return value


def _repetitions(questions: list[GoldenQuestion], lines: list[int]) -> list[PlacedFault]:
    """Find ids that are used twice, and name both lines."""
    raw = [{"id": one.id, "expected": one.expected} for one in questions]
    faults = []
    for fault in question_faults(raw):
        _, index, *path = fault.path
        first = fault.first[1] if fault.first is not None else index
        line, first_line = lines[int(index)], lines[int(first)]
        message = (
            fault.message if line == first_line else f"{fault.message}, first at line {first_line}"
        )
        faults.append(PlacedFault(Place(line, 1), tuple(path), message, fault.advice))
    return faults
