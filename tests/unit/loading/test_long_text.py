"""Long texts in files: inside the folder only, UTF-8, bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalcli.declarations.scalars import ValueFaultError
from evalcli.loading.long_text import TextFolder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "prompts").mkdir(parents=True)
    (folder / "sets").mkdir()
    (folder / "prompts/long.md").write_bytes("\ufeffGrüße\r\nund mehr\r\n".encode())
    (tmp_path / "outside.md").write_text("secret")
    return folder


def fault_of(root: Path, name: str, beside: Path | None = None) -> ValueFaultError:
    with pytest.raises(ValueFaultError) as caught:
        TextFolder(root, beside=beside).read_text(name)
    assert caught.value.path == ("file",)
    assert "secret" not in str(caught.value)
    return caught.value


def test_text_is_read_with_lf(root: Path) -> None:
    assert TextFolder(root).read_text("prompts/long.md") == "Grüße\nund mehr\n"


def test_links_inside_are_followed(root: Path) -> None:
    (root / "link.md").symlink_to("prompts/long.md")

    assert TextFolder(root).read_text("link.md") == "Grüße\nund mehr\n"


def test_root_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(root)

    assert TextFolder(tmp_path / "other").read_text("prompts/long.md") == "Grüße\nund mehr\n"


@pytest.mark.parametrize(
    "name", ["../outside.md", "prompts/../../outside.md", "/etc/hostname", "", ".", "prompts/.."]
)
def test_names_that_lead_outside(root: Path, name: str) -> None:
    fault = fault_of(root, name)

    assert "is outside" in fault.message or "is no ordinary file" in fault.message


def test_links_that_lead_outside(root: Path) -> None:
    (root / "link.md").symlink_to("../outside.md")
    (root / "folder").symlink_to("..")

    assert "is outside" in fault_of(root, "link.md").message
    assert "is outside" in fault_of(root, "folder/outside.md").message


@pytest.mark.parametrize("name", ["prompts\\long.md", "a\0b"])
def test_names_that_are_no_paths(root: Path, name: str) -> None:
    assert "is no path" in fault_of(root, name).message


def test_missing_file_says_where_paths_begin(root: Path) -> None:
    fault = fault_of(root, "prompts/lang.md")

    assert fault.message == 'there is no file "prompts/lang.md"'
    assert fault.advice == f"paths begin at the folder {root}"


def test_path_from_the_declaration_is_corrected(root: Path) -> None:
    (root / "sets/texts.md").write_text("x")

    assert fault_of(root, "texts.md", beside=root / "sets").advice.startswith(
        'write "sets/texts.md"'
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a\nb\xff", "line 2, column 2: the byte 0xff is not UTF-8"),
        (b"a\x00bcdef", "line 1, column 2: the character U+0000"),
        (b"x" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_files_that_are_no_text(root: Path, data: bytes, words: str) -> None:
    (root / "bad.md").write_bytes(data)

    assert words in fault_of(root, "bad.md").message


def test_folders_and_pipes_are_no_texts(root: Path) -> None:
    os.mkfifo(root / "pipe")

    assert "is no ordinary file" in fault_of(root, "pipe").message
    assert "is no ordinary file" in fault_of(root, "prompts").message


def test_loop_of_links(root: Path) -> None:
    (root / "loop").symlink_to("loop")

    assert fault_of(root, "loop").message
