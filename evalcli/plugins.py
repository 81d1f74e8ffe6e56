"""Kind and name to implementation: the built-in table, then entry points.

Built-ins are strings, loaded on first use, so that nothing heavy is imported for `--help`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from evalcli.errors import ConfigurationError
from evalcli.protocols import AssertionType, ChatAdapterFactory, RetrieverFactory

BUILTIN: dict[str, dict[str, str]] = {
    "assertions": {
        "exact": "evalcli.graders.text_match:EXACT",
        "contains": "evalcli.graders.text_match:CONTAINS",
        "regex": "evalcli.graders.patterns:REGEX",
        "json_schema": "evalcli.graders.json_schema:JSON_SCHEMA",
    },
    "providers": {
        "openai": "evalcli.providers.openai:OpenAI",
        "local": "evalcli.providers.local:Local",
        "replay": "evalcli.providers.replay:Replay",
        "typesafe": "evalcli.providers.decision_servers:TypeSafe",
        "decision_sidecar": "evalcli.providers.decision_servers:DecisionSidecar",
    },
    "retrievers": {
        "lexical": "evalcli.retrieval.lexical:Lexical",
        "vector": "evalcli.retrieval.vector:Vector",
        "hybrid": "evalcli.retrieval.hybrid:Hybrid",
        "http": "evalcli.retrieval.external:Http",
        "python": "evalcli.retrieval.external:PythonCallable",
        "run_file": "evalcli.retrieval.external:RunFile",
    },
}


@cache
def _installed(kind: str) -> dict[str, EntryPoint]:
    """Entry points of a kind by name; built-in names cannot be taken over."""
    found = {point.name: point for point in entry_points(group=f"evalcli.{kind}")}
    return {name: point for name, point in found.items() if name not in BUILTIN.get(kind, {})}


def plugin_names(kind: str) -> tuple[str, ...]:
    """Name all implementations of a kind, built-ins first."""
    return (*BUILTIN.get(kind, {}), *sorted(_installed(kind)))


@cache
def load_plugin(kind: str, name: str) -> object:
    """Load one implementation.

    Raises:
        KeyError: nothing of that name is known.
        ConfigurationError: an installed plug-in cannot be loaded.
    """
    builtin = BUILTIN.get(kind, {}).get(name)
    if builtin is not None:
        module, _, attribute = builtin.partition(":")
        return getattr(import_module(module), attribute)
    point = _installed(kind)[name]
    try:
        return point.load()
    except Exception as exc:
        raise ConfigurationError(
            f'plug-in "{name}" ({point.value}) of evalcli.{kind} cannot be loaded: '
            f"{type(exc).__name__}: {exc}",
            advice="repair or uninstall the package that brings it",
        ) from exc


def load_assertion_type(name: str) -> AssertionType:
    """Load a kind of assertion by its key; see `load_plugin` for errors."""
    return cast("AssertionType", load_plugin("assertions", name))


def load_chat_adapter(name: str) -> ChatAdapterFactory:
    """Load a provider adapter by its `type`; see `load_plugin` for errors."""
    return cast("ChatAdapterFactory", load_plugin("providers", name))


def load_retriever(name: str) -> RetrieverFactory:
    """Load a kind of retriever by its `type`; see `load_plugin` for errors."""
    return cast("RetrieverFactory", load_plugin("retrievers", name))
