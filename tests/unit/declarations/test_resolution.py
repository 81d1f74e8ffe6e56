"""Which provider, model and settings a name stands for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evalcli.declarations.resolution import known_names, resolve_configuration
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    EvalSettings,
    ModelEntry,
    ProviderEntry,
    WorkspaceFile,
)
from evalcli.errors import ConfigurationError

WORKSPACE = WorkspaceFile(
    providers={
        "main": ProviderEntry(type="openai"),
        "other": ProviderEntry(type="openai"),
        "off": ProviderEntry(type="openai", active=False),
    },
    models={
        "big": ModelEntry(provider="main", id="big-2026"),
        "small": ModelEntry(provider="other"),
        "gone": ModelEntry(provider="main", active=False),
        "lost": ModelEntry(provider="off"),
    },
    configurations={
        "bot": ConfigurationEntry(
            model="big", system="Be brief.", temperature=Decimal("0.5"), max_output_tokens=9, seed=7
        ),
        "off": ConfigurationEntry(model="big", active=False),
    },
    eval=EvalSettings(configuration="bot"),
)


def test_default_configuration() -> None:
    target = resolve_configuration(WORKSPACE)

    assert (target.target, target.name) == ("bot", "bot")
    assert (target.provider, target.model_id) == ("main", "big-2026")
    assert (target.system, target.temperature) == ("Be brief.", Decimal("0.5"))
    assert (target.max_output_tokens, target.seed) == (9, 7)


def test_model_replaces_the_configurations_and_keeps_its_settings() -> None:
    target = resolve_configuration(WORKSPACE, model="small")

    assert (target.target, target.name) == ("other/small", "bot")
    assert (target.provider, target.model_id) == ("other", "small")
    assert (target.system, target.seed) == ("Be brief.", 7)


def test_provider_goes_before_the_declared_one() -> None:
    assert resolve_configuration(WORKSPACE, model="big", provider="other").target == "other/big"


def test_model_that_is_not_declared_is_the_named_providers() -> None:
    target = resolve_configuration(WORKSPACE, model="new", provider="other")

    assert (target.provider, target.model_id, target.model) == ("other", "new", None)


def test_model_that_is_not_declared_is_the_only_providers() -> None:
    alone = WorkspaceFile(
        providers={
            "main": ProviderEntry(type="openai"),
            "off": ProviderEntry(type="openai", active=False),
        }
    )
    target = resolve_configuration(alone, model="new")

    assert (target.target, target.name, target.system) == ("main/new", None, None)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"configuration": "bto"}, 'unknown configuration "bto"; write "bot"; known: bot, off'),
        ({"configuration": "off"}, 'configuration "off" is inactive'),
        ({"model": "gone"}, 'model "gone" is inactive'),
        ({"model": "lost"}, 'provider "off" is inactive'),
        ({"model": "bigg"}, 'model "bigg" is not declared, so its provider is not known'),
        ({"model": "bigg"}, "known: main, off, other"),
        ({"model": "bigg"}, 'write "big"'),
        ({"model": "big", "provider": "mian"}, 'unknown provider "mian"; write "main"'),
    ],
)
def test_names_that_lead_nowhere(names: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_configuration(WORKSPACE, **names)

    assert words in str(caught.value)


def test_nothing_to_ask() -> None:
    with pytest.raises(ConfigurationError, match="nothing says what to ask"):
        resolve_configuration(WorkspaceFile())


@pytest.mark.parametrize(
    ("names", "wanted", "text"),
    [
        ([], None, "none is declared"),
        (["b", "a"], None, "known: a, b"),
        (["b", "a"], "zzz", "known: a, b"),
        (["abc", "xyz"], "abd", 'write "abc"; known: abc, xyz'),
    ],
)
def test_known_names(names: list[str], wanted: str | None, text: str) -> None:
    assert known_names(names, wanted) == text
