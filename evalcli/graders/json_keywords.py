"""JSON Schema keywords as the `json_schema` assertion evaluates them.

The classes of `jsonschema` do the work. Replaced is what could run away or is not exact there:
patterns (searched with the `regex` package, bounded in time), `multipleOf`, `uniqueItems`,
`format`, and whatever looks at patterns on the way. Each keyword first looks at the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, cast

import regex
from jsonschema import validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from evalcli.graders.bounds import EvaluationImpossibleError, EvaluationStoppedError
from evalcli.graders.json_formats import FORMATS
from evalcli.graders.json_values import JsonValue, is_multiple, is_whole
from evalcli.graders.patterns import search_within

_FORBIDDEN = "false"
"""Stands for the keyword where the schema is `false`."""

MAX_UNEVALUATED_ITEMS = 5_000
"""`unevaluatedItems` of `jsonschema` takes time in the square of the items."""

# What jsonschema passes to a keyword: validator, value of the keyword, instance, schema.
_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


@dataclass(slots=True)
class Evaluation:
    """What one evaluation of one answer needs beside the schema.

    `patterns` holds every pattern of the schema, compiled. `limit_s` is computing time.
    """

    patterns: Mapping[str, regex.Pattern[str]]
    enforces_formats: bool
    limit_s: float
    started_s: float = 0.0

    def left_s(self) -> float:
        """Say how much time is left.

        Raises:
            EvaluationStoppedError: none.
        """
        left = self.limit_s - (time.thread_time() - self.started_s)
        if left <= 0:
            raise EvaluationStoppedError
        return left

    def is_found(self, pattern: str, text: str) -> bool:
        """Search a text for a pattern of the schema, in the time that is left."""
        return search_within(self.patterns[pattern], text, self.left_s()) is not None


_IMPOSSIBLE: dict[type[BaseException], str] = {
    RecursionError: "schema or answer are nested too deeply",
    MemoryError: "it took too much memory",
    Unresolvable: "a reference in the schema cannot be resolved",
}

_CURRENT: ContextVar[Evaluation] = ContextVar("evaluation")


def find_errors(
    validator: Validator, instance: JsonValue, evaluation: Evaluation, *, at_most: int
) -> list[ValidationError]:
    """Evaluate an instance and give its first errors.

    One error decides, so what happens after it counts no more.

    Raises:
        EvaluationStoppedError: the time was not enough.
        EvaluationImpossibleError: schema or instance are nested too deeply, or something else
            of this instance cannot be evaluated.
    """
    token = _CURRENT.set(evaluation)
    evaluation.started_s = time.thread_time()
    errors: list[ValidationError] = []
    try:
        for error in validator.iter_errors(cast("Any", instance)):
            errors.append(error)
            if len(errors) == at_most:
                break
    except (EvaluationStoppedError, EvaluationImpossibleError):
        if not errors:
            raise
    except (RecursionError, MemoryError, Unresolvable) as exc:
        if not errors:
            why = next(why for kind, why in _IMPOSSIBLE.items() if isinstance(exc, kind))
            raise EvaluationImpossibleError(why) from exc
    finally:
        _CURRENT.reset(token)
    return errors


@cache
def bounded_class(stock: type[Validator]) -> type[Validator]:
    """Make the class that evaluates like `stock`, a draft of `jsonschema`, within bounds."""
    chosen: dict[str, _Keyword] = {**stock.VALIDATORS}
    chosen.update({name: keyword for name, keyword in _REPLACED.items() if name in chosen})
    if "extends" not in chosen:
        # In draft 3 this keyword also looks at `required`.
        chosen["properties"] = _properties
    if "unevaluatedItems" in chosen:
        chosen["unevaluatedItems"] = _unevaluated_items(chosen["unevaluatedItems"])
    keywords = {name: _bound(keyword) for name, keyword in chosen.items()}
    checker = stock.TYPE_CHECKER
    if checker.is_type(1.0, "integer"):
        checker = checker.redefine("integer", lambda _, value: is_whole(value))
    extend: Callable[..., type[Validator]] = validators.extend
    return extend(stock, validators=keywords, type_checker=checker)


def _bound(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _CURRENT.get().left_s()
        yield from keyword(validator, value, instance, schema) or ()

    return check


# --- replaced keywords --------------------------------------------------------------------------


def _pattern(_: Any, value: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _CURRENT.get().is_found(value, instance):
        yield ValidationError("does not match")


def _properties(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for key, subschema in value.items():
        if key in instance:
            yield from _descend(validator, instance, key, subschema)


def _descend(
    validator: Any, instance: dict[str, Any], key: str, subschema: Any
) -> Iterator[ValidationError]:
    """Evaluate the value of a key; for `false` the stock validators forget the place."""
    if subschema is False:
        yield ValidationError(
            "is not allowed",
            path=(key,),
            validator=_FORBIDDEN,
            validator_value=False,
            instance=instance[key],
        )
    else:
        yield from validator.descend(instance[key], subschema, path=key, schema_path=key)


def _pattern_properties(
    validator: Any, value: Any, instance: Any, _: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    evaluation = _CURRENT.get()
    for pattern, subschema in value.items():
        for key in instance:
            if evaluation.is_found(pattern, key):
                yield from _descend(validator, instance, key, subschema)


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for key in _additional_keys(instance, schema):
        yield from _descend(validator, instance, key, value)


def _additional_keys(instance: dict[str, Any], schema: Any) -> list[str]:
    evaluation = _CURRENT.get()
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [
        key
        for key in instance
        if key not in named and not any(evaluation.is_found(each, key) for each in patterns)
    ]


def _unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    evaluated = _evaluated_keys(validator, instance, schema)
    for key in instance:
        if key not in evaluated:
            yield from _descend(validator, instance, key, value)


def _evaluated_keys(validator: Any, instance: dict[str, Any], schema: Any) -> set[str]:
    """Find the keys that a schema evaluates at this place, by annotations of valid parts only.

    Source: JSON Schema 2020-12, section 11.3.
    """
    if not isinstance(schema, dict):
        return set()
    evaluation = _CURRENT.get()
    evaluation.left_s()
    found: set[str] = instance.keys() & schema.get("properties", {}).keys()
    for name in ("additionalProperties", "unevaluatedProperties"):
        rest = schema.get(name, False)
        found |= {key for key, item in instance.items() if _is_valid(validator, item, rest)}
    for pattern in schema.get("patternProperties", {}):
        found |= {key for key in instance if evaluation.is_found(pattern, key)}
    for target in _reference_targets(validator, schema):
        found |= _evaluated_keys(target, instance, target.schema)
    for subschema in _valid_parts(validator, instance, schema):
        found |= _evaluated_keys(validator, instance, subschema)
    return found


def _reference_targets(validator: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Follow the references of a schema, each to a validator of what it points at."""
    # jsonschema offers no public way from a validator to the target of a reference.
    resolver = validator._resolver
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in schema:
            resolved = (
                lookup_recursive_ref(resolver)
                if name == "$recursiveRef"
                else resolver.lookup(schema[name])
            )
            yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)


def _valid_parts(validator: Any, instance: dict[str, Any], schema: dict[str, Any]) -> Iterator[Any]:
    """Give the subschemas that apply to the same instance and hold."""
    for name in ("allOf", "oneOf", "anyOf"):
        for subschema in schema.get(name, ()):
            if _is_valid(validator, instance, subschema):
                yield subschema
    for key, subschema in schema.get("dependentSchemas", {}).items():
        if key in instance:
            yield subschema
    if "if" in schema:
        holds = _is_valid(validator, instance, schema["if"])
        if holds:
            yield schema["if"]
        yield schema.get("then" if holds else "else", True)


def _is_valid(validator: Any, instance: Any, schema: Any) -> bool:
    return next(validator.descend(instance, schema), None) is None


def _unevaluated_items(stock: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, list) and len(instance) > MAX_UNEVALUATED_ITEMS:
            raise EvaluationImpossibleError(
                f"unevaluatedItems over more than {MAX_UNEVALUATED_ITEMS:,} items"
            )
        yield from stock(validator, value, instance, schema) or ()

    return check


def _multiple_of(
    validator: Any, value: int | Decimal, instance: Any, _: Any
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and not is_multiple(instance, value):
        yield ValidationError("is not a multiple")


def _unique_items(_: Any, value: bool, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not value or not isinstance(instance, list):
        return
    evaluation = _CURRENT.get()
    seen = set()
    for item in instance:
        evaluation.left_s()
        key = _hashable(item)
        if key in seen:
            yield ValidationError("has equal items")
            return
        seen.add(key)


_BOOLEANS = {True: object(), False: object()}


def _hashable(value: Any) -> object:
    """Turn a JSON value into one that can stand in a set and is equal where JSON says so."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    # Python takes true for 1, JSON does not.
    return _BOOLEANS[value] if isinstance(value, bool) else value


def _format(_: Any, value: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not _CURRENT.get().enforces_formats or not isinstance(instance, str):
        return
    check = FORMATS.get(value)
    if check is not None and not check(instance):
        yield ValidationError("has another format")


_REPLACED: dict[str, _Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
    "multipleOf": _multiple_of,
    "divisibleBy": _multiple_of,
    "uniqueItems": _unique_items,
    "format": _format,
}
