"""Bytes of a file → text: UTF-8 with or without byte order mark, LF or CRLF, no control character.

The same rules hold for YAML files and for the long texts they name.
"""

from __future__ import annotations

import codecs
import re
from typing import IO

MAX_FILE_BYTES = 10_000_000
"""Bound on one YAML file, in bytes."""

MAX_TEXT_BYTES = 1_000_000
"""Bound on one long text in a file of its own, in bytes."""

MAX_ROWS_BYTES = 100_000_000
"""Bound on one JSONL file of questions, in bytes."""

# YAML 1.1 readers take NEL, LS and PS as line ends and YAML 1.2 takes them as text; a file that
# holds one would not mean the same everywhere, and no editor shows it.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]"
)
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class SourceTextError(Exception):
    """Bytes that are no text of ours: where and why.

    Units: `line` and `column` count from 1; `column` counts characters.
    """

    def __init__(self, line: int, column: int, message: str, advice: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.advice = advice


def decode_source(data: bytes) -> str:
    """Decode a file; line ends become LF, a byte order mark goes.

    Raises:
        SourceTextError: another encoding, or a character that has no place in a text file.
    """
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            raise SourceTextError(1, 1, f"the file is {name}, not UTF-8", _SAVE_AS_UTF8)
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise _bad_byte(data.removeprefix(codecs.BOM_UTF8), exc.start) from None
    text = text.replace("\r\n", "\n")
    found = _FORBIDDEN.search(text)
    if found is not None:
        line, column = place_at(text, found.start())
        raise SourceTextError(line, column, *_forbidden_character(text, found[0]))
    return text


def read_bounded(stream: IO[bytes], limit: int) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises:
        SourceTextError: it is larger.
    """
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise SourceTextError(
            1, 1, f"the file is larger than {limit:,} bytes, the most that is read", _SPLIT
        )
    return data


def place_at(text: str, offset: int) -> tuple[int, int]:
    """Find line and column of a character, both from 1."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


_SAVE_AS_UTF8 = "save it as UTF-8"
_SPLIT = "split it into several"


def _bad_byte(data: bytes, offset: int) -> SourceTextError:
    before = data[:offset].decode("utf-8").replace("\r\n", "\n")
    line, column = place_at(before, len(before))
    return SourceTextError(
        line,
        column,
        f"the byte 0x{data[offset]:02x} is not UTF-8; the file seems to have another encoding",
        _SAVE_AS_UTF8,
    )


def _forbidden_character(text: str, character: str) -> tuple[str, str]:
    code = ord(character)
    if code == 0 and text.count("\x00") > len(text) // 4:
        return "the file is UTF-16 or UTF-32 without a mark, not UTF-8", _SAVE_AS_UTF8
    kind = {0x2028: "line separator", 0x2029: "paragraph separator", 0x85: "next line"}.get(code)
    if code in (0xFEFF, 0xFFFE, 0xFFFF):
        kind = "byte order mark inside the text"
    escape = f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
    return (
        f"the character U+{code:04X} ({kind or 'control character'}) cannot stand in a file",
        f'remove it, or write {escape} in a text in double quotes ("…")',
    )
