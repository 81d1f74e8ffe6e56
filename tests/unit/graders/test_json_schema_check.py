"""Schemas that cannot work are refused at load, each fault with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.json_schema import JSON_SCHEMA
from evalcli.protocols import AssertionFaultError

DIALECTS = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-03/schema#",
]


def faults_of(schema: object, **options: object) -> list[tuple[str, str]]:
    """Give the place below the schema and the message of each fault."""
    try:
        JSON_SCHEMA.compile(schema, options)
    except AssertionFaultError as fault:
        faults = [fault, *fault.others]
        return [(".".join(map(str, each.path[1:])), each.message) for each in faults]
    return []


def advice_of(schema: object, **options: object) -> str:
    with pytest.raises(AssertionFaultError) as caught:
        JSON_SCHEMA.compile(schema, options)
    return caught.value.advice


# --- the value --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, "", SourceScalar("", None), {}, "{}"])
def test_an_empty_value_is_a_fault(value: object) -> None:
    assert faults_of(value) == [("", "is empty")]
    assert "`true` to accept any JSON" in advice_of(value)


@pytest.mark.parametrize("value", [[], [{}], 5, "5", "[]", SourceScalar("7", 7)])
def test_a_value_that_is_no_schema_is_a_fault(value: object) -> None:
    assert faults_of(value) == [("", "is no schema")]


@pytest.mark.parametrize("value", [True, False, "true", SourceScalar("true", True)])
def test_true_and_false_are_schemas(value: object) -> None:
    assert faults_of(value) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the text is not one JSON value (Expecting property name enclosed"),
        ('{"minimum": NaN}', "the text is not JSON: NaN is no JSON number"),
        ('{"type": "object", "type": "array"}', 'the text has the key "type" twice'),
        ("[" * 200_000, "the text is nested too deeply"),
    ],
)
def test_json_text_is_read_strictly(text: str, message: str) -> None:
    [(place, found)] = faults_of(text)
    assert place == ""
    assert found.startswith(message)


def test_numbers_that_are_not_finite_are_faults() -> None:
    schema = {"minimum": SourceScalar(".nan", float("nan"))}
    assert faults_of(schema) == [("minimum", "is no finite number, and JSON has no other")]


# --- the form ---------------------------------------------------------------------------------


def test_all_faults_of_the_form_are_reported() -> None:
    schema = {"minLength": -1, "properties": {"a": {"type": "strng", "required": "b"}}}
    assert sorted(faults_of(schema)) == [
        ("minLength", "-1 is less than 0"),
        ("properties.a.required", '"b" is not of type array'),
        (
            "properties.a.type",
            '"strng" is none of ["array", "boolean", "integer", "null", "number", "object",…',
        ),
    ]


def test_faults_of_form_and_content_come_together() -> None:
    schema = {"minLength": -1, "properties": {"a": {"pattern": "("}, "b": {"requred": []}}}
    assert [place for place, _ in sorted(faults_of(schema))] == [
        "minLength",
        "properties.a.pattern",
        "properties.b.requred",
    ]


@pytest.mark.parametrize(
    "schema",
    [{"properties": 5}, {"allOf": {"a": 1}}, {"items": [5]}, {"patternProperties": ["("]}],
    ids=str,
)
def test_a_wrong_form_hides_nothing_worse(schema: dict[str, Any]) -> None:
    assert len(faults_of(schema)) == 1


def test_a_misspelt_type_gets_the_nearest_one() -> None:
    assert advice_of({"type": "strng"}) == 'write "string"'
    assert advice_of({"type": ["string", "nul"]}) == 'write "null"'


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("requred", "required"),
        ("propertes", "properties"),
        ("additionalproperties", "additionalProperties"),
        ("item", "items"),
        ("min_length", "minLength"),
    ],
)
def test_a_misspelt_keyword_is_a_fault(key: str, near: str) -> None:
    schema = {"properties": {"a": {"type": "object", key: True}}}
    assert faults_of(schema) == [(f"properties.a.{key}", f'unknown keyword "{key}"')]
    assert advice_of(schema) == f'write "{near}"'


def test_properties_may_be_called_like_misspelt_keywords() -> None:
    assert faults_of({"properties": {"requred": True}, "enum": [{"propertes": 1}]}) == []


def test_keywords_of_others_are_comments() -> None:
    assert faults_of({"type": "object", "x-order": 1, "nullable": True, "example": 1}) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_drafts_are_known(dialect: str) -> None:
    assert faults_of({"$schema": dialect, "type": "object"}) == []


@pytest.mark.parametrize(
    ("dialect", "advice"),
    [
        ("https://json-schema.org/draft-07/schema", 'write "http://json-schema.org/draft-07/'),
        ("https://acme.example/schema", "known are https://json-schema.org/draft/2020-12/"),
        (7, "known are https://json-schema.org/draft/2020-12/"),
    ],
)
def test_an_unknown_draft_is_a_fault(dialect: object, advice: str) -> None:
    [(place, message)] = faults_of({"$schema": dialect, "type": "object"})
    assert place == "$schema"
    assert "is no known draft of JSON Schema" in message
    assert advice_of({"$schema": dialect, "type": "object"}).startswith(advice)


def test_the_form_is_that_of_the_draft() -> None:
    schema = {"maximum": 5, "exclusiveMaximum": True}
    assert faults_of(schema) == [("exclusiveMaximum", "true is not of type number")]
    assert faults_of({"$schema": DIALECTS[4], **schema}) == []


def test_an_inner_schema_of_another_draft_is_a_fault() -> None:
    same = {"$defs": {"a": {"$schema": DIALECTS[0], "type": "string"}}}
    other = {"$defs": {"a": {"$schema": DIALECTS[2], "type": "string"}}}
    assert faults_of(same) == []
    assert [place for place, _ in faults_of(other)] == ["$defs.a.$schema"]


def test_a_deep_schema_is_a_fault() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(300):
        schema = {"items": schema}
    assert faults_of(schema) == [("", "is nested too deeply")]


# --- references -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://acme.example/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#missing"},
        {"$ref": "#/allOf/x", "allOf": [True]},
        {"$ref": "http://["},
        {"$dynamicRef": "#missing"},
        {"$dynamicRef": "https://acme.example/schema.json#x"},
        {"$id": "https://acme.example/", "$ref": "part.json"},
        {"$id": "https://acme.example/a", "$defs": {"x": {"$id": "b", "$ref": "#/$defs/x"}}},
        {"$schema": DIALECTS[1], "$recursiveRef": "https://acme.example/schema.json"},
        {"$schema": DIALECTS[4], "id": "https://acme.example/", "$ref": "part.json"},
        {"$schema": DIALECTS[4], "$ref": 5},
    ],
)
def test_references_out_of_the_schema_are_faults(schema: dict[str, object]) -> None:
    [(place, message)] = faults_of(schema)
    assert place.rpartition(".")[2] in ("$ref", "$dynamicRef", "$recursiveRef")
    assert message.endswith("is nothing in this schema")
    assert advice_of(schema).endswith("nothing is fetched")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"properties": {"child": {"$ref": "#"}}},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {"$schema": DIALECTS[2], "$ref": "#/definitions/a", "allOf": [{"$ref": "#"}]}
        | {"definitions": {"a": {"type": "string"}}},
        {"$ref": "#part", "$defs": {"a": {"$anchor": "part"}}},
        {
            "$id": "https://acme.example/a",
            "$ref": "https://acme.example/a#/$defs/a",
            "$defs": {"a": True},
        },
        {"$id": "https://acme.example/a", "$ref": "b", "$defs": {"x": {"$id": "b"}}},
        {"$dynamicRef": "#node", "$defs": {"a": {"$dynamicAnchor": "node"}}},
        {"$schema": DIALECTS[1], "properties": {"a": {"$recursiveRef": "#"}}},
        {"$schema": DIALECTS[4], "$ref": "#/definitions/a", "definitions": {"a": {}}},
        {"$ref": "#/extra/a~1b", "extra": {"a/b": {"type": "string"}}},
        {"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "https://a.example"}]},
    ],
)
def test_references_inside_the_schema_work(schema: dict[str, Any]) -> None:
    assert faults_of(schema) == []


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"$ref": "#"}, "$ref"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "$defs.a.$ref"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#"}}}, "$defs.a.$ref"),
        ({"items": {"allOf": [{"allOf": [{"$ref": "#/items"}]}]}}, "items.allOf.0.allOf.0.$ref"),
        ({"$schema": DIALECTS[4], "items": {"$ref": "#/items"}}, "items.$ref"),
    ],
)
def test_a_reference_that_leads_back_to_itself_is_a_fault(
    schema: dict[str, object], place: str
) -> None:
    assert faults_of(schema) == [
        (place, "leads back to itself, so no answer could ever be checked")
    ]


@pytest.mark.parametrize(
    ("schema", "place", "message"),
    [
        (
            {"$ref": "#/required", "required": ["a"]},
            "$ref",
            "points at something that is no schema",
        ),
        (
            {"$ref": "#/extra", "extra": {"minLength": "x"}},
            "extra.minLength",
            '"x" is not of type integer',
        ),
    ],
)
def test_what_a_reference_points_at_must_be_a_schema(
    schema: dict[str, Any], place: str, message: str
) -> None:
    assert faults_of(schema) == [(place, message)]


# --- patterns and formats -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"pattern": "(a"}, "pattern"),
        ({"patternProperties": {"(a": True}}, "patternProperties.(a"),
        ({"anyOf": [{"items": {"pattern": "(a"}}]}, "anyOf.0.items.pattern"),
        ({"$ref": "#/extra", "extra": {"pattern": "(a"}}, "extra.pattern"),
    ],
)
def test_invalid_patterns_are_faults(schema: dict[str, object], place: str) -> None:
    assert faults_of(schema) == [(place, "is not a valid pattern: missing ) at character 3")]


def test_patterns_whose_escapes_were_eaten_are_faults() -> None:
    [(place, message)] = faults_of({"pattern": "\bword"})
    assert place == "pattern"
    assert r"YAML makes it of \b" in message


def test_patterns_are_those_of_the_regex_package() -> None:
    assert faults_of({"pattern": r"^\p{Lu}\p{L}*$"}) == []


def test_formats_are_checked_where_they_are_enforced() -> None:
    schema = {"properties": {"a": {"format": "dat"}, "b": {"format": "acme-id"}}}
    assert faults_of(schema) == []
    assert faults_of(schema, formats=True) == [
        ("properties.a.format", 'the format "dat" cannot be enforced'),
        ("properties.b.format", 'the format "acme-id" cannot be enforced'),
    ]
    assert advice_of(schema, formats=True) == 'write "date"'


# --- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unwrap": "fence"},
        {"unwrap": SourceScalar("fence", "fence")},
        {"formats": True},
        {"formats": SourceScalar("false", False)},
    ],
)
def test_options(options: dict[str, object]) -> None:
    assert faults_of(True, **options) == []


@pytest.mark.parametrize("value", ["fences", True, None, SourceScalar("", None), ["fence"]])
def test_unwrap_is_fence_or_absent(value: object) -> None:
    with pytest.raises(AssertionFaultError, match="must be `fence`") as caught:
        JSON_SCHEMA.compile(True, {"unwrap": value})
    assert caught.value.path == ("unwrap",)


@pytest.mark.parametrize("value", ["true", 1, None, SourceScalar("yes", "yes")])
def test_formats_is_true_or_false(value: object) -> None:
    with pytest.raises(AssertionFaultError, match="must be true or false") as caught:
        JSON_SCHEMA.compile(True, {"formats": value})
    assert caught.value.path == ("formats",)


def test_faults_of_options_and_schema_come_together() -> None:
    with pytest.raises(AssertionFaultError) as caught:
        JSON_SCHEMA.compile({"type": "strng"}, {"unwrap": "x", "formats": "y"})
    paths = [fault.path for fault in (caught.value, *caught.value.others)]
    assert paths == [("unwrap",), ("formats",), ("json_schema", "type")]


# --- canonical text ---------------------------------------------------------------------------


def canonical_of(schema: object, **options: object) -> str:
    return JSON_SCHEMA.compile(schema, options).canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "object", "required": ["a"]}, {"required": ["a"], "type": "object"}),
        ({"maximum": 2.5}, '{"maximum": 2.50}'),
        ({"maximum": 2}, {"maximum": 2.0}),
        ({"type": "object"}, {"$schema": DIALECTS[0], "type": "object"}),
        ({"type": "object"}, {"type": "object", "title": "A", "description": "B"}),
        ({"items": {"type": "null"}}, {"items": {"type": "null", "$comment": "C"}}),
        (SourceScalar("true", True), "true"),
    ],
)
def test_same_meaning_has_one_canonical_text(one: object, other: object) -> None:
    assert canonical_of(one) == canonical_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "object"}, {"type": "array"}),
        ({"type": "object"}, {"$schema": DIALECTS[2], "type": "object"}),
        ({"const": 1}, {"const": True}),
        ({"const": 1}, {"const": "1"}),
        ({"properties": {"title": True}}, {"properties": {"description": True}}),
        ({"enum": [{"title": "a"}]}, {"enum": [{"title": "b"}]}),
        ({"multipleOf": 0.1}, {"multipleOf": 0.01}),
    ],
)
def test_other_meaning_has_another_canonical_text(one: object, other: object) -> None:
    assert canonical_of(one) != canonical_of(other)


def test_options_are_part_of_the_meaning() -> None:
    texts = {
        canonical_of(True),
        canonical_of(True, unwrap="fence"),
        canonical_of(True, formats=True),
    }
    assert len(texts) == 3
    assert canonical_of(True, formats=False) == canonical_of(True)


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "a", "#", "("])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["$ref", "$id", "$schema", "$defs", "type", "pattern", "properties", "items"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=10,
)


@given(ANYTHING, st.sampled_from([*DIALECTS, None]))
def test_anything_is_a_schema_or_a_fault(value: object, dialect: str | None) -> None:
    if isinstance(value, dict) and dialect is not None:
        value = {**value, "$schema": dialect}
    faults = faults_of(value, formats=True)
    assert all(message for _, message in faults)
    if isinstance(value, dict | list):
        assert (faults == []) == (faults_of(json.dumps(value), formats=True) == [])
