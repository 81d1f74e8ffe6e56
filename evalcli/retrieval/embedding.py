"""Which embedder a model's name stands for: for now the packaged model; no network here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from evalcli.errors import ConfigurationError
from evalcli.protocols import Embedder


def open_packaged_embedder() -> Embedder:
    """Open the packaged model.

    Raises:
        ConfigurationError: the extra `embeddings` is not installed.
    """
    try:
        module = import_module("evalcli.retrieval.packaged_embedder")
    except ImportError as exc:
        raise ConfigurationError(
            f"the packaged embedding model needs {exc.name}, which is not installed",
            advice="install evalcli with the extra `embeddings`",
        ) from exc
    return cast("Embedder", module.PackagedEmbedder())
