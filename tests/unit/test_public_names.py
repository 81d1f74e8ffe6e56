"""import evalcli: every public name is there, and typed where a checker looks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evalcli


@pytest.mark.parametrize("name", sorted(evalcli._PUBLIC))
def test_public_name_loads(name: str) -> None:
    assert getattr(evalcli, name).__doc__


def test_checkers_see_the_same_names() -> None:
    stub = Path(evalcli.__file__).with_suffix(".pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == evalcli._PUBLIC


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = evalcli.nothing_of_the_kind  # type: ignore[attr-defined]  # that is the point
