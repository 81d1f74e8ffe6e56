"""Rules between the parts of `evalcli.yaml`: every name that is used is declared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from evalcli.declarations.resolution import (
    LOCAL_CONFIGURATION,
    LOCAL_MODEL,
    LOCAL_PROVIDER,
    known_names,
)
from evalcli.declarations.scalars import Path, cite
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    DecisionSettings,
    EvalSettings,
    ModelEntry,
    ProviderEntry,
    TrustZone,
    WorkspaceFile,
    header_faults,
    secret_reference_fault,
)
from evalcli.loading.nodes import (
    MappingNode,
    Node,
    PlacedFault,
    ScalarNode,
    SequenceNode,
    find_node,
    find_place,
)
from evalcli.loading.retriever_rules import find_retriever_faults
from evalcli.plugins import BUILTIN, plugin_names

_CHAT_ADAPTERS = frozenset(BUILTIN["providers"]) - {"typesafe", "decision_sidecar"}

DEFAULTS = WorkspaceFile(
    providers={LOCAL_PROVIDER: ProviderEntry(type="local", trust_zone=TrustZone.LOCAL)},
    models={LOCAL_MODEL: ModelEntry(provider=LOCAL_PROVIDER, capabilities=("chat",))},
    configurations={LOCAL_CONFIGURATION: ConfigurationEntry(model=LOCAL_MODEL)},
    eval=EvalSettings(configuration=LOCAL_CONFIGURATION),
    decision=DecisionSettings(configuration=LOCAL_CONFIGURATION),
)
"""What serves where no workspace says otherwise: the small model on this machine."""


def with_defaults(workspace: WorkspaceFile) -> WorkspaceFile:
    """Add the local model where a workspace declares nothing to ask."""
    if workspace.providers or workspace.configurations:
        return workspace
    chosen = workspace.eval.configuration or DEFAULTS.eval.configuration
    judge = workspace.decision.configuration or DEFAULTS.decision.configuration
    return workspace.model_copy(
        update={
            "providers": DEFAULTS.providers,
            "models": {**DEFAULTS.models, **workspace.models},
            "configurations": DEFAULTS.configurations,
            "eval": workspace.eval.model_copy(update={"configuration": chosen}),
            "decision": workspace.decision.model_copy(update={"configuration": judge}),
        }
    )


def find_workspace_faults(root: MappingNode) -> Iterator[PlacedFault]:
    """Find names that nothing declares, adapters that do not exist, secrets among the raw parts."""
    names = _Names(root)
    yield from _blank_names(root)
    yield from _provider_faults(root, names)
    yield from _model_faults(root, names)
    yield from _configuration_faults(root, names)
    for section in ("eval", "decision"):
        path = (section, "configuration")
        yield from _unknown_name(root, path, "configuration", names.configurations)
    yield from _retriever_faults(root)
    yield from find_retriever_faults(_section(root, "retrievers"), _section(root, "models"))


class _Names:
    """What the file declares, with the defaults it gets; by name."""

    def __init__(self, root: MappingNode) -> None:
        has_own = _section(root, "providers") or _section(root, "configurations")
        self.providers = [*_section(root, "providers")]
        self.models = [*_section(root, "models")]
        self.configurations = [*_section(root, "configurations")]
        if not has_own:
            self.providers += DEFAULTS.providers
            self.models += DEFAULTS.models
            self.configurations += DEFAULTS.configurations


def _section(root: Node, *path: str) -> Mapping[str, Node]:
    node = find_node(root, path)
    return node.entries if isinstance(node, MappingNode) else {}


def _text_at(root: Node, path: Path) -> str | None:
    node = find_node(root, path)
    return node.text if isinstance(node, ScalarNode) and node.value is not None else None


def _fault(root: Node, path: Path, message: str, advice: str) -> PlacedFault:
    return PlacedFault(find_place(root, path), path, message, advice)


def _unknown_name(
    root: Node, path: Path, noun: str, known: Collection[str]
) -> Iterator[PlacedFault]:
    name = _text_at(root, path)
    if name is not None and name not in known:
        yield _fault(root, path, f"unknown {noun} {cite(name)}", known_names(known, name))


def _blank_names(root: MappingNode) -> Iterator[PlacedFault]:
    for section in ("providers", "models", "configurations", "retrievers"):
        for name in _section(root, section):
            if not name.strip():
                yield _fault(root, (section, name), "has an empty name", "name it")


def _provider_faults(root: MappingNode, names: _Names) -> Iterator[PlacedFault]:
    adapters = plugin_names("providers")
    for name in _section(root, "providers"):
        path = ("providers", name)
        yield from _unknown_name(root, (*path, "type"), "type of provider", adapters)
        adapter = _text_at(root, (*path, "type"))
        if adapter in _CHAT_ADAPTERS and "probabilities" in _section(root, *path):
            message = f"says nothing of {cite(adapter)}, whose models give no probabilities"
            yield _fault(root, (*path, "probabilities"), message, "leave it out")


def _model_faults(root: MappingNode, names: _Names) -> Iterator[PlacedFault]:
    for name in _section(root, "models"):
        yield from _unknown_name(root, ("models", name, "provider"), "provider", names.providers)


def _configuration_faults(root: MappingNode, names: _Names) -> Iterator[PlacedFault]:
    for name in _section(root, "configurations"):
        path = ("configurations", name)
        model = _text_at(root, (*path, "model"))
        # Where no model is declared, any can be the only provider's; where some are, one that is
        # not among them is most often a slip.
        is_unknown = model is not None and model not in names.models
        if is_unknown and names.models:
            yield _fault(
                root,
                (*path, "model"),
                f"unknown model {cite(model or '')}",
                f"{known_names(names.models, model)}; or declare it under models",
            )
        elif is_unknown and len(names.providers) != 1:
            yield _fault(
                root,
                (*path, "model"),
                f"unknown model {cite(model or '')}, and nothing says which provider has it",
                f"declare it under models; {known_names(names.models, model)}",
            )
        yield from _fallback_faults(root, name, names)


def _fallback_faults(root: MappingNode, name: str, names: _Names) -> Iterator[PlacedFault]:
    path = ("configurations", name, "fallback")
    node = find_node(root, path)
    seen: set[str] = set()
    for index in range(len(node.items) if isinstance(node, SequenceNode) else 0):
        at = (*path, index)
        fallback = _text_at(root, at)
        yield from _unknown_name(root, at, "configuration", names.configurations)
        if fallback == name:
            yield _fault(root, at, "is the configuration itself", "name another one")
        elif fallback in seen:
            yield _fault(root, at, f"{cite(fallback or '')} is named twice", "keep one of them")
        seen.add(fallback or "")


def _retriever_faults(root: MappingNode) -> Iterator[PlacedFault]:
    """Refuse literal secrets in the options of retrievers, of whatever type."""
    for name in _section(root, "retrievers"):
        path: Path = ("retrievers", name)
        key = _text_at(root, (*path, "api_key"))
        fault = secret_reference_fault(key) if key is not None else None
        if fault is not None:
            yield _fault(root, (*path, "api_key"), fault.message, fault.advice)
        headers = _section(root, "retrievers", name, "headers")
        texts = {
            header: node.text for header, node in headers.items() if isinstance(node, ScalarNode)
        }
        for problem in header_faults(texts):
            at = (*path, "headers", *problem.path)
            yield _fault(root, at, problem.message, problem.advice)
