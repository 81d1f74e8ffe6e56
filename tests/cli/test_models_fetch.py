"""evalcli models fetch: what a person is told."""

from __future__ import annotations

import pytest

from tests.support.llama import MODEL, model_file
from tests.support.workspace import CliWorkspace


def test_unknown_model_is_wrong_usage_and_names_the_known_one(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("models", "fetch", "gpt-2")
    assert result.exit == 2
    assert 'unknown model "gpt-2"' in result.stderr
    assert "smollm2" in result.stderr


@pytest.mark.slow
def test_model_that_is_there_is_named_with_its_file(cli_workspace: CliWorkspace) -> None:
    path = model_file()
    result = cli_workspace.run("models", "fetch", MODEL.name)
    assert (result.exit, result.stderr) == (0, "")
    assert f"{MODEL.model} was installed already: {path}" in result.stdout
