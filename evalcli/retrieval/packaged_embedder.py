"""Embeddings on this machine, without a key: the model that the package `wordllama` ships.

Only its files are read, with `tokenizers` and `safetensors`: its own loader looks for the
tokenizer on the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from evalcli.errors import ConfigurationError

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class PackagedEmbedder:
    """Means of token vectors, of 256 numbers each: small and fast, for trying things out.

    Texts in capitals alone are lowered, since the model knows hardly any token in capitals.

    Raises:
        ConfigurationError: the package is not installed, or holds other files.
    """

    batch_size = 256

    def __init__(self) -> None:
        folder, release = _find_package()
        try:
            weights = load_file(folder / _WEIGHTS)["embedding.weight"]
            # The typed stubs of this package do not say what its constructors give.
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        except (OSError, KeyError) as exc:
            raise ConfigurationError(
                f"the package wordllama {release} does not hold the model that is expected",
                advice="install evalcli with the extra `embeddings`",
            ) from exc
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._weights: NDArray[np.float32] = weights.astype(np.float32)
        self.identity = f"wordllama {release} l2_supercat 256"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts; takes about 0.1 ms each."""
        prepared = [_prepare(text) for text in texts]
        encodings = self._tokenizer.encode_batch(prepared, add_special_tokens=False)
        return [self._mean(encoding.ids).tolist() for encoding in encodings]

    async def aclose(self) -> None:
        """Nothing is open."""

    def _mean(self, ids: list[int]) -> NDArray[np.float32]:
        if not ids:
            return np.zeros(self._weights.shape[1], dtype=np.float32)
        known = np.clip(np.asarray(ids), 0, len(self._weights) - 1)
        mean: NDArray[np.float32] = self._weights[known].mean(axis=0, dtype=np.float32)
        return mean


def _prepare(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.lower() if text.isupper() else text


def _find_package() -> tuple[Path, str]:
    spec = find_spec("wordllama")
    try:
        release = version("wordllama")
    except PackageNotFoundError:
        spec, release = None, ""
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "the packaged embedding model is not installed",
            advice="install evalcli with the extra `embeddings`",
        )
    return Path(spec.origin).parent, release
