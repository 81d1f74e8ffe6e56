"""JSON Schemas for editors: they admit what the loader admits, and name what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from evalcli.declarations import profile, prompt_set, question_set, workspace
from evalcli.declarations.scalars import Declaration
from evalcli.loading.schema import SCHEMAS, declaration_schema
from evalcli.loading.schema_words import KEY_WORDS
from tests.support.yaml_text import read_set, read_text, values_of

ROOT = Path(__file__).parents[3]

HEAD = "kind: prompts\nidentifier: a.b\nname: x\n"


def is_valid(name: str, text: str) -> bool:
    document = read_text(text)
    assert document.root is not None
    assert not document.faults
    return Draft202012Validator(declaration_schema(name)).is_valid(values_of(document.root))


@pytest.mark.parametrize("name", SCHEMAS)
def test_published_schemas_are_up_to_date(name: str) -> None:
    text = (ROOT / f"docs/schemas/{name}.schema.json").read_text(encoding="utf-8")

    assert text == json.dumps(declaration_schema(name), indent=2) + "\n"


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(declaration_schema(name))


@pytest.mark.parametrize(
    "path",
    sorted(path for kind in ("sets", "profiles") for path in (ROOT / kind).glob("**/*.y*ml")),
    ids=lambda path: path.name,
)
def test_built_in_sets_fit_and_name_their_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first = text.split("\n", 1)[0]

    assert first.startswith("# yaml-language-server: $schema=../docs/schemas/")
    schema = json.loads((path.parent / first.partition("=")[2]).read_text(encoding="utf-8"))
    assert Draft202012Validator(schema).is_valid(values_of(read_text(text).root))


def test_example_of_the_manual_fits() -> None:
    text = (ROOT / "tests/data/workspace.yaml").read_text(encoding="utf-8")

    assert is_valid("workspace", text)


@pytest.mark.parametrize("value", ["007", "true", "1.10", "2026-11-30", "yes", "'x'"])
def test_editors_may_see_numbers_where_text_stands(value: str) -> None:
    text = (
        f"kind: prompts\nidentifier: a.b\nname: {value}\n"
        f"prompts: [{{id: {value}, prompt: {value}, assertions: [exact: {value}]}}]"
    )

    assert is_valid("prompt_set", text)
    assert read_set(text).faults == ()


@pytest.mark.parametrize(
    "prompts",
    [
        "[]",
        "{}",
        "[{id: a}]",
        "[{prompt: p}]",
        "[{id: a, prompt: p, foo: 1}]",
        "[{id: '', prompt: p, reference: r}]",
        "[{id: a, prompt: {fil: x}, reference: r}]",
        "[{id: a, prompt: p, assertions: [x]}]",
        "[{id: a, prompt: p, assertions: [{contians: x}]}]",
        "[{id: a, prompt: p, assertions: [{contains: x, exact: y}]}]",
        "[{id: a, prompt: p, assertions: [{contains: x, unwrap: fence}]}]",
        "[{id: a, prompt: p, assertions: [{json_schema: {}, unwrap: code}]}]",
        "[{id: a, prompt: p, assertions: [{not: {contians: x}}]}]",
        "[{id: a, prompt: p, assertions: [{}]}]",
        "[{id: a, prompt: p, system: null, reference: r}]",
    ],
)
def test_editors_refuse_what_the_loader_refuses(prompts: str) -> None:
    text = f"{HEAD}prompts: {prompts}\n"

    assert not is_valid("prompt_set", text)
    assert read_set(text).faults


@pytest.mark.parametrize(
    "text",
    [
        "foo: 1",
        "eval: {max_pass_rate_drop: 1.1}",
        "eval: {max_pass_rate_drop: '0.1'}",
        "eval: {min_pass_rate: -1}",
        "eval: {require_baseline: 1}",
        "providers: {p: {base_url: https://x}}",
        "providers: {p: {type: openai, api_key: sk-4711}}",
        "providers: {p: {type: openai, concurrency: 0}}",
        "providers: {p: {type: openai, trust_zone: moon}}",
        "providers: {p: {type: openai, retry: {tries: 0}}}",
        "models: {m: {}}",
        "models: {m: {provider: p, capabilities: [fly]}}",
        "models: {m: {provider: p, prices: {input: -1}}}",
        "history: {content: some}",
    ],
)
def test_editors_refuse_faults_of_workspaces(text: str) -> None:
    assert not is_valid("workspace", text)


def test_other_types_of_assertion_are_admitted() -> None:
    text = f"{HEAD}prompts: [{{id: a, prompt: p, assertions: [{{spoken: x, loud: 1}}]}}]"
    schema = declaration_schema("prompt_set", other_assertions=("spoken",))

    assert not is_valid("prompt_set", text)
    assert Draft202012Validator(schema).is_valid(values_of(read_text(text).root))


def test_every_key_has_words() -> None:
    models = [
        value
        for module in (profile, prompt_set, question_set, workspace)
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
        and value is not prompt_set.AssertionDeclaration
        and value is not Declaration
    ]

    assert {model.__name__: set(model.model_fields) for model in models} == {
        name: set(words) for name, words in KEY_WORDS.items()
    }


def test_words_stand_beside_the_keys() -> None:
    schema = json.dumps(declaration_schema("workspace"))

    assert all(word in schema for word in ("Where to ask, by name.", "Requests at once."))
    assert '"title"' not in schema.replace('"title": "evalcli', "")
    assert "null" not in schema
