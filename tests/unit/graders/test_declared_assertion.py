"""How an assertion is declared: one key names the type, the others are its options."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evalcli.declarations.scalars import SourceScalar
from evalcli.errors import ConfigurationError
from evalcli.graders.deterministic import check_assertion, compile_assertion
from evalcli.protocols import AssertionFaultError, AssertionType

Body = dict[object, object]


def faults_of(body: Body) -> list[tuple[tuple[str | int, ...], str, str]]:
    return [(fault.path, fault.message, fault.advice) for fault in check_assertion(body)]


def as_read(body: Mapping[str, object]) -> Body:
    """Turn keys and texts into scalars as the loader hands them over."""

    def scalar(raw: object) -> object:
        if isinstance(raw, Mapping):
            return {SourceScalar(str(key), str(key)): scalar(item) for key, item in raw.items()}
        if isinstance(raw, bool):
            return SourceScalar(str(raw).lower(), raw)
        return SourceScalar(str(raw), str(raw))

    return {SourceScalar(key, key): scalar(item) for key, item in body.items()}


GOOD: list[dict[str, object]] = [
    {"exact": "a"},
    {"contains": "a"},
    {"regex": "/a/i"},
    {"json_schema": {"type": "object"}},
    {"json_schema": {"type": "object"}, "unwrap": "fence", "formats": True},
    {"not": {"contains": "a"}},
    {"not": {"json_schema": {"type": "object"}, "unwrap": "fence"}},
]


@pytest.mark.parametrize("body", GOOD, ids=str)
def test_good_ones_mean_the_same_from_a_file_and_from_python(body: dict[str, object]) -> None:
    from_python: Body = dict(body.items())
    assert check_assertion(from_python) == []
    read = compile_assertion(as_read(body))
    assert read.canonical == compile_assertion(from_python).canonical


ONE_OF = "write one of exact, contains, regex, json_schema, not"


@pytest.mark.parametrize(
    ("body", "message", "advice"),
    [
        ({"contians": "x"}, 'unknown key "contians"', 'write "contains"'),
        ({"jsonschema": {}}, 'unknown key "jsonschema"', 'write "json_schema"'),
        ({"unwrap": "fence", "regexp": "x"}, 'unknown key "regexp"', 'write "regex"'),
        ({"foo": 1, "bar": 2}, 'unknown key "foo"', ONE_OF),
        ({7: 1}, 'unknown key "7"', ONE_OF),
        ({}, "is empty", ONE_OF),
        (
            {"contains": "x", "regex": "y"},
            'has two types in one mapping, "contains" and "regex"',
            "split them: give each its own item in the list",
        ),
        (
            {"not": {"contains": "x"}, "exact": "y"},
            'has two types in one mapping, "not" and "exact"',
            "split them: give each its own item in the list",
        ),
    ],
)
def test_faults_of_the_whole(body: Body, message: str, advice: str) -> None:
    assert faults_of(body) == [((), message, advice)]


@pytest.mark.parametrize(
    ("body", "path", "message", "advice"),
    [
        (
            {"json_schema": True, "unwrop": "fence"},
            ("unwrop",),
            'unknown key "unwrop" beside json_schema',
            'write "unwrap"',
        ),
        (
            {"json_schema": True, "flags": "i"},
            ("flags",),
            'unknown key "flags" beside json_schema',
            "known beside json_schema: formats, unwrap",
        ),
        (
            {"contains": "x", "unwrap": "fence"},
            ("unwrap",),
            'unknown key "unwrap" beside contains',
            "take it away: contains has no options",
        ),
        (
            {"not": {"json_schema": True}, "unwrap": "fence"},
            ("unwrap",),
            'unknown key "unwrap" beside not',
            "options stand inside the mapping under not, beside the type",
        ),
        (
            {"not": {"not": {"contains": "x"}}},
            ("not",),
            "not inside not",
            "leave both out",
        ),
        (
            {"not": "x"},
            ("not",),
            "must be an assertion",
            'write a type and its value, as "not: {contains: …}"',
        ),
        ({"not": {"contians": "x"}}, ("not",), 'unknown key "contians"', 'write "contains"'),
        ({"contains": ""}, ("contains",), "is empty", "write the text"),
        ({"not": {"contains": ""}}, ("not", "contains"), "is empty", "write the text"),
        (
            {"json_schema": {"properties": {"a": {"type": "strin"}}}},
            ("json_schema", "properties", "a", "type"),
            '"strin" is none of ["array", "boolean", "integer", "null", "number", "object",…',
            'write "string"',
        ),
    ],
)
def test_faults_of_a_part(
    body: Body, path: tuple[str | int, ...], message: str, advice: str
) -> None:
    assert faults_of(body) == [(path, message, advice)]


def test_all_faults_are_reported_at_once() -> None:
    body: Body = {
        "not": {"json_schema": {"minLength": -1, "required": 1}, "unwrap": "no", "x": 1},
        "y": 1,
    }
    assert {path for path, _, _ in faults_of(body)} == {
        ("y",),
        ("not", "x"),
        ("not", "unwrap"),
        ("not", "json_schema", "minLength"),
        ("not", "json_schema", "required"),
    }


def test_compiling_raises_the_first_fault_with_the_others() -> None:
    with pytest.raises(AssertionFaultError) as caught:
        compile_assertion({"contains": "", "x": 1})
    assert len(caught.value.others) == 1


def test_a_plug_in_that_cannot_be_loaded_is_a_fault() -> None:
    def fail(name: str) -> AssertionType:
        raise ConfigurationError("it is broken", advice="repair it")

    [fault] = check_assertion({"contains": "x"}, load_type=fail)
    assert (fault.path, fault.message, fault.advice) == (
        ("contains",),
        "it is broken",
        "repair it",
    )
