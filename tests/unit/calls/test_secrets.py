"""References to secrets are read; no error repeats a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcli.calls.secrets import resolve_headers, resolve_secret
from evalcli.errors import ConfigurationError

WHERE = 'provider "main": api_key'


def test_variable_is_read() -> None:
    assert resolve_secret("env:MAIN_KEY", where=WHERE, environ={"MAIN_KEY": "k-1"}) == "k-1"


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_file_is_read_without_its_line_end(tmp_path: Path, end: str) -> None:
    (tmp_path / "key").write_bytes(f"k-1{end}".encode())

    assert resolve_secret(f"file:{tmp_path / 'key'}", where=WHERE, environ={}) == "k-1"


def test_relative_file_starts_at_the_root(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k-1")

    assert resolve_secret("file:key", where=WHERE, environ={}, root=tmp_path) == "k-1"


def test_missing_variable_is_named() -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_secret("env:MAIN_KEY", where=WHERE, environ={})

    assert str(caught.value) == f"{WHERE}: the variable MAIN_KEY is not set; set it"


def test_empty_variable_is_named() -> None:
    with pytest.raises(ConfigurationError, match="the variable MAIN_KEY is empty"):
        resolve_secret("env:MAIN_KEY", where=WHERE, environ={"MAIN_KEY": ""})


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"the file gone cannot be read: No such file"):
        resolve_secret("file:gone", where=WHERE, environ={}, root=tmp_path)


def test_folder_is_no_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        resolve_secret(f"file:{tmp_path}", where=WHERE, environ={})


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"\n", "is empty"), (b"x" * 70_000, "too large"), (b"\xff", "character")],
)
def test_file_without_a_key(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "key").write_bytes(content)

    with pytest.raises(ConfigurationError, match=message):
        resolve_secret("file:key", where=WHERE, environ={}, root=tmp_path)


@pytest.mark.parametrize(
    "secret", ["s3cret\n", "s3cret\nX-Evil: 1", "s3crét", "s3cret ", "\ts3cret", "s3cret\0", "🔑s3"]
)
def test_key_that_cannot_be_sent_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_secret("env:MAIN_KEY", where=WHERE, environ={"MAIN_KEY": secret})

    assert "the variable MAIN_KEY holds a character that cannot stand in a header" in str(
        caught.value
    )
    assert "s3" not in repr(caught.value)


@pytest.mark.parametrize(
    "literal", ["sk-s3cret", "env:", "file: ", "vault:s3cret", "ENV:s3cret", ""]
)
def test_literal_key_is_refused_and_not_repeated(literal: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_secret(literal, where=WHERE, environ={})

    assert "env:NAME or file:PATH" in str(caught.value)
    assert "s3cret" not in repr(caught.value)


def test_headers_are_resolved() -> None:
    resolved = resolve_headers(
        {"Authorization": "env:TOKEN", "X-Title": "evalcli"},
        where="headers",
        environ={"TOKEN": "Bearer abc-123"},
    )

    assert resolved.headers == {"Authorization": "Bearer abc-123", "X-Title": "evalcli"}
    assert resolved.keys == ("abc-123",)
    assert "abc-123" not in repr(resolved)


@pytest.mark.parametrize("value", ["x\r\ny", "ü", " x", "x\0"])
def test_header_that_cannot_be_sent_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"headers\.X-Title holds a character"):
        resolve_headers({"X-Title": value}, where="headers", environ={})
