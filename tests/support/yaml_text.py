"""Short ways to read YAML in tests: values without places, faults as the lines people see."""

from __future__ import annotations

from textwrap import dedent

import yaml

from evalcli.declarations.scalars import SourceScalar
from evalcli.errors import Fault
from evalcli.loading.nodes import MappingNode, Node, SequenceNode, path_text
from evalcli.loading.reader import Reading, read_declaration
from evalcli.loading.yaml_text import ParserClass, YamlDocument, read_yaml

PARSERS: tuple[ParserClass, ...] = (yaml.CSafeLoader, yaml.SafeLoader)
"""Both of PyYAML's parsers; every test of YAML text runs on each."""


def values_of(node: Node | None) -> object:
    """Give the YAML 1.2 values of a tree."""
    if isinstance(node, MappingNode):
        return {key: values_of(value) for key, value in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [values_of(item) for item in node.items]
    return node.value if isinstance(node, SourceScalar) else None


def texts_of(node: Node | None) -> object:
    """Give the source texts of a tree."""
    if isinstance(node, MappingNode):
        return {key: texts_of(value) for key, value in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [texts_of(item) for item in node.items]
    return node.text if isinstance(node, SourceScalar) else None


def read_text(text: str, parser: ParserClass = yaml.CSafeLoader) -> YamlDocument:
    """Read a text, dedented, as the bytes of a file."""
    return read_yaml(dedent(text).encode(), parser=parser)


def fault_lines(document: YamlDocument) -> list[str]:
    """Give the faults of a document as `line:column: path: message; advice`."""
    return [
        f"{fault.place.line}:{fault.place.column}: {path_text(fault.path)}: "
        f"{fault.message}; {fault.advice}"
        for fault in document.faults
    ]


def read_set(text: str, *, file: str = "sets/x.yaml") -> Reading:
    """Read a text, dedented, as a file in `sets/`; long texts are the names of their files."""
    return read_declaration(dedent(text).encode(), file, folder="sets", read_text=str)


def set_faults(text: str) -> list[str]:
    """Give the faults of a file in `sets/`, as people see them."""
    return [str(fault) for fault in read_set(text).faults]


def without_file(fault: Fault) -> str:
    """Give a fault as people see it, after the file's name."""
    return str(fault).removeprefix(f"{fault.file}:")
