"""`json_schema` on answers: like `jsonschema`, but strict, exact and bounded in time."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator

from evalcli.graders.json_schema import MAX_ANSWER_CHARS, MAX_QUICK_CHARS, JsonSchemaType
from evalcli.protocols import AssertionFaultError
from evalcli.records import AssertionOutcome

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
LIMIT_S = 0.1


def evaluate(schema: object, answer: str, **options: object) -> AssertionOutcome:
    return JsonSchemaType(LIMIT_S).compile(schema, options).evaluate(answer)


def failure_of(schema: object, answer: str, **options: object) -> str:
    """Give the reason without the name of the assertion."""
    outcome = evaluate(schema, answer, **options)
    assert not outcome.passed
    assert outcome.is_evaluated
    return outcome.reason.split(": ", 1)[1] if isinstance(schema, bool) else _after(outcome.reason)


def _after(reason: str) -> str:
    """Cut off `json_schema {…}: `, which may hold colons itself."""
    depth = 0
    for position, character in enumerate(reason):
        depth += (character == "{") - (character == "}")
        if character == "…" or (character == "}" and depth == 0):
            return reason[position + 3 :]
    raise AssertionError(reason)


# --- one JSON value ---------------------------------------------------------------------------

FENCED = '```json\n{"city": "Paris", "millions": 2.1}\n```\n'
CITY = {"type": "object", "required": ["city", "millions"]}


def test_a_fence_is_accepted_where_it_is_allowed() -> None:
    assert evaluate(CITY, FENCED, unwrap="fence").passed
    assert evaluate(CITY, '{"city": "Paris", "millions": 2.1}', unwrap="fence").passed


def test_a_fence_is_refused_otherwise_with_the_option_that_would_accept_it() -> None:
    assert failure_of(CITY, FENCED) == (
        'the answer is in a code fence, which "unwrap: fence" would accept'
    )


@pytest.mark.parametrize(
    "answer", [f"Here you are:\n{FENCED}", f"{FENCED}Anything else?", f"{FENCED}{FENCED}"]
)
def test_prose_around_a_fence_is_not_accepted(answer: str) -> None:
    assert "is not one JSON value" in failure_of(CITY, answer, unwrap="fence")


@pytest.mark.parametrize("answer", ["NaN", "[Infinity]", '{"a": 1, "a": 1}', "\ufeff{}", "{} {}"])
def test_what_is_no_json_fails(answer: str) -> None:
    assert failure_of(True, answer).startswith("the answer ")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("[" * 100_000, "the answer is nested too deeply"),
        ("9" * 5_000, "the answer has a number that is too long"),
        ('"' + "a" * MAX_ANSWER_CHARS + '"', "longer than 500,000 characters"),
    ],
)
def test_what_cannot_be_read_is_not_evaluated(answer: str, why: str) -> None:
    outcome = evaluate(True, answer)
    assert not outcome.passed
    assert not outcome.is_evaluated
    assert outcome.reason == f"json_schema true: could not be evaluated: {why}"


# --- reasons ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "answer", "reason"),
    [
        (
            {"properties": {"millions": {"type": "number"}}},
            '{"city": "Rome", "millions": "2.7"}',
            'millions: "2.7" is not of type number',
        ),
        ({"type": ["string", "null"]}, "1", "1 is not of type string or null"),
        ({"required": ["a", "b", "c"]}, '{"a": 1}', '{"a": 1} lacks "b", "c"'),
        ({"enum": ["a", 1]}, '"b"', '"b" is none of ["a", 1]'),
        ({"const": 1}, "true", "true is not 1"),
        ({"const": True}, "1", "1 is not true"),
        ({"minimum": 2.5}, "2.4", "2.4 is less than 2.5"),
        ({"exclusiveMaximum": 3}, "3", "3 is not less than 3"),
        ({"multipleOf": 0.1}, "2.15", "2.15 is not a multiple of 0.1"),
        ({"minLength": 3}, '"ab"', '"ab" has 2 characters, at least 3 wanted'),
        ({"maxItems": 1}, "[1, 2]", "[1, 2] has 2 items, at most 1 wanted"),
        ({"minProperties": 1}, "{}", "{} has 0 keys, at least 1 wanted"),
        ({"pattern": "^a$"}, '"b"', '"b" does not match "^a$"'),
        (
            {"items": {"properties": {"a b": False}}},
            '[{"a b": 1}]',
            '[0]["a b"]: the key is not allowed',
        ),
        ({"additionalProperties": False}, '{"x": 1}', "x: the key is not allowed"),
        ({"unevaluatedProperties": False}, '{"x": 1}', "x: the key is not allowed"),
        ({"items": False}, "[1]", "has more items than are allowed"),
        ({"uniqueItems": True}, "[1, 1]", "has equal items"),
        ({"anyOf": [{"type": "null"}, {"const": 1}]}, "2", "2 fits none of the alternatives"),
        ({"oneOf": [{"minimum": 1}, True]}, "2", "2 fits more than one of the alternatives"),
        ({"not": {"const": 1}}, "1", "1 is what it must not be"),
        ({"contains": {"const": 1}}, "[]", "[] has no item that fits"),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', "does not satisfy"),
        ({"properties": {"a": False, "b": False}}, '{"a": 1, "b": 1}', "(and 1 more)"),
        (False, "1", "1 is not allowed here"),
        (True, "Sure", 'Expecting value at line 1, column 1): "Sure"'),
    ],
)
def test_the_reason_names_the_place_and_what_was_wrong(
    schema: object, answer: str, reason: str
) -> None:
    assert reason in failure_of(schema, answer)


def test_the_reason_is_bounded() -> None:
    schema = {"properties": {"k" * 500: {"enum": ["v" * 500] * 50}}}
    outcome = evaluate(schema, json.dumps({"k" * 500: ["a" * 500] * 50}))
    assert len(outcome.reason) < 400


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "answer", "passes"),
    [
        ({"multipleOf": 0.1}, "2.1", True),
        ({"multipleOf": 0.01}, "19.99", True),
        ({"maximum": 2.1}, "2.1", True),
        ({"const": 0.3}, "0.30", True),
        ({"type": "integer"}, "1.0", True),
        ({"$schema": DRAFT_4, "type": "integer"}, "1.0", False),
        ({"type": "number"}, "1e400", True),
        ({"type": "integer"}, "1e400", True),
        ({"maximum": 5}, "1e999999999", False),
        ({"multipleOf": 3}, "1e999999999", False),
        ({"const": 1}, "true", False),
        ({"uniqueItems": True}, "[1, 1.0]", False),
        ({"uniqueItems": True}, '[1, true, [1], [true], {"a": 1}, {"a": true}, "1"]', True),
        ({"uniqueItems": True}, '[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]', False),
        ({"uniqueItems": True}, "[[], {}, null, false, 0, [0], [false]]", True),
    ],
)
def test_numbers_are_exact(schema: object, answer: str, passes: bool) -> None:
    assert evaluate(schema, answer).passed == passes


# --- formats ----------------------------------------------------------------------------------


def test_formats_are_enforced_on_demand() -> None:
    schema = {"properties": {"day": {"format": "date"}}}
    assert evaluate(schema, '{"day": "2026-02-30"}').passed
    assert failure_of(schema, '{"day": "2026-02-30"}', formats=True) == (
        'day: "2026-02-30" is no valid date'
    )
    assert evaluate(schema, '{"day": 5}', formats=True).passed


# --- time -------------------------------------------------------------------------------------

LONG = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"pattern": "^(a|aa)+$"}, LONG),
        ({"patternProperties": {"^(a|aa)+$": True}}, {LONG: 1}),
        (
            {"patternProperties": {"^(a|aa)+$": True}, "additionalProperties": False},
            {LONG: 1},
        ),
        (
            {"patternProperties": {"^(a|aa)+$": True}, "unevaluatedProperties": False},
            {LONG: 1},
        ),
        ({"propertyNames": {"pattern": "^(a|aa)+$"}}, {LONG: 1}),
        ({"items": {"anyOf": [{"const": number} for number in range(500)]}}, [499] * 10_000),
        ({"uniqueItems": True}, [[number] for number in range(40_000)]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 9}}}, 1),
    ],
    ids=["pattern", "names", "additional", "unevaluated", "key", "alternatives", "unique", "refs"],
)
def test_evaluation_is_stopped(schema: dict[str, Any], answer: object) -> None:
    if "$defs" in schema:
        for one, other in zip("bcdef", "cdefg", strict=True):
            schema["$defs"][one] = {"anyOf": [{"$ref": f"#/$defs/{other}"}] * 9}
        schema["$defs"]["g"] = False
    outcome = JsonSchemaType(0.02).compile(schema, {}).evaluate(json.dumps(answer))
    assert not outcome.passed
    assert not outcome.is_evaluated
    assert outcome.reason.endswith("could not be evaluated: stopped after 0.02 s")


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"anyOf": [{"$ref": "#"}]}, "1"),
        ({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, "1"),
        ({"items": {"$ref": "#"}}, "[" * 800 + "]" * 800),
        ({"unevaluatedProperties": False, "anyOf": [{"$ref": "#"}]}, "{}"),
    ],
)
def test_endless_recursion_is_not_evaluated(schema: object, answer: str) -> None:
    outcome = evaluate(schema, answer)
    assert not outcome.passed
    assert outcome.reason.endswith("could not be evaluated: schema or answer are nested too deeply")


def test_an_error_decides_before_an_evaluation_is_stopped() -> None:
    schema = {"prefixItems": [{"type": "null"}, {"pattern": "^(a|aa)+$"}]}
    assert failure_of(schema, json.dumps([1, LONG])) == ("[0]: 1 is not of type null")


def test_unevaluated_items_are_bounded() -> None:
    outcome = evaluate({"unevaluatedItems": False}, json.dumps([0] * 6_000))
    assert outcome.reason.endswith("unevaluatedItems over more than 5,000 items")


def test_a_long_answer_is_not_read_while_others_wait() -> None:
    compiled = JsonSchemaType().compile(True, {})
    assert compiled.try_quickly('"' + "a" * MAX_QUICK_CHARS + '"') is None
    assert compiled.try_quickly("1") == compiled.evaluate("1")


# --- agreement with jsonschema ------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "ab", "c1"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b1"]))
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)


def _keyword(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give schemas of one keyword."""
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    types = ["string", "integer", "number", "object", "array", "null", "boolean"]
    values: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(st.sampled_from(types), st.just(["string", "null"])),
        "enum": st.lists(DOCUMENTS, min_size=1, max_size=3, unique_by=repr),
        "required": st.lists(KEYS, max_size=2, unique=True),
        "minimum": st.integers(-2, 2),
        "multipleOf": st.integers(1, 3),
        "maxLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
        "uniqueItems": st.booleans(),
        "maxItems": st.integers(0, 2),
        "properties": named,
        "patternProperties": st.dictionaries(
            st.sampled_from(["^a", "b", "1$"]), inner, min_size=1, max_size=2
        ),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "dependentSchemas": named,
        "items": inner,
        "prefixItems": some,
        "unevaluatedItems": inner,
        "contains": inner,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.sampled_from(["#/definitions/a", "#/definitions/b"]),
    }
    return st.sampled_from(sorted(values)).flatmap(
        lambda name: values[name].map(lambda value: {name: value})
    )


def _merge(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


SCHEMAS = st.recursive(
    st.one_of(st.booleans(), st.just({"type": "string"}), st.just({"minimum": 1})),
    lambda inner: st.lists(_keyword(inner), min_size=1, max_size=4).map(_merge),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "stock",
    [Draft202012Validator, Draft201909Validator, Draft7Validator, Draft4Validator],
    ids=lambda each: each.__name__,
)
@given(schema=SCHEMAS, part=SCHEMAS, document=DOCUMENTS)
def test_agrees_with_jsonschema(
    stock: type[Validator], schema: Any, part: Any, document: object
) -> None:
    dialect = stock.META_SCHEMA.get("$id") or stock.META_SCHEMA["id"]
    parts = {"a": part, "b": {"type": "object"}}
    whole = {"$schema": dialect, "definitions": parts, "allOf": [schema]}
    try:
        stock.check_schema(whole)
        expected = stock(whole).is_valid(cast("Any", document))
    except (SchemaError, RecursionError):
        return
    try:
        compiled = JsonSchemaType(5).compile(whole, {})
    except AssertionFaultError as fault:  # jsonschema stops at an error before it recurses
        assert fault.message.startswith("leads back to itself")
        return
    outcome = compiled.evaluate(json.dumps(document))
    assert outcome.is_evaluated
    assert outcome.passed == expected
