"""Models by criteria, and the fallbacks of a configuration."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evalcli.declarations.resolution import Wanted, choose_model, resolve_configuration
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    ModelChoice,
    ModelCriteria,
    ModelEntry,
    Prices,
    ProviderEntry,
    WorkspaceFile,
)
from evalcli.errors import ConfigurationError


def model(*capabilities: Any, price: str | None = None, **fields: Any) -> ModelEntry:
    prices = Prices(input=Decimal(price), output=Decimal(price) * 5) if price else None
    return ModelEntry(provider="main", capabilities=capabilities, prices=prices, **fields)


def workspace(models: dict[str, ModelEntry], **configurations: Any) -> WorkspaceFile:
    return WorkspaceFile(
        providers={
            "main": ProviderEntry(type="openai"),
            "other": ProviderEntry(type="openai"),
            "off": ProviderEntry(type="openai", active=False),
        },
        models=models,
        configurations={
            name: ConfigurationEntry.model_validate(entry) for name, entry in configurations.items()
        },
    )


MODELS = {
    "silent": model(),
    "embedder": model("embedding", price="0.01"),
    "dear": model("chat", price="2", context_tokens=1000),
    "cheap": model("chat", "structured_output", price="1", context_tokens=500),
    "unpriced": model("chat"),
    "judge": model("decision", price="0.042"),
    "both": model("chat", "decision", price="3", context_tokens=2000),
}


def chosen(wanted: Wanted, models: dict[str, ModelEntry] = MODELS, **criteria: Any) -> str | None:
    return choose_model(workspace(models), ModelCriteria.model_validate(criteria), wanted)


# --- for chat ---


@pytest.mark.parametrize(
    ("criteria", "name"),
    [
        ({}, "silent"),
        ({"capabilities": ["chat"]}, "dear"),
        ({"capabilities": ["chat", "structured_output"]}, "cheap"),
        ({"capabilities": ["chat"], "max_input_price": 1}, "cheap"),
        ({"capabilities": ["chat"], "max_input_price": "0.999"}, None),
        ({"capabilities": ["chat"], "max_output_price": 5}, "cheap"),
        ({"capabilities": ["chat"], "max_output_price": "4.99"}, None),
        ({"min_context": 1000}, "dear"),
        ({"min_context": 1001}, "both"),
        ({"min_context": 2001}, None),
        ({"capabilities": ["embedding"]}, None),
        ({"capabilities": ["decision"]}, "both"),
    ],
)
def test_the_first_that_meets_all_criteria_and_chats(
    criteria: dict[str, Any], name: str | None
) -> None:
    assert chosen("chat", **criteria) == name


def test_order_is_that_of_the_file() -> None:
    assert chosen("chat", dict(reversed(MODELS.items())), capabilities=["chat"]) == "both"


def test_inactive_models_and_those_of_inactive_providers_are_passed_over() -> None:
    models = {
        "gone": model("chat", active=False),
        "lost": ModelEntry(provider="off", capabilities=("chat",)),
        "here": model("chat"),
    }

    assert chosen("chat", models) == "here"


# --- for decisions ---


def test_decisions_prefer_a_model_that_declares_them() -> None:
    assert chosen("decision") == "judge"


def test_decisions_heed_the_criteria() -> None:
    assert chosen("decision", min_context=2000) == "both"
    assert chosen("decision", capabilities=["chat"]) == "both"


def test_decisions_are_left_to_chat_models_where_no_other_matches() -> None:
    assert chosen("decision", max_input_price="1", min_context=500) == "cheap"


def test_a_model_that_declares_nothing_is_a_chat_model() -> None:
    assert chosen("decision", {"silent": model()}) == "silent"


def test_criteria_that_ask_for_decisions_accept_nothing_else() -> None:
    assert chosen("decision", capabilities=["decision"], max_input_price="0.01") is None


# --- in a configuration ---


def test_a_configuration_by_criteria_is_filed_under_its_name() -> None:
    file = workspace(MODELS, bot={"model": {"criteria": {"capabilities": ["chat"]}}, "seed": 7})

    target = resolve_configuration(file, configuration="bot")

    assert (target.target, target.model_id, target.seed) == ("bot", "dear", 7)
    assert resolve_configuration(file, configuration="bot", wanted="decision").model_id == "both"


def test_criteria_that_nothing_meets() -> None:
    criteria = ModelCriteria(capabilities=("chat",), max_input_price=Decimal("0.1"))
    file = workspace(MODELS, bot={"model": ModelChoice(criteria=criteria)})

    with pytest.raises(ConfigurationError) as caught:
        resolve_configuration(file, configuration="bot")

    assert str(caught.value).startswith(
        "no declared model meets the criteria (capabilities: chat; max_input_price: 0.1)"
    )


def test_criteria_keep_to_a_provider_that_is_named() -> None:
    models = {"here": model("chat"), "there": ModelEntry(provider="other", capabilities=("chat",))}
    file = workspace(models, bot={"model": {"criteria": {}}})

    assert resolve_configuration(file, configuration="bot", provider="other").model_id == "there"


# --- fallbacks ---


def test_fallbacks_lend_model_and_provider_only() -> None:
    models = {"a": model("chat"), "b": ModelEntry(provider="other", id="b-2026")}
    file = workspace(
        models,
        bot={"model": "a", "system": "Mine.", "seed": 1, "fallback": ["spare"]},
        spare={"model": "b", "system": "Its own.", "seed": 2, "fallback": ["bot"]},
    )

    target = resolve_configuration(file, configuration="bot")
    (spare,) = target.fallbacks

    assert (spare.provider, spare.model_id, spare.entry) == (
        "other",
        "b-2026",
        file.providers["other"],
    )
    assert (spare.system, spare.seed, spare.target) == ("Mine.", 1, "bot")
    assert (target.is_fallback, spare.is_fallback, spare.fallbacks) == (False, True, ())
    assert target.legs == (target, spare)


def test_fallbacks_are_kept_where_another_model_is_named() -> None:
    models = {"a": model(), "b": model(), "c": model()}
    file = workspace(models, bot={"model": "a", "fallback": ["spare"]}, spare={"model": "b"})

    target = resolve_configuration(file, configuration="bot", model="c")

    assert [leg.model_id for leg in target.legs] == ["c", "b"]


@pytest.mark.parametrize(
    ("spare", "models"),
    [
        ({"model": "b", "active": False}, {}),
        ({"model": "b"}, {"b": model(active=False)}),
        ({"model": "b"}, {"b": ModelEntry(provider="off")}),
    ],
    ids=["configuration", "model", "provider"],
)
def test_inactive_fallbacks_cannot_be_reached(
    spare: dict[str, Any], models: dict[str, ModelEntry]
) -> None:
    known = {"a": model(), "b": model(), **models}
    file = workspace(known, bot={"model": "a", "fallback": ["spare"]}, spare=spare)

    assert resolve_configuration(file, configuration="bot").fallbacks == ()


def test_fallbacks_by_criteria_are_chosen_for_the_same_use() -> None:
    file = workspace(
        MODELS, bot={"model": "judge", "fallback": ["spare"]}, spare={"model": {"criteria": {}}}
    )

    def fallback(wanted: Wanted) -> str:
        target = resolve_configuration(file, configuration="bot", wanted=wanted)
        return target.fallbacks[0].model_id

    assert (fallback("chat"), fallback("decision")) == ("silent", "judge")
