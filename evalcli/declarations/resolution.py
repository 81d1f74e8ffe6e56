"""Which provider, model and settings a name stands for; pure look-ups in a workspace file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Literal, NamedTuple

from evalcli.declarations.workspace import (
    ConfigurationEntry,
    ModelChoice,
    ModelCriteria,
    ModelEntry,
    ProviderEntry,
    WorkspaceFile,
)
from evalcli.errors import ConfigurationError

LOCAL_PROVIDER = "local"
LOCAL_MODEL = "smollm2-135m"
LOCAL_CONFIGURATION = "local"


@dataclass(frozen=True, slots=True)
class ResolvedConfiguration:
    """Exactly what a call is made with, resolved once.

    `name` is the configuration's, None where a model was named without one. `target` is what the
    runs of it are filed under: the configuration's name, or `provider/model` where `--model` was
    given. `model_id` is the id that is sent; `model` its entry, None where it is not declared.
    `fallbacks` are asked in this order where a provider fails: each has the settings of this
    configuration, and the provider and the model of another one.
    """

    target: str
    provider: str
    entry: ProviderEntry
    model_id: str
    model: ModelEntry | None = None
    name: str | None = None
    system: str | None = None
    temperature: Decimal | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    fallbacks: tuple[ResolvedConfiguration, ...] = ()
    is_fallback: bool = False

    @property
    def legs(self) -> tuple[ResolvedConfiguration, ...]:
        """Every provider and model that a call can reach, in the order they are asked."""
        return (self, *self.fallbacks)


Wanted = Literal["chat", "decision"]
"""What a model is chosen for, where a configuration has criteria instead of a model."""


def known_names(names: Iterable[str], wanted: str | None = None) -> str:
    """List names for an error message, the nearest to `wanted` first."""
    ordered = sorted(names)
    if not ordered:
        return "none is declared"
    if wanted is not None:
        near = get_close_matches(wanted, ordered, n=1)
        if near:
            return f'write "{near[0]}"; known: {", ".join(ordered)}'
    return f"known: {', '.join(ordered)}"


def resolve_configuration(
    workspace: WorkspaceFile,
    *,
    configuration: str | None = None,
    model: str | None = None,
    provider: str | None = None,
    wanted: Wanted = "chat",
) -> ResolvedConfiguration:
    """Resolve the names given on the command line to one provider, model and settings.

    `model` replaces the configuration's model and keeps its other settings. Its provider is
    `provider`, else its declared one, else the only one. A fallback that is inactive, or whose
    model or provider is, cannot be reached and is left out.

    Raises:
        ConfigurationError: a name is unknown or inactive, no model meets the criteria, or the
            provider is not determined.
    """
    name = configuration or workspace.eval.configuration
    entry = find_configuration(workspace, name) if name is not None else None
    if model is not None:
        found = _named_model(workspace, model, provider)
    elif entry is not None:
        found = _model_of(workspace, entry, provider, wanted)
    else:
        raise ConfigurationError(
            "no configuration and no model: nothing says what to ask",
            advice="run `evalcli init` for a workspace, or name one with --configuration or "
            f"--model ({known_names(workspace.configurations)})",
        )
    resolved = ResolvedConfiguration(
        target=name if model is None and name is not None else f"{found.provider}/{found.name}",
        provider=found.provider,
        entry=workspace.providers[found.provider],
        model_id=found.model_id,
        model=found.entry,
        name=name,
        system=entry.system if entry else None,
        temperature=entry.temperature if entry else None,
        max_output_tokens=entry.max_output_tokens if entry else None,
        seed=entry.seed if entry else None,
    )
    if entry is None or not entry.fallback:
        return resolved
    return replace(resolved, fallbacks=tuple(_fallbacks(workspace, entry, resolved, wanted)))


def resolve_model(workspace: WorkspaceFile, model: str) -> ResolvedConfiguration:
    """Resolve a model alone, without the settings of any configuration.

    Raises:
        ConfigurationError: it or its provider is inactive, or the provider is not determined.
    """
    found = _named_model(workspace, model, None)
    return ResolvedConfiguration(
        target=f"{found.provider}/{found.name}",
        provider=found.provider,
        entry=workspace.providers[found.provider],
        model_id=found.model_id,
        model=found.entry,
    )


def find_configuration(workspace: WorkspaceFile, name: str) -> ConfigurationEntry:
    """Find a configuration that can be used.

    Raises:
        ConfigurationError: there is none of that name, or it is inactive.
    """
    entry = workspace.configurations.get(name)
    if entry is None:
        raise ConfigurationError(
            f'unknown configuration "{name}"',
            advice=known_names(workspace.configurations, name),
        )
    if not entry.active:
        raise ConfigurationError(
            f'configuration "{name}" is inactive', advice="set `active: true` or name another one"
        )
    return entry


def _fallbacks(
    workspace: WorkspaceFile,
    entry: ConfigurationEntry,
    resolved: ResolvedConfiguration,
    wanted: Wanted,
) -> Iterator[ResolvedConfiguration]:
    for name in entry.fallback:
        other = workspace.configurations.get(name)
        if other is None or not other.active or not _is_reachable(workspace, other):
            continue
        found = _model_of(workspace, other, None, wanted)
        yield replace(
            resolved,
            provider=found.provider,
            entry=workspace.providers[found.provider],
            model_id=found.model_id,
            model=found.entry,
            is_fallback=True,
        )


def _is_reachable(workspace: WorkspaceFile, entry: ConfigurationEntry) -> bool:
    """Whether the model of a configuration, and its provider, are active."""
    if isinstance(entry.model, ModelChoice):
        return True  # only active ones are chosen from
    model = workspace.models.get(entry.model)
    if model is None:
        return True
    provider = workspace.providers.get(model.provider)
    return model.active and provider is not None and provider.active


# --- models -----------------------------------------------------------------------------------


class _FoundModel(NamedTuple):
    """A model under its declared name, with the provider that has it."""

    name: str
    entry: ModelEntry | None
    provider: str

    @property
    def model_id(self) -> str:
        return (self.entry.id if self.entry is not None else None) or self.name


def _model_of(
    workspace: WorkspaceFile, entry: ConfigurationEntry, provider: str | None, wanted: Wanted
) -> _FoundModel:
    if not isinstance(entry.model, ModelChoice):
        return _named_model(workspace, entry.model, provider)
    criteria = entry.model.criteria
    name = choose_model(workspace, criteria, wanted, provider=provider)
    if name is None:
        raise ConfigurationError(
            f"no declared model meets the criteria ({_criteria_words(criteria)})",
            advice="loosen them, or declare the capabilities, prices and context of a model",
        )
    return _named_model(workspace, name, provider)


def choose_model(
    workspace: WorkspaceFile,
    criteria: ModelCriteria,
    wanted: Wanted,
    *,
    provider: str | None = None,
) -> str | None:
    """Choose the first active model that meets the criteria and can do what is wanted.

    For decisions it is the first that declares `decision`; where there is none, the first that
    can chat, which none does that meets criteria that ask for `decision`. A model that declares
    no capabilities can chat, but meets no criterion about capabilities.
    """
    fitting = [
        (name, model)
        for name, model in workspace.models.items()
        if _meets(workspace, model, criteria) and provider in (None, model.provider)
    ]
    if wanted == "decision":
        deciding = (name for name, model in fitting if "decision" in model.capabilities)
        found = next(deciding, None)
        if found is not None:
            return found
    chatting = (name for name, model in fitting if can_chat(model))
    return next(chatting, None)


def can_chat(model: ModelEntry | None) -> bool:
    """Whether a model is one to chat with: it says so, or says nothing."""
    return model is None or not model.capabilities or "chat" in model.capabilities


def _meets(workspace: WorkspaceFile, model: ModelEntry, criteria: ModelCriteria) -> bool:
    provider = workspace.providers.get(model.provider)
    if not model.active or provider is None or not provider.active:
        return False
    prices = model.prices
    return (
        set(criteria.capabilities) <= set(model.capabilities)
        and _is_within(prices.input if prices else None, criteria.max_input_price)
        and _is_within(prices.output if prices else None, criteria.max_output_price)
        and (criteria.min_context is None or (model.context_tokens or 0) >= criteria.min_context)
    )


def _is_within(price: Decimal | None, limit: Decimal | None) -> bool:
    return limit is None or (price is not None and price <= limit)


def _criteria_words(criteria: ModelCriteria) -> str:
    given = criteria.model_dump(exclude_defaults=True)
    words = [
        f"{name}: {', '.join(value) if isinstance(value, tuple) else value}"
        for name, value in given.items()
    ]
    return "; ".join(words) or "none but being active"


def _named_model(workspace: WorkspaceFile, name: str, provider: str | None) -> _FoundModel:
    entry = workspace.models.get(name)
    if entry is not None and not entry.active:
        raise ConfigurationError(
            f'model "{name}" is inactive', advice="set `active: true` or name another model"
        )
    return _FoundModel(name, entry, _find_provider(workspace, name, entry, provider))


def _find_provider(
    workspace: WorkspaceFile, model_name: str, model: ModelEntry | None, provider: str | None
) -> str:
    name = provider or (model.provider if model is not None else None)
    if name is None:
        active = [key for key, entry in workspace.providers.items() if entry.active]
        if len(active) != 1:
            raise ConfigurationError(
                f'model "{model_name}" is not declared, so its provider is not known',
                advice=f"name one with --provider ({known_names(workspace.providers)}), or a "
                f"declared model ({known_names(workspace.models, model_name)})",
            )
        name = active[0]
    entry = workspace.providers.get(name)
    if entry is None:
        raise ConfigurationError(
            f'unknown provider "{name}"', advice=known_names(workspace.providers, name)
        )
    if not entry.active:
        raise ConfigurationError(
            f'provider "{name}" is inactive', advice="set `active: true` or name another one"
        )
    return name
