"""Bytes to text: encodings, line ends, control characters, bounds."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.loading.source_text import SourceTextError, decode_source, place_at, read_bounded


def refusal(data: bytes) -> SourceTextError:
    with pytest.raises(SourceTextError) as caught:
        decode_source(data)
    return caught.value


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("a: Größe\nb: 😀\n".encode(), id="plain"),
        pytest.param("\ufeffa: Größe\nb: 😀\n".encode(), id="byte-order-mark"),
        pytest.param("a: Größe\r\nb: 😀\r\n".encode(), id="crlf"),
        pytest.param("\ufeffa: Größe\r\nb: 😀\r\n".encode(), id="both"),
    ],
)
def test_means_the_same(data: bytes) -> None:
    assert decode_source(data) == "a: Größe\nb: 😀\n"


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-16", "UTF-16"), ("utf-32", "UTF-32")],
)
def test_marked_wide_encodings_are_named(encoding: str, named: str) -> None:
    error = refusal("a: x".encode(encoding))

    assert (error.line, error.column) == (1, 1)
    assert error.message == f"the file is {named}, not UTF-8"
    assert error.advice == "save it as UTF-8"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_unmarked_wide_encodings_are_named(encoding: str) -> None:
    assert "UTF-16 or UTF-32 without a mark" in refusal(b"" + "kind: x".encode(encoding)).message


def test_latin_1_has_a_place() -> None:
    error = refusal("a: x\r\nö: 1\r\nb: ".encode() + "Größe".encode("latin-1"))

    assert (error.line, error.column) == (3, 6)
    assert "0xf6 is not UTF-8" in error.message


@pytest.mark.parametrize(
    ("character", "words"),
    [
        ("\x00", "U+0000 (control character)"),
        ("\x07", "U+0007 (control character)"),
        ("\x1b", "U+001B (control character)"),
        ("\x7f", "U+007F (control character)"),
        ("\x85", "U+0085 (next line)"),
        ("\x9b", "U+009B (control character)"),
        ("\u2028", "U+2028 (line separator)"),
        ("\u2029", "U+2029 (paragraph separator)"),
        ("\ufeff", "U+FEFF (byte order mark inside the text)"),
    ],
)
def test_control_characters_have_a_place(character: str, words: str) -> None:
    error = refusal(f"kind: prompts\r\nname: ab{character}c and more text\n".encode())

    assert (error.line, error.column) == (2, 9)
    assert error.message == f"the character {words} cannot stand in a file"
    assert character not in error.message + error.advice


@pytest.mark.parametrize("character", ["\t", "\n", "\r", "\xa0", "\u200b", "\u202e", "�", "😀"])
def test_other_characters_stay(character: str) -> None:
    assert decode_source(f"a{character}b".encode()) == f"a{character}b"


def test_lone_surrogates_are_no_utf_8() -> None:
    assert "0xed is not UTF-8" in refusal("a\ud800".encode("utf-8", "surrogatepass")).message


def test_size_is_bounded() -> None:
    assert read_bounded(io.BytesIO(b"12345"), 5) == b"12345"
    with pytest.raises(SourceTextError, match="larger than 1,234 bytes"):
        read_bounded(io.BytesIO(b"x" * 1235), 1234)


def test_places_count_characters() -> None:
    assert place_at("äö\n😀x", 4) == (2, 2)


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        text = decode_source(data)
    except SourceTextError as error:
        assert error.line >= 1
        assert error.column >= 1
        assert error.message.isprintable()
    else:
        assert "\r\n" not in text
