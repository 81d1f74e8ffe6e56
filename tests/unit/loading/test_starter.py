"""A first workspace: what is written, that it can be used, that nothing is overwritten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalcli.declarations.prompt_set import PromptSet
from evalcli.declarations.resolution import resolve_configuration
from evalcli.errors import ConfigurationError, UsageError
from evalcli.loading.catalog import Shelf, validate_declarations
from evalcli.loading.starter import write_starter
from evalcli.loading.workspace_folder import load_workspace


def test_what_is_written(tmp_path: Path) -> None:
    assert write_starter(tmp_path) == ("evalcli.yaml", "sets/example.yaml", ".gitignore")
    assert (tmp_path / ".gitignore").read_text() == ".evalcli/\n"


def test_what_is_written_can_be_used(tmp_path: Path) -> None:
    write_starter(tmp_path)
    target = resolve_configuration(load_workspace(None, {}, tmp_path).file)
    shelf = Shelf("sets", root=tmp_path, cwd=tmp_path)

    assert (target.name, target.model_id, target.entry.type) == ("local", "smollm2-135m", "local")
    assert len(shelf.find("example.faq", PromptSet).prompts) == 4
    assert validate_declarations("sets", root=tmp_path, cwd=tmp_path).faults == ()


def test_what_stands_in_comments_can_be_used_too(tmp_path: Path) -> None:
    write_starter(tmp_path)
    path = tmp_path / "evalcli.yaml"
    text, count = re.subn(r"(?m)^  # (?= *[a-z])", "  ", path.read_text())
    path.write_text(text)
    file = load_workspace(None, {}, tmp_path).file

    assert count > 10
    assert file.configurations["support-bot"].model == "gpt-6-luna"
    assert file.models["gpt-6-luna"].provider == "openai"
    assert file.providers["openai"].api_key == "env:OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("present", "words"),
    [
        (["evalcli.yaml"], "evalcli.yaml exists already"),
        (["sets/example.yaml"], "sets/example.yaml exists already"),
        (["evalcli.yaml", "sets/example.yaml"], "evalcli.yaml and sets/example.yaml exist already"),
    ],
)
def test_nothing_is_overwritten(tmp_path: Path, present: list[str], words: str) -> None:
    (tmp_path / "sets").mkdir()
    for name in present:
        (tmp_path / name).write_text("mine")

    with pytest.raises(UsageError, match=words):
        write_starter(tmp_path)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == set(present)
    assert all((tmp_path / name).read_text() == "mine" for name in present)


def test_dead_links_are_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "evalcli.yaml").symlink_to("elsewhere.yaml")

    with pytest.raises(UsageError, match="exists already"):
        write_starter(tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.pyc\n", "*.pyc\n.evalcli/\n"),
        ("*.pyc", "*.pyc\n.evalcli/\n"),
        ("", ".evalcli/\n"),
        (".evalcli\n", ".evalcli\n"),
        ("/.evalcli/\n", "/.evalcli/\n"),
    ],
)
def test_history_is_kept_out_of_git(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / ".gitignore").write_text(before)
    write_starter(tmp_path)

    assert (tmp_path / ".gitignore").read_text() == after


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "sets").write_text("a file")

    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_starter(tmp_path)
