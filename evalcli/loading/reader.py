"""Nodes → declaration, or all faults of a file with place and advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import IDENTIFIER_PATTERN, PromptSet
from evalcli.declarations.question_set import QuestionSet
from evalcli.declarations.scalars import Declaration, cite
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import DeclarationError, Fault
from evalcli.loading.field_faults import ReadText, nearest_name, validate_tree
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    Place,
    PlacedFault,
    ScalarNode,
    find_node,
    path_text,
    plain_tree,
)
from evalcli.loading.profile_rules import find_profile_faults
from evalcli.loading.prompt_set_rules import find_prompt_set_faults
from evalcli.loading.question_file import read_question_file
from evalcli.loading.question_set_rules import find_question_set_faults
from evalcli.loading.source_text import SourceTextError, decode_source
from evalcli.loading.workspace_rules import find_workspace_faults
from evalcli.loading.yaml_text import YamlDocument, read_yaml
from evalcli.reports.plain_text import plain_text


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of declaration: what `kind:` says, the folder it stands in, and how it is checked.

    `rows` is the key of its rows and `row` the word for one, so that a fault inside a row can
    name the row's id as well as its number.
    """

    name: str
    folder: str
    model: type[Declaration]
    find_faults: Callable[[Node, object], Iterable[PlacedFault]]
    rows: str
    row: str


KINDS: dict[str, Kind] = {
    "prompts": Kind("prompts", "sets", PromptSet, find_prompt_set_faults, "prompts", "prompt"),
    "questions": Kind(
        "questions", "sets", QuestionSet, find_question_set_faults, "questions", "question"
    ),
    "profile": Kind("profile", "profiles", Profile, find_profile_faults, "questions", "question"),
}
"""All kinds by the word that `kind:` says; a new one is a line here."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of one file: a declaration, or faults and what could still be read.

    `place` is where the identifier stands, else the top of the file.
    """

    file: str
    place: Place
    identifier: str | None = None
    kind: str | None = None
    declaration: Declaration | None = None
    faults: tuple[Fault, ...] = ()


def read_declaration(data: bytes, file: str, *, folder: str, read_text: ReadText) -> Reading:
    """Read one declaration of a kind that belongs in `folder` (`sets` or `profiles`).

    Faults are returned, all of them, in file order. `file` is the name they are reported under.
    """
    document = read_yaml(data)
    root = document.root
    if root is None:
        identifier, place = _identifier_in_text(data)
        return Reading(file, place, identifier, faults=_as_faults(file, document, []))
    if not isinstance(root, MappingNode):
        return Reading(file, root.place, faults=_as_faults(file, document, [_no_mapping(root)]))
    identifier, place = _identifier_of(root)
    kind, found = _find_kind(root, folder)
    if kind is None:
        return Reading(file, place, identifier, faults=_as_faults(file, document, found))
    tree = plain_tree(root)
    more = {"read_questions": partial(read_question_file, read_text=read_text)}
    declaration, field_faults = validate_tree(kind.model, tree, root, read_text, more)
    found = [*found, *field_faults, *kind.find_faults(root, tree)]
    faults = _as_faults(file, document, found, kind)
    return Reading(file, place, identifier, kind.name, None if faults else declaration, faults)


def read_workspace_file(data: bytes, file: str, *, read_text: ReadText) -> WorkspaceFile:
    """Read `evalcli.yaml`.

    Raises:
        DeclarationError: with all faults, in file order.
    """
    document = read_yaml(data)
    root, found = document.root, list[PlacedFault]()
    workspace: WorkspaceFile | None = None
    if isinstance(root, MappingNode):
        tree = plain_tree(root)
        workspace, field_faults = validate_tree(WorkspaceFile, tree, root, read_text)
        found += [*field_faults, *find_workspace_faults(root)]
    elif root is not None:
        found.append(_no_mapping(root))
    faults = _as_faults(file, document, found)
    if workspace is None or faults:
        raise declaration_error(f"{plain_text(file)} cannot be used", faults)
    return workspace


def declaration_error(message: str, faults: tuple[Fault, ...]) -> DeclarationError:
    """Make the error that carries faults; its message counts them."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return DeclarationError(f"{message}: {count}", faults=faults)


# --- kinds and identifiers ----------------------------------------------------------------------


def _find_kind(root: MappingNode, folder: str) -> tuple[Kind | None, list[PlacedFault]]:
    """Find the kind of a file, guessing where it is missing or misspelt so that all else is read.

    A misspelt kind is reported by its field; a missing one as a missing key.
    """
    here = tuple(kind.name for kind in KINDS.values() if kind.folder == folder)
    node = root.entries.get("kind")
    if not isinstance(node, ScalarNode) or node.value is None:
        return (KINDS[here[0]] if here else None), []
    kind = KINDS.get(node.text) or KINDS.get(nearest_name(node.text, here) or "")
    if kind is not None and kind.folder == folder:
        return kind, []
    known = ", ".join(here)
    if kind is not None:
        advice = f"move the file to {kind.folder}/"
    else:
        advice = f"write {'one of ' if len(here) > 1 else ''}{known}"
    message = f"{cite(node.text)} is no kind of declaration in {folder}/"
    return None, [PlacedFault(node.place, ("kind",), message, advice)]


def _identifier_of(root: MappingNode) -> tuple[str | None, Place]:
    node = root.entries.get("identifier")
    if isinstance(node, ScalarNode) and _IDENTIFIER.fullmatch(node.text):
        return node.text, node.place
    return None, root.place


_IDENTIFIER = re.compile(IDENTIFIER_PATTERN)
_IDENTIFIER_LINE = re.compile(
    r"""^identifier:[ ]+(["']?)([a-z0-9_.]{1,200})\1[ ]*(?:#.*)?$""", re.M
)


def _identifier_in_text(data: bytes) -> tuple[str | None, Place]:
    """Find the identifier of a file that is no YAML, so that asking for it gives the cause."""
    try:
        text = decode_source(data)
    except SourceTextError:
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    found = _IDENTIFIER_LINE.search(text)
    if found is None or not _IDENTIFIER.fullmatch(found[2]):
        return None, Place(1, 1)
    line = text.count("\n", 0, found.start()) + 1
    return found[2], Place(line, found.start(2) - found.start() + 1)


# --- faults -------------------------------------------------------------------------------------

_MAX_MESSAGE = 300
_MAX_FAULTS = 1000
"""Bound on the faults of one file; a file with more is no declaration."""


def _no_mapping(root: Node) -> PlacedFault:
    advice = "write keys and values, one `key: value` a line"
    return PlacedFault(root.place, (), "must be a mapping", advice)


def _name_row(kind: Kind, root: Node, fault: PlacedFault) -> PlacedFault:
    """Name the row of a fault by its id, because numbers are tedious to count."""
    path = fault.path
    if len(path) < 2 or path[0] != kind.rows or path[2:] == ("id",):
        return fault
    node = find_node(root, (*path[:2], "id"))
    if not isinstance(node, ScalarNode) or not node.text.strip():
        return fault
    return fault._replace(message=f"{fault.message} ({kind.row} {cite(node.text)})")


_FIRST_LINE = re.compile(r"(?<=, first at )line (\d+)\Z")


def _name_first_place(file: str, fault: PlacedFault) -> PlacedFault:
    """Name the first of two places as the second is named, for editors that jump to it.

    Nothing that stands in the file can end a message like that: what is cited ends with a quote.
    """
    message = _FIRST_LINE.sub(lambda found: f"{file}:{found[1]}", fault.message)
    return fault._replace(message=message)


def _as_faults(
    file: str, document: YamlDocument, found: Iterable[PlacedFault], kind: Kind | None = None
) -> tuple[Fault, ...]:
    """Order all faults of a file by place; one per place and message, since aliases repeat them.

    Where YAML itself is at fault, what follows from it at the same place is not said too.
    """
    spoiled = {fault.place for fault in document.faults}
    rest = [fault for fault in found if fault.place not in spoiled]
    unique: dict[tuple[Place, str], PlacedFault] = {}
    for fault in (*document.faults, *rest):
        unique.setdefault((fault.place, fault.message), fault)
    ordered = sorted(unique.values(), key=lambda fault: fault.place)[:_MAX_FAULTS]
    ordered = [_name_first_place(file, fault) for fault in ordered]
    if kind is not None and document.root is not None:
        ordered = [_name_row(kind, document.root, fault) for fault in ordered]
    return tuple(
        Fault(
            file=plain_text(file),
            line=fault.place.line,
            column=fault.place.column,
            path=plain_text(path_text(fault.path), limit=_MAX_MESSAGE),
            message=plain_text(fault.message, limit=_MAX_MESSAGE),
            advice=plain_text(fault.advice, limit=_MAX_MESSAGE),
        )
        for fault in ordered
    )
