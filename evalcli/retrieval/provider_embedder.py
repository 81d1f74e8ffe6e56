"""Embeddings through a provider: by the call pipeline, in batches, with usage and price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcli.calls.pipeline import Pipeline
from evalcli.calls.trust import more_sensitive
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import ResolvedConfiguration, resolve_model
from evalcli.declarations.retriever import VectorEntry
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import ConfigurationError, ProviderError
from evalcli.protocols import Embedder
from evalcli.records import EmbeddingRequest, Operation
from evalcli.retrieval.call_ledger import note_call
from evalcli.retrieval.opening import EmbedderFactory

_CHARACTERS = 250_000
"""The most characters in one request: OpenAI takes 300,000 tokens, and none is shorter than one."""


class ProviderEmbedder:
    """Embeds texts with a declared model.

    Raises:
        ConfigurationError: the provider's key cannot be read, or it embeds no texts.
        TrustZoneError: the provider may not receive data of this class.
    """

    batch_size = 256
    """Fewer than the 2,048 that OpenAI takes, since a reply is bounded to 20 MB."""

    def __init__(
        self, pipeline: Pipeline, target: ResolvedConfiguration, data_class: DataClass
    ) -> None:
        pipeline.check(target, data_class=data_class, operation=Operation.EMBEDDING)
        self._pipeline = pipeline
        self._target = target
        self._data_class = data_class
        place = f" at {target.entry.base_url}" if target.entry.base_url is not None else ""
        self.identity = f"{target.model_id} of {target.provider}{place}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts, in as many requests as their length takes."""
        vectors: list[Sequence[float]] = []
        for group in _groups(texts):
            vectors += await self._ask(group)
        return vectors

    async def aclose(self) -> None:
        """Nothing is open: the pipeline is closed by who opened it."""

    async def _ask(self, texts: tuple[str, ...]) -> Sequence[Sequence[float]]:
        result = await self._pipeline.ask_embedding(
            self._target,
            EmbeddingRequest(self._target.model_id, texts),
            data_class=self._data_class,
            caller="evalcli",
            caller_operation="eval.retrieval",
        )
        note_call(result.record)
        if result.embedding is None:
            provider = self._target.provider
            raise result.error or ProviderError(provider, f"{provider} gave no embeddings")
        return result.embedding.vectors


def _groups(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Split texts into requests of a bounded size; a text that is longer is one of its own."""
    group: list[str] = []
    size = 0
    for text in texts:
        if group and size + len(text) > _CHARACTERS:
            yield tuple(group)
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield tuple(group)


def provider_embedders(
    pipeline: Pipeline, workspace: WorkspaceFile, data_class: DataClass
) -> EmbedderFactory:
    """Make the factory of embedders: the declared models of a workspace.

    `data_class` is that of the questions; the more sensitive of it and the corpus' counts.
    """

    def open_embedder(entry: VectorEntry) -> Embedder | None:
        model = workspace.models.get(entry.model)
        if model is None:
            return None
        if model.capabilities and "embedding" not in model.capabilities:
            raise ConfigurationError(
                f'model "{entry.model}" does not declare the capability `embedding`',
                advice="add it to its capabilities, or name another model",
            )
        return ProviderEmbedder(
            pipeline,
            resolve_model(workspace, entry.model),
            more_sensitive(data_class, entry.data_class),
        )

    return open_embedder
