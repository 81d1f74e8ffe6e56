"""Bodies of HTTP replies: bounded, decompressed, decoded, parsed."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterable
from dataclasses import dataclass

ENCODINGS = frozenset({"identity", "gzip", "x-gzip", "deflate"})
"""The content encodings that can be read."""

_NESTING = 100


class BrokenBodyError(ValueError):
    """A body that is not compressed the way it says."""


@dataclass(frozen=True, slots=True)
class NotJson:
    """What a body is instead of JSON."""

    why: str


async def read_body(stream: AsyncIterable[bytes], encoding: str, limit: int) -> bytes:
    """Read a body up to one byte more than `limit`, which tells that there was more.

    Units: `limit` in bytes, after decompression; no more than a chunk above it is ever held.

    Raises:
        BrokenBodyError: it is not compressed as `encoding` (one of `ENCODINGS`) says, or not whole.
    """
    inflater = None if encoding == "identity" else _Inflater()
    parts: list[bytes] = []
    size = 0
    async for chunk in stream:
        room = limit + 1 - size
        part = chunk[:room] if inflater is None else inflater.feed(chunk, room)
        parts.append(part)
        size += len(part)
        if size > limit:
            break
    else:
        if inflater is not None:
            inflater.check_end()
    return parts[0] if len(parts) == 1 else b"".join(parts)


class _Inflater:
    """Decompresses gzip, zlib and raw deflate, never more than asked for."""

    def __init__(self) -> None:
        self._head = b""
        self._inflate: zlib._Decompress | None = None

    def feed(self, chunk: bytes, room: int) -> bytes:
        if self._inflate is None:
            chunk, self._head = self._head + chunk, b""
            if len(chunk) < 2:
                self._head = chunk
                return b""
            self._inflate = zlib.decompressobj(_window_bits(chunk))
        parts: list[bytes] = []
        while chunk and room > 0:
            if self._inflate.eof:  # gzip allows several members, one after the other
                self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
            try:
                part = self._inflate.decompress(chunk, room)
            except zlib.error as exc:
                raise BrokenBodyError(str(exc)) from None
            parts.append(part)
            room -= len(part)
            chunk = self._inflate.unused_data or self._inflate.unconsumed_tail
        return b"".join(parts)

    def check_end(self) -> None:
        if self._head or (self._inflate is not None and not self._inflate.eof):
            raise BrokenBodyError("it ends too early")


def _window_bits(head: bytes) -> int:
    """Tell gzip and zlib by their first two bytes; servers also send deflate without a header."""
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2]) % 31 == 0
    is_gzip = head[:2] == b"\x1f\x8b"
    return zlib.MAX_WBITS | 32 if is_gzip or is_zlib else -zlib.MAX_WBITS


def parse_json(body: bytes, content_type: str, *, unique_keys: bool = False) -> object | NotJson:
    """Parse a body as JSON, whatever its declared media type.

    JSON is UTF-8 (RFC 8259), so a declared charset is used only where the body is not. Lone
    surrogates and NUL in strings are kept. With `unique_keys` an object that has a key twice is
    refused, where otherwise its last value counts.
    """
    if not body.strip():
        return NotJson("it is empty")
    try:
        text = _decode(body, content_type)
    except UnicodeError:
        return NotJson("it is not UTF-8")
    try:
        document: object = json.loads(text, object_pairs_hook=_unique if unique_keys else None)
    except _RepeatedKeyError:
        return NotJson("an object has a key twice")
    except (ValueError, RecursionError) as exc:
        what = exc.msg if isinstance(exc, json.JSONDecodeError) else "it is out of bounds"
        return NotJson(what[:1].lower() + what[1:])
    # Only a body with so many brackets can be nested so deeply; the others are not walked through.
    if body.count(b"[") + body.count(b"{") > _NESTING and _is_too_deep(document):
        return NotJson(f"it is nested more than {_NESTING} levels deep")
    return document


def _is_too_deep(document: object) -> bool:
    """Whether a document has so many levels that reading it by recursion could fail."""
    level = [document]
    for _ in range(_NESTING + 1):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True


class _RepeatedKeyError(Exception):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKeyError
    return found


def _decode(body: bytes, content_type: str) -> str:
    encoding = json.detect_encoding(body)
    try:
        return body.decode(encoding, errors="surrogatepass")
    except UnicodeDecodeError:
        declared = re.search(r"""charset\s*=\s*["']?([\w.:-]+)""", content_type, re.IGNORECASE)
        if declared is None:
            raise
    try:
        return body.decode(declared[1])
    except LookupError:  # a charset that Python does not know
        return body.decode(encoding)
