"""YAML text → nodes with line and column.

PyYAML only parses here (its C parser where there is one). What a scalar means, which keys are
equal and what an alias may stand for is decided in `yaml_scalars` and `yaml_tree`, because
PyYAML's own answers are those of YAML 1.1: `no` is false, `12:30` is 750, the last of two equal
keys wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, cast

import yaml
from yaml.scanner import ScannerError

from evalcli.loading.nodes import Node, Place, PlacedFault
from evalcli.loading.source_text import SourceTextError, decode_source
from evalcli.loading.yaml_syntax import describe_syntax_error
from evalcli.loading.yaml_tree import StopReadingError, TreeBuilder

ParserClass: TypeAlias = "type[yaml.SafeLoader] | type[yaml.CSafeLoader]"
FAST_PARSER = cast("ParserClass", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""PyYAML's C parser where it was built with one."""


class YamlDocument(NamedTuple):
    """A document and what is wrong with it as YAML; `root` is None where it cannot be read."""

    root: Node | None
    faults: tuple[PlacedFault, ...]


def read_yaml(data: bytes, *, parser: ParserClass = FAST_PARSER) -> YamlDocument:
    """Read the bytes of a file as one YAML document. Raises nothing: faults are returned."""
    try:
        text = decode_source(data)
    except SourceTextError as exc:
        place = Place(exc.line, exc.column)
        return YamlDocument(None, (PlacedFault(place, (), exc.message, exc.advice),))
    return parse_yaml(text, parser=parser)


def parse_yaml(text: str, *, parser: ParserClass = FAST_PARSER) -> YamlDocument:
    """Parse text that `decode_source` let through; see `read_yaml`."""
    directive = _DIRECTIVE.match(text)
    if directive is not None:
        place = Place(text.count("\n", 0, directive.end()) + 1, 1)
        fault = PlacedFault(
            place,
            (),
            "a line begins with %, and only %YAML 1.2 may",
            "remove the line, or indent it",
        )
        return YamlDocument(None, (fault,))
    builder = TreeBuilder()
    try:
        for event in _events(text, parser):
            builder.take(event)
    except yaml.YAMLError as exc:
        error = describe_syntax_error(text, exc)
        fault = PlacedFault(error.place, builder.path(), error.message, error.advice)
        return YamlDocument(None, (*builder.faults, fault))
    except StopReadingError as exc:
        return YamlDocument(None, (*builder.faults, exc.fault))
    if builder.root is None:
        empty = PlacedFault(
            Place(1, 1), (), "the file is empty", "write a declaration, or delete it"
        )
        return YamlDocument(None, (empty,))
    return YamlDocument(builder.root, tuple(builder.faults))


# PyYAML's parsers differ in the directives they take.
_DIRECTIVE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*(?=%)(?!%YAML 1\.2[ \t]*\n)")


def _events(text: str, parser: ParserClass) -> Iterator[yaml.Event]:
    loader = parser(text)
    try:
        event = None
        while not isinstance(event, yaml.StreamEndEvent):
            event = cast("yaml.Event", loader.get_event())
            yield event
    except (ValueError, OverflowError) as exc:
        # Only the pure parser: an escape such as "\U00110000" that no character has.
        mark = cast("yaml.SafeLoader", loader).get_mark()
        raise ScannerError(None, None, "escape of no character", mark) from exc
    finally:
        loader.dispose()
