"""What the YAML parser refused, in words that say what to write instead.

PyYAML's two parsers word the same error in two ways and sometimes place it one character apart;
this module makes one of them. No message repeats text of the file but a single character: the
line may hold a secret.
"""

from __future__ import annotations

from typing import NamedTuple

import yaml

from evalcli.declarations.scalars import cite
from evalcli.loading.nodes import Place


class SyntaxFault(NamedTuple):
    """Where the text stops being YAML, why, and what to write."""

    place: Place
    message: str
    advice: str


class _Rule(NamedTuple):
    """How one error of the parser is said: the first rule with a sign in its words wins."""

    signs: tuple[str, ...]
    message: str
    advice: str
    is_at_start: bool = False


_RULES = (
    _Rule(
        ("mapping values are not allowed",),
        'a colon stands where no "key: value" can begin',
        'put a text that holds ": " in quotes, or line the key up with its neighbours',
    ),
    _Rule(
        ("could not find expected ':'", "did not find expected ':'"),
        "a key has no colon and space after it",
        'write "key: value", or put a text of several lines in quotes',
        is_at_start=True,
    ),
    _Rule(
        ("quoted scalar",),
        "a quote is opened here and never closed",
        "close it, or put a text that holds this quote in the other kind of quotes",
        is_at_start=True,
    ),
    _Rule(
        ("flow sequence",),
        "a list that is opened with [ here lacks a comma or its ]",
        "close it, or put a text that begins with [ in quotes",
        is_at_start=True,
    ),
    _Rule(
        ("flow mapping",),
        "a mapping that is opened with { here lacks a comma or its }",
        "close it, or put a text that begins with { in quotes",
        is_at_start=True,
    ),
    _Rule(
        ("scanning an alias", "scanning an anchor"),
        "a * or & begins an alias or an anchor, and no name follows",
        "put a text that begins with it in quotes",
        is_at_start=True,
    ),
    _Rule(
        ("block scalar",),
        "the sign | or > begins a text in lines of its own, and these do not follow",
        "begin the text on the next line, indented, or put it in quotes",
        is_at_start=True,
    ),
    _Rule(
        ("directive",),
        "a line begins with %, which is a directive to the YAML reader",
        "remove the line, or indent it",
    ),
    _Rule(
        ("tag",),
        "has a tag, and tags such as !custom or !!python/name are not read",
        'remove it, or put a text that begins with "!" in quotes',
    ),
    _Rule(
        (
            "<block end>",
            "did not find expected key",
            "expected '-' indicator",
            "block mapping",
            "block collection",
            "sequence entries are not allowed",
            "mapping keys are not allowed",
            "document start",
        ),
        "the line does not continue what stands above it",
        "line it up with its neighbours, and put a text that holds quotes or colons in quotes",
    ),
)


def describe_syntax_error(text: str, error: yaml.YAMLError) -> SyntaxFault:
    """Say what is wrong at which place, the same for both of PyYAML's parsers."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return SyntaxFault(Place(1, 1), "is no YAML", "write it anew")
    problem, context = str(error.problem or ""), str(error.context or "")
    lines = text.split("\n")
    place = _place_of(lines, error.problem_mark or error.context_mark)
    character = lines[place.line - 1][place.column - 1 : place.column]
    if "cannot start any token" in problem:
        return _bad_start(place, character)
    if "escape" in problem or "expected escape sequence" in problem:
        return _bad_escape(lines, place)
    for rule in _RULES:
        if any(sign in problem or sign in context for sign in rule.signs):
            mark = error.context_mark if rule.is_at_start else None
            start = _place_of(lines, mark) if mark is not None else place
            return SyntaxFault(start, rule.message, rule.advice)
    return SyntaxFault(place, "is no YAML", "put texts with special characters in quotes")


def _place_of(lines: list[str], mark: yaml.Mark | None) -> Place:
    """Place a mark; one behind the end of the file is at the end of its last line."""
    if mark is None:
        return Place(1, 1)
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if mark.line >= len(lines):
        return Place(len(lines), len(lines[-1]) + 1)
    return Place(mark.line + 1, mark.column + 1)


def _bad_start(place: Place, character: str) -> SyntaxFault:
    if character == "\t":
        return SyntaxFault(place, "a tab stands where YAML takes spaces only", "indent with spaces")
    return SyntaxFault(
        place,
        f"a text without quotes cannot begin with {cite(character)}",
        "put it in quotes",
    )


def _bad_escape(lines: list[str], place: Place) -> SyntaxFault:
    line = lines[place.line - 1]
    start = line.rfind("\\", 0, place.column)
    if start >= 0:
        place = Place(place.line, start + 1)
    return SyntaxFault(
        place,
        "a backslash in double quotes begins no escape that YAML knows",
        r"write \\ for a backslash, or put the text in single quotes",
    )
