"""JSON Schema of what may be declared, for editors.

Editors read YAML with their own types: a plain `007` is a number to them where the loader takes
its characters, so text fields admit numbers and booleans here. The loader says more than a schema
can; a file that an editor accepts may still have faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from evalcli.declarations.profile import KEY_PATTERN, QUESTION_TYPES, Profile
from evalcli.declarations.prompt_set import PromptSet
from evalcli.declarations.question_set import QuestionSet
from evalcli.declarations.scalars import Declaration
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.loading.schema_words import KEY_WORDS

JsonObject = dict[str, object]

SCHEMAS: dict[str, tuple[type[Declaration], str]] = {
    "prompt_set": (PromptSet, "evalcli golden prompt set"),
    "question_set": (QuestionSet, "evalcli golden question set"),
    "profile": (Profile, "evalcli decision profile"),
    "workspace": (WorkspaceFile, "evalcli workspace (evalcli.yaml)"),
}
"""Published schemas by name: `docs/schemas/<name>.schema.json`."""

_TEXT = {"type": ["string", "number", "boolean"], "minLength": 1}

_ASSERTIONS: dict[str, tuple[JsonObject, JsonObject, str]] = {
    "exact": (_TEXT, {}, "The trimmed response equals the trimmed value."),
    "contains": (_TEXT, {}, "The value is a substring of the response; case matters."),
    "regex": (
        {"type": "string", "minLength": 1},
        {},
        "The pattern is found in the response: plain, or /pattern/flags with flags i m s x u.",
    ),
    "json_schema": (
        {
            "anyOf": [{"type": "object"}, {"type": "string", "minLength": 1}],
            "description": "A JSON Schema as a mapping, or as a JSON text.",
        },
        {
            "unwrap": {"const": "fence", "description": "Accept one code fence around the JSON."},
            "formats": {"type": "boolean", "description": "Enforce `format`, too."},
        },
        "The whole response is one JSON value that satisfies the schema.",
    ),
}


def declaration_schema(name: str, *, other_assertions: tuple[str, ...] = ()) -> JsonObject:
    """Give the JSON Schema of one of `SCHEMAS`.

    `other_assertions` are the types of assertion that installed packages bring.
    """
    model, title = SCHEMAS[name]
    schema = cast("JsonObject", _for_editors(model.model_json_schema()))
    definitions = cast("dict[str, JsonObject]", schema.get("$defs", {}))
    if "AssertionDeclaration" in definitions:
        definitions["AssertionDeclaration"] = _assertion_schema(other_assertions)
    if model is Profile:
        _shape_questions(schema, definitions)
    if model is QuestionSet:
        _admit_question_file(schema)
    _add_words(model.__name__, schema)
    for definition, part in definitions.items():
        _add_words(definition, part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": title,
    }


def _assertion_schema(other_types: tuple[str, ...]) -> JsonObject:
    """Describe an assertion: one branch for each type, which one key names."""
    branches = [
        _branch(name, value, options, text) for name, (value, options, text) in _ASSERTIONS.items()
    ]
    negated: JsonObject = {"$ref": "#/$defs/AssertionDeclaration"}
    branches.append(_branch("not", negated, {}, "The assertion inside does not pass."))
    words = "A type of assertion that an installed package brings."
    for name in other_types:
        branches.append({"type": "object", "description": words, "required": [name]})
    return {"description": "One assertion: exactly one key names its type.", "oneOf": branches}


def _branch(name: str, value: JsonObject, options: JsonObject, text: str) -> JsonObject:
    return {
        "type": "object",
        "description": text,
        "properties": {name: value, **options},
        "required": [name],
        "additionalProperties": False,
    }


def _shape_questions(schema: JsonObject, definitions: dict[str, JsonObject]) -> None:
    """Say what the loader checks beyond the fields: a question's key and its type."""
    properties = cast("dict[str, JsonObject]", schema["properties"])
    properties["questions"] |= {"propertyNames": {"pattern": KEY_PATTERN}, "minProperties": 1}
    for question in QUESTION_TYPES.values():
        definition = definitions[question.__name__]
        definition["required"] = ["type", *cast("list[str]", definition["required"])]


def _admit_question_file(schema: JsonObject) -> None:
    """Say that the questions of a set may stand in a file of their own."""
    properties = cast("dict[str, JsonObject]", schema["properties"])
    in_file: JsonObject = {
        "type": "object",
        "description": "The questions stand in this JSONL file of the workspace, one a line.",
        "properties": {"file": {"type": "string", "minLength": 1}},
        "required": ["file"],
        "additionalProperties": False,
    }
    properties["questions"] = {"anyOf": [properties["questions"], in_file]}


_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def _for_editors(part: object) -> object:
    """Turn Pydantic's schema into one of the files: no nulls, no generated titles."""
    if isinstance(part, list):
        return [_for_editors(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    shaped: JsonObject = {}
    for key, value in part.items():
        if key in ("properties", "$defs"):
            shaped[key] = {name: _for_editors(item) for name, item in value.items()}
        elif key == "anyOf":
            shaped.update(_choice([_for_editors(item) for item in value]))
        elif key == "description":
            shaped[key] = " ".join(str(value).split("\n\n")[0].split())
        elif key not in ("title", "default"):
            shaped[_BOUNDS.get(str(key), str(key))] = _for_editors(value)
    return {**shaped, **_default(part, shaped)}


def _default(part: Mapping[str, object], shaped: JsonObject) -> JsonObject:
    """Keep the defaults that say something; exact decimals are numbers to an editor."""
    default = part.get("default")
    if default in (None, "", [], {}) or isinstance(default, dict):
        return {}
    if shaped.get("type") == "number" and isinstance(default, str):
        return {"default": float(default)}
    return {"default": default}


def _choice(branches: list[object]) -> JsonObject:
    """Leave out what the loader refuses: null, and numbers in quotes."""
    kinds = [branch.get("type") for branch in branches if isinstance(branch, dict)]
    refused = ["null", "string"] if "number" in kinds else ["null"]
    kept = [
        cast("JsonObject", branch)
        for branch in branches
        if isinstance(branch, dict) and branch.get("type") not in refused
    ]
    return kept[0] if len(kept) == 1 else {"anyOf": kept}


def _add_words(name: str, schema: JsonObject) -> None:
    """Say beside each key what it means."""
    properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
    for key, words in KEY_WORDS.get(name, {}).items():
        properties[key] = {"description": words, **properties[key]}
