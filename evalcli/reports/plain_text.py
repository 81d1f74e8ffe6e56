r"""Makes outside text harmless: what a model, provider or file said, shown and never obeyed.

Every character that a terminal would act on, or that a reader could not see, becomes a visible
escape (`\x1b`, `\u202e`, `\n`). All other text, square brackets included, stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

_RANGES = (
    (0x00, 0x1F),  # C0: escape, bell, line ends, tab
    (0x7F, 0x9F),  # delete and C1, with the one-character control sequence introducer
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x70F, 0x70F),
    (0x115F, 0x1160),  # Hangul fillers: letters by category, invisible by design
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),  # zero width space, joiners, direction marks
    (0x2028, 0x202E),  # line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),  # lone surrogates
    (0xE000, 0xF8FF),  # private use: no meaning outside one font
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags and further variation selectors: text that nobody sees
    (0xF0000, 0x10FFFF),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0xF0000, 0x10000)),
)

# Joiners and emoji variation selectors belong to the spelling of several scripts and of emoji.
# They stay where they do that work: the joiners between two characters beyond Latin, the
# selectors after a visible character beyond ASCII or in a keycap.
_SPELLING = (
    "(?<=[\u0590-\u1fff\u2100-\u2bff\u3000-\u33ff\U0001f000-\U0001faff\ufe0f])[\u200c\u200d]"
    "(?=[\u0590-\u1fff\u2100-\u2bff\u3000-\u33ff\U0001f000-\U0001faff])"
    "|(?<=[\u00a9\u00ae\u2100-\u2bff\u3030-\u33ff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
)

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAB = "    "


def plain_text(text: str, *, limit: int | None = None) -> str:
    r"""Make text one harmless line.

    Units: `limit` counts characters of the result, the closing `…` of a cut text included.
    """
    # What is cut away need not be escaped: an answer can have megabytes.
    if limit is not None and len(text) > limit:
        shown = _escape(text[: limit + 1])
        return shown[: max(0, limit - 1)] + "…" if limit > 0 else ""
    shown = _escape(text)
    if limit is None or len(shown) <= limit:
        return shown
    return shown[: max(0, limit - 1)] + "…" if limit > 0 else ""


def plain_lines(text: str) -> list[str]:
    r"""Make text harmless and keep its lines; tabs become four spaces.

    A line ends at `\n` or `\r\n`; a lone `\r` is shown. Text that ends in a line end has no
    empty last line.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return [_escape(line.replace("\t", _TAB)) for line in lines]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Compiled on first use: most texts need neither, and `--help` has none.
    unsafe = "[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _RANGES) + "]"
    return re.compile(unsafe), re.compile(_SPELLING)


def _escape(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    unsafe, spelling = _patterns()
    if not unsafe.search(text):
        return text
    kept = {match.start() for match in spelling.finditer(text)}
    return unsafe.sub(lambda match: match[0] if match.start() in kept else _visible(match[0]), text)


def _visible(character: str) -> str:
    named = _NAMED.get(character)
    if named is not None:
        return named
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
