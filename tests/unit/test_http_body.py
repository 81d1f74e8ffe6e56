"""Bodies are bounded, decompressed, decoded and parsed."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.http_body import BrokenBodyError, NotJson, parse_json, read_body


async def stream(content: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def read(
    content: bytes, encoding: str = "identity", limit: int = 10_000, size: int = 1000
) -> bytes:
    return asyncio.run(read_body(stream(content, size), encoding, limit))


def raw_deflate(content: bytes) -> bytes:
    return zlib.compress(content)[2:-4]


@pytest.mark.parametrize("length", [0, 1, 999, 1000, 1001, 9_999, 10_000])
def test_body_within_the_limit_is_read_whole(length: int) -> None:
    assert read(b"x" * length) == b"x" * length


def test_body_over_the_limit_is_one_byte_longer() -> None:
    assert len(read(b"x" * 30_000)) == 10_001


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_compressed_body_is_read(encoding: str, compress: type[bytes], size: int) -> None:
    content = json.dumps({"numbers": list(range(900))}).encode()

    assert read(compress(content), encoding, size=size) == content


def test_gzip_of_several_members_is_read() -> None:
    content = gzip.compress(b"one ") + gzip.compress(b"two")

    assert read(content, "gzip") == b"one two"


def test_bomb_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)

    assert len(read(bomb, "gzip", size=65_536)) == 10_001


def test_compressed_body_that_is_not_whole_is_broken() -> None:
    with pytest.raises(BrokenBodyError, match="ends too early"):
        read(gzip.compress(b"hello" * 100)[:-9], "gzip")


def test_body_that_is_not_compressed_is_broken() -> None:
    with pytest.raises(BrokenBodyError):
        read(b'{"plain": "text"}', "gzip")


@given(st.binary(max_size=5_000), st.integers(1, 600))
def test_compression_is_undone_in_chunks_of_any_size(content: bytes, size: int) -> None:
    assert read(gzip.compress(content), "gzip", size=size) == content


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_is_parsed(document: object) -> None:
    assert parse_json(json.dumps(document).encode(), "application/json") == document


def test_lone_surrogate_and_nul_are_kept() -> None:
    assert parse_json(b'{"a": "\\ud800\\u0000"}', "") == {"a": "\ud800\0"}


def test_declared_charset_does_not_overrule_utf8() -> None:
    body = json.dumps({"a": "Grüße"}, ensure_ascii=False).encode()

    assert parse_json(body, "application/json; charset=latin-1") == {"a": "Grüße"}


def test_declared_charset_serves_where_it_is_not_utf8() -> None:
    body = json.dumps({"a": "Grüße"}, ensure_ascii=False).encode("latin-1")

    assert parse_json(body, 'application/json; charset="ISO-8859-1"') == {"a": "Grüße"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"])
def test_other_unicode_encodings_are_read(encoding: str) -> None:
    assert parse_json(json.dumps({"a": "ü"}, ensure_ascii=False).encode(encoding), "") == {"a": "ü"}


@pytest.mark.parametrize(
    ("body", "content_type", "why"),
    [
        (b"", "", "it is empty"),
        (b" \r\n", "", "it is empty"),
        (b'{"a": "\xfc"}', "application/json", "it is not UTF-8"),
        (b'{"a": "\xfc"}', "application/json; charset=nonsense", "it is not UTF-8"),
        (b'{"a": "\xfc"}', "application/json; charset=hex", "it is not UTF-8"),
        (b'{"a": ', "application/json", "expecting value"),
        (b"<html>", "text/html", "expecting value"),
        (b"[" * 200_000, "", "it is out of bounds"),
        (b"1" * 5_000, "", "it is out of bounds"),
    ],
)
def test_body_that_is_not_json(body: bytes, content_type: str, why: str) -> None:
    assert parse_json(body, content_type) == NotJson(why)


@pytest.mark.parametrize(
    "body", [b'{"a": 1, "a": 1}', b'[{"b": {"a": 1, "\\u0061": 2}}]'], ids=["same", "escaped"]
)
def test_keys_can_be_required_to_be_unique(body: bytes) -> None:
    assert parse_json(body, "", unique_keys=True) == NotJson("an object has a key twice")
    assert not isinstance(parse_json(body, ""), NotJson)
    assert parse_json(b'[{"a": 1}, {"a": 1}]', "", unique_keys=True) == [{"a": 1}, {"a": 1}]


@given(st.binary(max_size=200), st.text(max_size=40))
def test_any_body_is_parsed_without_error(body: bytes, content_type: str) -> None:
    parse_json(body, f"application/json; charset={content_type}")


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"error":', b"}")])
def test_json_of_many_levels_is_refused(opening: bytes, closing: bytes) -> None:
    def nested(levels: int) -> object:
        return parse_json(opening * levels + b"1" + closing * levels, "application/json")

    assert not isinstance(nested(100), NotJson)
    assert nested(101) == NotJson("it is nested more than 100 levels deep")


def test_many_brackets_side_by_side_are_no_levels() -> None:
    assert parse_json(json.dumps([[]] * 500).encode(), "application/json") == [[]] * 500
