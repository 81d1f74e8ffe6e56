"""The value of a plain scalar by YAML 1.2: `no` is text, `0x1F` is 31, `12:30` is text.

Source: YAML 1.2.2, section 10.3.2 (core schema).
"""

from __future__ import annotations

import re

_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN = re.compile(r"\.(nan|NaN|NAN)")

_MAX_DIGITS = 4000
"""Python refuses longer integers; nothing that long is meant as a number."""


def core_value(text: str) -> str | int | float | bool | None:
    """Give the value of a plain scalar by the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START or len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _INFINITY.fullmatch(text):
        return float("-inf" if text.startswith("-") else "inf")
    return float("nan") if _NAN.fullmatch(text) else text


_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
}


def is_typed_tag(name: str) -> bool:
    """Say whether a tag such as `int` (of `!!int`) asks for one of the core types."""
    return name in _TAG_TYPES


def has_tagged_type(value: object, name: str) -> bool:
    """Say whether a value is of the core type that a tag asks for."""
    if isinstance(value, bool):
        return name == "bool"
    return isinstance(value, _TAG_TYPES[name])
