"""Why a JSON value does not satisfy a schema, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jsonschema.exceptions import ValidationError, best_match

from evalcli.graders.bounds import quote
from evalcli.graders.json_values import show_json, show_path


def word_errors(errors: list[ValidationError]) -> str:
    """Word the most telling of several errors, with its place, and count the others."""
    others = {_word_with_place(error) for error in errors}
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return _word_with_place(best_match(errors) or errors[0]) + more


def _word_with_place(error: ValidationError) -> str:
    place = show_path(list(error.absolute_path))
    return f"{place}: {word_error(error)}" if place else word_error(error)


def word_error(error: ValidationError) -> str:
    """Word one error without its place."""
    keyword = str(error.validator)
    value, instance = _content(error)
    if isinstance(value, bool) and (keyword, value) in _BY_SWITCH:
        return _BY_SWITCH[keyword, value]
    shown = show_json(instance)
    if keyword in _COMPARISONS:
        return f"{shown} {_COMPARISONS[keyword]} {show_json(value)}"
    if keyword in _SIZES:
        measured, relation = _SIZES[keyword]
        return f"{shown} has {len(instance)} {measured}, {relation} {show_json(value)} wanted"
    if error.validator_value is None and error.schema is False:
        return f"{shown} is not allowed here"
    word = _WORDS.get(keyword)
    return f'{shown} does not satisfy "{keyword}"' if word is None else word(shown, error)


def _content(error: ValidationError) -> tuple[Any, Any]:
    """Give the value of the keyword and what it was held against."""
    return error.validator_value, error.instance


_BY_SWITCH = {
    ("false", False): "the key is not allowed",
    ("items", False): "has more items than are allowed",
    ("additionalItems", False): "has more items than are allowed",
    ("unevaluatedItems", False): "has more items than are allowed",
    ("uniqueItems", True): "has equal items",
    ("required", True): "is required, and missing",
    ("exclusiveMinimum", True): "is too small",
    ("exclusiveMaximum", True): "is too big",
}

_COMPARISONS = {
    "minimum": "is less than",
    "maximum": "is more than",
    "exclusiveMinimum": "is not more than",
    "exclusiveMaximum": "is not less than",
    "multipleOf": "is not a multiple of",
    "divisibleBy": "is not a multiple of",
    "const": "is not",
}

_SIZES = {
    "minLength": ("characters", "at least"),
    "maxLength": ("characters", "at most"),
    "minItems": ("items", "at least"),
    "maxItems": ("items", "at most"),
    "minProperties": ("keys", "at least"),
    "maxProperties": ("keys", "at most"),
}


def _word_type(shown: str, error: ValidationError) -> str:
    value, _ = _content(error)
    names = value if isinstance(value, list) else [value]
    words = [name if isinstance(name, str) else show_json(name) for name in names]
    return f"{shown} is not of type {' or '.join(words)}"


def _word_required(shown: str, error: ValidationError) -> str:
    wanted, instance = _content(error)
    missing = [name for name in wanted if name not in instance]
    return f"{shown} lacks {', '.join(show_json(name, 40) for name in missing[:5])}"


def _word_alternatives(shown: str, error: ValidationError) -> str:
    return f"{shown} fits {'none' if error.context else 'more than one'} of the alternatives"


_WORDS: dict[str, Callable[[str, ValidationError], str]] = {
    "type": _word_type,
    "required": _word_required,
    "format": lambda shown, error: f"{shown} is no valid {error.validator_value}",
    "pattern": lambda shown, error: f"{shown} does not match {quote(str(error.validator_value))}",
    "enum": lambda shown, error: f"{shown} is none of {show_json(error.validator_value)}",
    "contains": lambda shown, _: f"{shown} has no item that fits",
    "anyOf": _word_alternatives,
    "oneOf": _word_alternatives,
    "not": lambda shown, _: f"{shown} is what it must not be",
}
