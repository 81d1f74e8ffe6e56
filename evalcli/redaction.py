"""Takes keys and prompt texts out of what a provider said, so that it can be shown and stored."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

DETAIL_CHARACTERS = 200
"""The most of a provider's own message that is shown or stored."""

_KEY_MARK = "[key]"
_PROMPT_MARK = "[prompt]"
_KEY_PIECE = 6
_WHOLE_KEY = 8  # shorter ones ("none", "EMPTY") are no secrets, and words of names
_ENCODED_KEY_PIECE = 8  # of base64, six characters of the key
_PROMPT_PIECE = 20
_WINDOW = 1000
_MASKED_TOKEN = re.compile(r"""[^\s"'<>(),;=]*(?:\*+|[•●…]+|\.{3,}|[xX]{4,})[^\s"'<>(),;=]*""")
_MASK = re.compile(r"\*+|[•●…]+|\.{3,}|[xX]{4,}")
_TAIL = re.compile(r"\b(?=\w*\d)\w{4,}\b")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Cleans texts from outside of the keys it knows."""

    keys: Sequence[str] = field(default=(), repr=False)

    def clean(self, text: str, private: Sequence[str] = ()) -> str:
        """Make one line of at most 200 characters without keys and without `private` texts.

        A key is recognised whole and in pieces of six characters or more, in base64, hex and
        percent encoding too, and by what a mask (`sk-ab***yz`) leaves of it; a private text whole
        and in pieces of twenty characters or more, whatever its white space or escaping.
        """
        line = _one_line(text[: 4 * _WINDOW])[: _WINDOW + _PROMPT_PIECE]
        spans: list[tuple[int, int, str]] = []
        for key in self.keys:
            spans += [(start, end, _KEY_MARK) for start, end in _find_key(line, key)]
        for hidden in private:
            spans += [(start, end, _PROMPT_MARK) for start, end in _find_private(line, hidden)]
        cleaned = _replace(line, spans, _WINDOW)
        if len(cleaned) <= DETAIL_CHARACTERS:
            return cleaned
        return f"{cleaned[: DETAIL_CHARACTERS - 1]}…"

    def without_keys(self, text: str) -> str:
        """Take whole keys out of a text, which otherwise stays as it came."""
        for key in self.keys:
            if len(key) >= _WHOLE_KEY:
                text = text.replace(key, _KEY_MARK)
        return text

    def document_without_keys(self, document: object, body: bytes) -> object:
        """Take whole keys out of a JSON document, names and values, read from `body`.

        It is walked through only where a key may be in it: as it is, escaped, or in UTF-16.
        """
        may_hide = b"\\" in body or b"\0" in body
        if not may_hide and not any(key.encode() in body for key in self.keys):
            return document
        return self._walk(document)

    def _walk(self, value: object) -> object:
        if isinstance(value, str):
            return self.without_keys(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if isinstance(value, dict):
            return {self._walk(name): self._walk(item) for name, item in value.items()}
        return value


def _one_line(text: str) -> str:
    visible = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(visible.split())


def _find_key(line: str, key: str) -> Iterator[tuple[int, int]]:
    if len(key) < _KEY_PIECE:
        yield from _find_whole(line, key)
        return
    yield from _find_pieces(line, key, _KEY_PIECE)
    for encoded in _encodings(key):
        yield from _find_pieces(line, encoded, _ENCODED_KEY_PIECE)
    for match in _MASKED_TOKEN.finditer(line):
        if any(_is_left_of_key(piece, key) for piece in _MASK.split(match.group())):
            yield match.span()
    for match in _TAIL.finditer(line):
        if key.endswith(match.group()):
            yield match.span()


def _is_left_of_key(piece: str, key: str) -> bool:
    """Whether a piece that a mask left over begins or ends the key."""
    bare = piece.strip(".:`")
    return len(bare) >= 2 and (key.startswith(bare) or key.endswith(bare))


def _encodings(key: str) -> Iterator[str]:
    data = key.encode()
    yield quote(key, safe="")
    yield data.hex()
    for shift in range(3):  # the three ways a key can lie in a longer base64 text
        encoded = base64.b64encode(bytes(shift) + data).decode("ascii").rstrip("=")
        inner = encoded[4:-1] if shift else encoded[:-1]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _find_private(line: str, hidden: str) -> Iterator[tuple[int, int]]:
    if len(hidden) < _PROMPT_PIECE:
        if len(hidden) >= 4:
            yield from _find_whole(line, _one_line(hidden))
        return
    escaped = json.dumps(hidden, ensure_ascii=False)[1:-1]
    forms = dict.fromkeys(
        (
            _one_line(hidden),
            _one_line(escaped),
            _one_line(json.dumps(hidden)[1:-1]),
            _one_line(html.escape(hidden)),
        )
    )
    for form in forms:
        yield from _find_pieces(line, form, _PROMPT_PIECE)


def _find_whole(line: str, word: str) -> Iterator[tuple[int, int]]:
    if word:
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        yield from (match.span() for match in pattern.finditer(line))


def _find_pieces(line: str, hidden: str, size: int) -> Iterator[tuple[int, int]]:
    """Find every stretch of `line`, of at least `size` characters, that occurs in `hidden`."""
    line, hidden = _fold(line), _fold(hidden)
    start = 0
    while start + size <= len(line):
        if line[start : start + size] not in hidden:
            start += 1
            continue
        end = start + size
        while end < len(line) and line[end - size + 1 : end + 1] in hidden:
            end += 1
        yield start, end
        start = end


def _fold(text: str) -> str:
    """Lower the case so that places stay the same."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _replace(line: str, spans: Iterable[tuple[int, int, str]], limit: int) -> str:
    parts: list[str] = []
    done = 0
    for start, end, mark in sorted(spans):
        if start >= limit:
            break
        if start >= done:
            parts += [line[done:start], mark]
        done = max(done, end)
    parts.append(line[done : max(done, limit)])
    return "".join(parts)
