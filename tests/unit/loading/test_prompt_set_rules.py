"""Assertions as declared in files: each fault at its place."""

from __future__ import annotations

import pytest

from tests.support.yaml_text import set_faults

HEAD = """\
kind: prompts
identifier: acme.faq
name: FAQ
prompts:
  - id: a
    prompt: P
    assertions:
"""


def assertion_faults(*assertions: str) -> list[str]:
    """Faults of these assertions, one a line from line 8 on; `line:column: path: message`."""
    items = "".join(f"      - {assertion}\n" for assertion in assertions)
    return [line.removeprefix("sets/x.yaml:") for line in set_faults(HEAD + items)]


@pytest.mark.parametrize(
    "assertion",
    [
        "contains: Monday",
        "contains: 1.10",
        "exact: yes",
        "exact: 2026-11-30",
        "regex: '/^[0-9]+$/ms'",
        "json_schema: {type: object}",
        "{json_schema: {type: array}, unwrap: fence, formats: true}",
        "not: {contains: Sunday}",
    ],
)
def test_assertions_that_can_work(assertion: str) -> None:
    assert assertion_faults(assertion) == []


@pytest.mark.parametrize(
    ("assertion", "place", "words"),
    [
        ("contians: x", "8:9: prompts[0].assertions[0]: ", 'unknown key "contians"'),
        (
            "{unwrap: fence, json_schem: {}}",
            "8:25: prompts[0].assertions[0]: ",
            'unknown key "json_schem"',
        ),
        (
            "{contains: x, unwrap: fence}",
            "8:23: prompts[0].assertions[0]: ",
            'unknown key "unwrap" beside contains',
        ),
        ("{contains: x, exact: y}", "8:9: prompts[0].assertions[0]: ", "two types in one mapping"),
        ("{}", "8:9: prompts[0].assertions[0]: ", "is empty"),
        ("contains:", "8:18: prompts[0].assertions[0].contains: ", "empty"),
        ("contains: ''", "8:19: prompts[0].assertions[0].contains: ", "empty"),
        ("regex: '['", "8:16: prompts[0].assertions[0].regex: ", ""),
        ("regex: '/a/b/'", "8:16: prompts[0].assertions[0].regex: ", ""),
        ("not: contains", "8:14: prompts[0].assertions[0].not: ", "must be an assertion"),
        ("not: {contains: ''}", "8:25: prompts[0].assertions[0].not.contains: ", "empty"),
        ("not: {contians: x}", "8:15: prompts[0].assertions[0].not: ", 'unknown key "contians"'),
        (
            "json_schema: {type: objekt}",
            "8:29: prompts[0].assertions[0].json_schema.type: ",
            "",
        ),
        (
            "json_schema: {properties: {a: {maximum: .nan}}}",
            "8:49: prompts[0].assertions[0].json_schema.properties.a.maximum: ",
            "",
        ),
        (
            "json_schema: {const: .inf}",
            "8:30: prompts[0].assertions[0].json_schema.const: ",
            "",
        ),
    ],
)
def test_fault_of_an_assertion(assertion: str, place: str, words: str) -> None:
    [line] = assertion_faults(assertion)

    assert line.startswith(place)
    assert words in line
    assert '(prompt "a")' in line


def test_faults_of_all_assertions_in_order() -> None:
    lines = assertion_faults("contains: ''", "contains: ok", "regex: '('", "exact: ''")

    assert [line.split(": ")[0] for line in lines] == ["8:19", "10:16", "11:16"]


def test_pattern_that_double_quotes_ate() -> None:
    [line] = assertion_faults(r'regex: "\bword"')

    assert line.startswith("8:16: prompts[0].assertions[0].regex: ")


def test_fault_of_a_shared_assertion_is_said_once() -> None:
    text = (
        HEAD + "      - &x {contains: ''}\n      - *x\n  - {id: b, prompt: P, assertions: [*x]}\n"
    )

    assert len(set_faults(text)) == 1


def test_assertions_of_a_broken_prompt_are_checked_too() -> None:
    text = HEAD.replace("prompt: P", "promt: P") + "      - contains: ''\n"

    assert [line.split(": ")[0] for line in set_faults(text)] == [
        "sets/x.yaml:6:5",
        "sets/x.yaml:8:19",
    ]
