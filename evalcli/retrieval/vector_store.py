"""Vectors on disk, by text: each text is embedded once, whatever corpus it comes back in.

One folder an embedder; in it shards of a batch each, written in one step, so that a run that was
stopped goes on where it was, and several processes do no harm.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
_KEY_BYTES = 16


def text_key(text: str) -> bytes:
    """Fingerprint a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


class VectorStore:
    """The stored vectors of one embedder.

    Where the folder cannot be written, vectors live in memory only.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self._folder = folder / hashlib.sha256(identity.encode()).hexdigest()[:32]
        self._vectors: dict[bytes, Vectors] = {}
        self._is_kept = True
        for shard in sorted(self._folder.glob("*.npz")):
            self._load(shard)

    def __contains__(self, key: bytes) -> bool:
        return key in self._vectors

    @property
    def dimension(self) -> int | None:
        """Numbers in a vector; None while there is none."""
        return next((len(vector) for vector in self._vectors.values()), None)

    def gather(self, keys: Sequence[bytes]) -> Vectors:
        """Make a matrix, one row a key. Shapes: (len(keys), dimension)."""
        return np.stack([self._vectors[key] for key in keys])

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep the vectors of a batch. Shapes: `vectors` is (len(keys), dimension)."""
        self._vectors.update(zip(keys, vectors, strict=True))
        if self._is_kept:
            try:
                self._save(keys, vectors)
            except OSError as exc:
                self._is_kept = False
                _log.warning("vectors are not kept, because they cannot be written: %s", exc)

    def _save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        joined = b"".join(keys)
        name = hashlib.sha256(joined).hexdigest()[:32]
        handle, written = tempfile.mkstemp(prefix="writing-", dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                raw = np.frombuffer(joined, dtype=np.uint8).reshape(len(keys), _KEY_BYTES)
                np.savez(stream, keys=raw, vectors=vectors)
            Path(written).replace(self._folder / f"{name}.npz")
        except OSError:
            with suppress(OSError):
                Path(written).unlink()
            raise

    def _load(self, shard: Path) -> None:
        try:
            with np.load(shard, allow_pickle=False) as stored:
                keys, vectors = stored["keys"], stored["vectors"]
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as exc:
            _log.warning("stored vectors in %s are damaged and made anew: %s", shard, exc)
            return
        is_sound = (
            keys.ndim == vectors.ndim == 2
            and keys.shape == (len(vectors), _KEY_BYTES)
            and vectors.dtype == np.float32
            and self.dimension in (None, vectors.shape[1])
        )
        if is_sound:
            raw = keys.tobytes()
            for row, vector in enumerate(vectors):
                self._vectors[raw[row * _KEY_BYTES : (row + 1) * _KEY_BYTES]] = vector
