"""Everything about a JSON Schema that can be refused before an answer is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

import regex
from jsonschema import validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from referencing import Registry, Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import Schema, specification_with

from evalcli.declarations.scalars import Path, cite
from evalcli.graders.json_formats import FORMATS
from evalcli.graders.json_reasons import word_error
from evalcli.graders.json_schema_loops import InPlaceSteps
from evalcli.graders.json_values import JsonValue
from evalcli.graders.patterns import compile_pattern
from evalcli.protocols import AssertionFaultError

MAX_FAULTS = 20

_DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-03/schema#",
)
_REFERENCE_ALONE = _DIALECTS[2:]  # where nothing that stands beside a `$ref` is read
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# These say nothing about an answer, whatever stands in them.
_COMMENTS = frozenset({"$comment", "title", "description"})
# These neither, or they say what another part of the schema is called.
_NAMES = {"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
_REMARKS = {"default", "examples", "deprecated", "readOnly", "writeOnly"}
_CONTENT = {"contentMediaType", "contentEncoding", "contentSchema"}
_SAID_ASIDE = _COMMENTS | _NAMES | _REMARKS | _CONTENT
# No misspelt ones, wherever they count.
_OF_ANY_DRAFT = frozenset(
    keyword
    for dialect in _DIALECTS
    for keyword in validators.validator_for({"$schema": dialect}).VALIDATORS
)
# Keywords that are read by others than their own checks.
_HELPING = frozenset({"then", "else", "minContains", "maxContains", "$defs", "definitions"})


@dataclass(slots=True)
class CheckedSchema:
    """A schema that can be evaluated.

    `tree` is the schema without `$schema`; `meaning` is what it says about answers: `tree` without
    titles and comments. `patterns` holds every pattern in it, compiled.
    """

    dialect: str
    stock: type[Validator]
    tree: JsonValue
    meaning: JsonValue = None
    patterns: dict[str, regex.Pattern[str]] = field(default_factory=dict)


def check_schema(tree: JsonValue, path: Path, *, enforces_formats: bool) -> CheckedSchema:
    """Check a schema and everything that is reached from it; `tree` is taken over.

    `path` is where the schema stands in the assertion, for faults.

    Raises:
        AssertionFaultError: the schema cannot work; `others` has further faults.
    """
    if not isinstance(tree, dict | bool):
        raise AssertionFaultError(
            "is no schema", advice="write a mapping, JSON text of one, or true", path=path
        )
    if tree == {}:
        raise AssertionFaultError(
            "is empty", advice="write what is wanted, or `true` to accept any JSON", path=path
        )
    dialect = _choose_dialect(tree, path)
    stock = validators.validator_for({"$schema": dialect}, default=validators.Draft202012Validator)
    checked = CheckedSchema(dialect, stock, tree, meaning=tree)
    walk = _Walk(checked, path, enforces_formats)
    try:
        walk.check()
    except RecursionError as exc:
        raise AssertionFaultError("is nested too deeply", advice="nest less", path=path) from exc
    if walk.faults:
        raise AssertionFaultError.of(walk.faults)
    return checked


def _choose_dialect(tree: JsonValue, path: Path) -> str:
    """Take `$schema` off the schema and say which draft it names."""
    if not isinstance(tree, dict) or "$schema" not in tree:
        return _DIALECTS[0]
    named = tree.pop("$schema")
    if isinstance(named, str):
        for dialect in _DIALECTS:
            if named.rstrip("#") == dialect.rstrip("#"):
                return dialect
    near = get_close_matches(str(named), _DIALECTS, n=1, cutoff=0.8)
    advice = f'write "{near[0]}"' if near else f"known are {', '.join(_DIALECTS)}"
    raise AssertionFaultError(
        f"{cite(str(named))} is no known draft of JSON Schema",
        advice=advice,
        path=(*path, "$schema"),
    )


class _Walk:
    """A visit to each schema that can be reached, once."""

    def __init__(self, checked: CheckedSchema, path: Path, enforces_formats: bool) -> None:
        self._checked = checked
        self._root = path
        self._enforces_formats = enforces_formats
        self._specification: Specification[Schema] = specification_with(checked.dialect)
        self._paths = dict(_containers(checked.tree, path))
        self._keywords = {*checked.stock.VALIDATORS, *_HELPING}
        self._in_form: set[int] = set()
        self._steps = InPlaceSteps()
        self.faults: list[AssertionFaultError] = []

    def check(self) -> None:
        """Check form, dialects, then what the schemas refer to and hold."""
        tree = self._checked.tree
        has_form = self._has_form(tree, self._root)
        if not isinstance(tree, dict):
            return
        if not has_form:
            for schema in self._inner_schemas(tree):
                self._check_schema(schema, self._paths[id(schema)])
            return
        for schema in self._inner_schemas(tree):
            self._check_inner_dialect(schema)
        if self.faults:
            return
        reached = list(self._reach_schemas(tree))
        for schema, path in reached:
            self._check_schema(schema, path)
        for place in self._steps.find_loops():
            self._fault(
                "leads back to itself, so no answer could ever be checked",
                place,
                "refer to a part that says something, or leave the reference out",
            )
        comments = {id(schema) for schema, _ in reached}
        self._checked.meaning = _without_comments(tree, comments)

    def _fault(self, message: str, path: Path, advice: str = "") -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(AssertionFaultError(message, advice=advice, path=path))

    # Form: what the draft's own schema says.

    def _has_form(self, schema: JsonValue, path: Path) -> bool:
        stock = self._checked.stock
        meta_class = validators.validator_for(stock.META_SCHEMA, default=stock)
        seen = set()
        for error in meta_class(stock.META_SCHEMA).iter_errors(cast("Any", schema)):
            part = _innermost(error)
            place, message = (*path, *part.absolute_path), word_error(part)
            if (place, message) not in seen:
                seen.add((place, message))
                self._fault(message, place, _advice_for(part))
        self._in_form.add(id(schema))
        return not seen

    def _inner_schemas(self, schema: Schema) -> Iterator[dict[str, JsonValue]]:
        """Give a schema and all that stand in it where the draft expects schemas."""
        stack: list[Schema] = [schema]
        while stack:
            current = stack.pop()
            if isinstance(current, dict):
                yield current
                try:
                    stack.extend(self._specification.subresources_of(current))
                except (AttributeError, TypeError):
                    # Only where the form is wrong, and that is a fault already.
                    continue

    def _check_inner_dialect(self, schema: dict[str, JsonValue]) -> None:
        named = schema.pop("$schema", self._checked.dialect)
        if str(named).rstrip("#") != self._checked.dialect.rstrip("#"):
            self._fault(
                "an inner schema of another draft cannot be evaluated",
                (*self._paths[id(schema)], "$schema"),
                "write `$schema` at the top only",
            )

    # References.

    def _reach_schemas(self, root: Schema) -> Iterator[tuple[dict[str, JsonValue], Path]]:
        """Give each schema that can be reached, with its path; note dangling references."""
        resource = self._specification.create_resource(root)
        registry: Registry[Schema] = Registry()
        waiting = deque([(root, registry.resolver_with_root(resource))])
        self._in_form.update(id(schema) for schema in self._inner_schemas(root))
        seen = set()
        while waiting:
            schema, resolver = waiting.popleft()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            path = self._paths[id(schema)]
            yield schema, path
            if "$ref" not in schema or self._checked.dialect not in _REFERENCE_ALONE:
                self._steps.note_parts(schema)
            for inner in self._specification.subresources_of(schema):
                resource = self._specification.create_resource(inner)
                waiting.append((inner, resolver.in_subresource(resource)))
            for name in _REFERENCES:
                if name not in schema:
                    continue
                try:
                    found = resolver.lookup(str(schema[name]))
                except (Unresolvable, ValueError):
                    self._note_dangling(str(schema[name]), (*path, name))
                    continue
                if name == "$ref":  # where the others lead depends on the way that came here
                    self._steps.note_reference(schema, found.contents, (*path, name))
                if self._can_be_entered(found.contents, (*path, name)):
                    waiting.append((found.contents, found.resolver))

    def _note_dangling(self, reference: str, path: Path) -> None:
        self._fault(
            f"{cite(reference)} is nothing in this schema",
            path,
            "refer to a part of the schema, such as #/$defs/name; nothing is fetched",
        )

    def _can_be_entered(self, target: object, path: Path) -> bool:
        """Whether what a reference points at is a schema; what no draft expects is checked now."""
        if isinstance(target, bool) or id(target) in self._in_form:
            return True
        if not isinstance(target, dict):
            self._fault("points at something that is no schema", path)
            return False
        target.pop("$schema", None)
        return self._has_form(target, self._paths.get(id(target), path))

    # What stands in a schema.

    def _check_schema(self, schema: dict[str, JsonValue], path: Path) -> None:
        for key in schema:
            if key not in _OF_ANY_DRAFT | _HELPING | _SAID_ASIDE:
                self._check_unknown(key, path)
        self._check_patterns(schema, path)
        name = schema.get("format")
        if self._enforces_formats and isinstance(name, str) and name not in FORMATS:
            near = get_close_matches(name, FORMATS, n=1)
            self._fault(
                f"the format {cite(name)} cannot be enforced",
                (*path, "format"),
                f'write "{near[0]}"' if near else f"known are {', '.join(FORMATS)}",
            )

    def _check_unknown(self, key: str, path: Path) -> None:
        """Refuse a misspelt keyword, which would silently check nothing; others are comments."""
        by_lower = {name.lower(): name for name in self._keywords}
        near = get_close_matches(key.lower(), by_lower, n=1, cutoff=0.8)
        if near:
            self._fault(
                f"unknown keyword {cite(key)}", (*path, key), f'write "{by_lower[near[0]]}"'
            )

    def _check_patterns(self, schema: dict[str, JsonValue], path: Path) -> None:
        places = {}
        named = schema.get("pattern")
        if isinstance(named, str):
            places[named] = (*path, "pattern")
        keys = schema.get("patternProperties")
        if isinstance(keys, dict):
            places.update({key: (*path, "patternProperties", key) for key in keys})
        for text, place in places.items():
            try:
                # In a schema the empty pattern is valid, and found everywhere.
                self._checked.patterns[text] = compile_pattern(text or "(?:)")
            except AssertionFaultError as fault:
                self._fault(fault.message, place, fault.advice)


def _containers(value: JsonValue, path: Path) -> Iterator[tuple[int, Path]]:
    """Give the path of each mapping and list in a tree, by identity."""
    if isinstance(value, dict):
        yield id(value), path
        for key, item in value.items():
            yield from _containers(item, (*path, key))
    elif isinstance(value, list):
        yield id(value), path
        for place, item in enumerate(value):
            yield from _containers(item, (*path, place))


def _innermost(error: ValidationError) -> ValidationError:
    """Among alternatives, follow the one that fits what was written farthest."""
    while error.context:
        error = max(error.context, key=lambda each: (len(each.path), each.validator != "type"))
    return error


def _advice_for(error: ValidationError) -> str:
    known = error.validator_value
    if error.validator == "enum" and isinstance(known, list) and isinstance(error.instance, str):
        near = get_close_matches(error.instance, [str(word) for word in known], n=1)
        if near:
            return f'write "{near[0]}"'
    return "correct the schema"


def _without_comments(value: JsonValue, schemas: set[int]) -> JsonValue:
    """Copy a tree, leaving comments out of the mappings that are schemas."""
    if isinstance(value, dict):
        left_out = _COMMENTS if id(value) in schemas else frozenset()
        return {
            key: _without_comments(item, schemas)
            for key, item in value.items()
            if key not in left_out
        }
    if isinstance(value, list):
        return [_without_comments(item, schemas) for item in value]
    return value
