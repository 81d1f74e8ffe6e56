"""Golden prompt sets made in Python keep the same rules as files."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evalcli.declarations.prompt_set import DataClass, PromptSet, prompt_faults


def make(**changes: Any) -> PromptSet:
    fields = {
        "kind": "prompts",
        "identifier": "a.b",
        "name": "x",
        "prompts": [{"id": "a", "prompt": "p", "assertions": [{"contains": "x"}]}],
    }
    return PromptSet(**{**fields, **changes})


def test_a_set_made_in_python() -> None:
    made = make(data_class="source_code")

    assert made.prompts[0].assertions[0].body == {"contains": "x"}
    assert made.data_class is DataClass.SOURCE_CODE
    assert make(data_class=DataClass.PUBLIC_CONTENT).data_class is DataClass.PUBLIC_CONTENT


def test_sets_are_frozen() -> None:
    with pytest.raises(ValidationError):
        make().name = "y"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        ([], "at least 1 item"),
        ([{"id": "a", "prompt": "p"}], "neither assertions nor a reference"),
        ([{"id": "a", "prompt": "p", "reference": "r"}] * 2, "is used twice"),
        ([{"id": "a", "prompt": "", "reference": "r"}], "is empty"),
        ([{"id": "a", "prompt": "p", "reference": ""}], "is empty"),
        ([{"id": "a", "prompt": "p", "reference": "r", "foo": 1}], "Extra inputs"),
        ([{"id": "a", "prompt": "p", "assertions": ["x"]}], "must be a mapping"),
    ],
)
def test_rules(prompts: list[object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        make(prompts=prompts)


@pytest.mark.parametrize("identifier", ["a", "a.b_c.d1"])
def test_identifiers(identifier: str) -> None:
    assert make(identifier=identifier).identifier == identifier


@pytest.mark.parametrize("identifier", ["", "A", "a-b", "a.", ".a", "a..b", "a\n"])
def test_no_identifiers(identifier: str) -> None:
    with pytest.raises(ValidationError):
        make(identifier=identifier)


def test_a_set_reads_back() -> None:
    made = make()

    assert PromptSet.model_validate(made.model_dump() | {"prompts": list(made.prompts)}) == made


def test_faults_between_prompts_have_paths() -> None:
    rows: list[object] = [
        {"id": "a", "reference": "r"},
        "not a mapping",
        {"id": "a", "assertions": []},
        {"id": "b"},
    ]

    assert [(fault.path, fault.first) for fault in prompt_faults(rows)] == [
        (("prompts", 2, "id"), ("prompts", 0, "id")),
        (("prompts", 2, "assertions"), None),
        (("prompts", 3), None),
    ]
