"""Tables of the manual name what the code knows, no more and no less."""

from __future__ import annotations

import re

import pytest
from pydantic import BaseModel

from evalcli.declarations.profile import QUESTION_TYPES, Profile
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    DecisionSettings,
    EvalSettings,
    HistorySettings,
    ModelEntry,
    ProviderEntry,
)
from evalcli.graders.declared_assertion import NOT
from evalcli.plugins import BUILTIN, load_assertion_type
from tests.support.pages import ROOT

_ROW = re.compile(r"^\| `(?P<key>[^`]+)`", re.M)


def keys_below(page: str, title: str) -> list[str]:
    """The first column of the tables below a title."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    start = text.index(f"\n## {title}\n")
    end = text.find("\n## ", start + 1)
    return _ROW.findall(text[start : end if end >= 0 else None])


@pytest.mark.parametrize(
    ("page", "title", "model"),
    [
        ("sets.md", "Keys of a set", PromptSet),
        ("sets.md", "Keys of a prompt", GoldenPrompt),
        ("decisions.md", "Keys of a profile", Profile),
        ("configuration.md", "Providers", ProviderEntry),
        ("configuration.md", "Models", ModelEntry),
        ("configuration.md", "Configurations", ConfigurationEntry),
    ],
    ids=["set", "prompt", "profile", "provider", "model", "configuration"],
)
def test_keys_are_those_of_the_declaration(page: str, title: str, model: type[BaseModel]) -> None:
    assert sorted(keys_below(page, title)) == sorted(model.model_fields)


def test_keys_of_questions_are_those_of_all_types() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    for name, model in QUESTION_TYPES.items():
        rows = re.findall(rf"^\| `(\w+)` \| (?:all|`{name}`) \|", text, re.M)
        assert sorted(rows) == sorted(model.model_fields), name


def test_keys_of_runs_gates_and_history_are_those_of_the_declarations() -> None:
    sections: dict[str, type[BaseModel]] = {
        "eval": EvalSettings,
        "decision": DecisionSettings,
        "history": HistorySettings,
    }
    known = [f"{name}.{key}" for name, model in sections.items() for key in model.model_fields]
    assert sorted(keys_below("configuration.md", "Runs, gates and history")) == sorted(known)


def test_assertions_are_those_that_are_built_in() -> None:
    assert sorted(keys_below("sets.md", "Assertions")) == sorted([*BUILTIN["assertions"], NOT])


def test_options_of_assertions_are_named() -> None:
    text = (ROOT / "docs" / "sets.md").read_text(encoding="utf-8")
    for name in BUILTIN["assertions"]:
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        options = set(re.findall(r"`(\w+)`", row.rsplit("|", 2)[1]))
        assert options == set(load_assertion_type(name).options), name


def test_adapters_are_those_that_are_built_in() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| `type` |"))
    assert set(BUILTIN["providers"]) == set(re.findall(r"`(\w+)`", row)) - {"type"}
