"""evalcli config, providers, models: what evalcli.yaml says, and whether it can be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workspace import KEY, CliWorkspace


def test_validate_a_fine_file(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("config", "validate")

    assert (result.exit, result.stdout, result.stderr) == (0, "1 file is fine.\n", "")


def test_validate_says_all_faults(cli_workspace: CliWorkspace) -> None:
    cli_workspace.configure("eval: {configuration: bot}", "eval: {configuration: bto}\nfoo: 1")
    cli_workspace.configure("env:MAIN_KEY", KEY)
    result = cli_workspace.run("config", "validate")

    assert result.exit == 2
    assert result.stdout.splitlines() == [
        "evalcli.yaml:5:14: providers.main.api_key: must be a reference: a secret never stands in "
        "a file; write env:NAME_OF_A_VARIABLE or file:/path/of/the/secret",
        'evalcli.yaml:12:23: eval.configuration: unknown configuration "bto"; write "bot"; '
        "known: bot",
        'evalcli.yaml:13:1: unknown key "foo"; known keys: providers, models, configurations, '
        "eval, decision, retrievers, history",
        "3 faults in 1 of 1 file.",
    ]
    assert KEY not in result.output


def test_literal_key_is_refused_before_a_run_and_never_shown(cli_workspace: CliWorkspace) -> None:
    cli_workspace.configure("env:MAIN_KEY", KEY)
    cli_workspace.write_set("a.smoke", ["one"])
    result = cli_workspace.run("eval", "run", "a.smoke")

    assert result.exit == 2
    assert "evalcli.yaml:5:14: " in result.stderr
    assert KEY not in result.output
    assert cli_workspace.server.requests == []


def test_validate_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("evalcli.yaml", "foo: 1\n")
    result = cli_workspace.run("config", "validate", "--format", "json")

    assert result.exit == 2
    assert (result.json["files"], result.json["faulty"]) == (1, 1)
    assert result.json["faults"][0]["message"] == 'unknown key "foo"'


def test_validate_without_a_workspace(cli_workspace: CliWorkspace) -> None:
    (cli_workspace.folder / "evalcli.yaml").unlink()
    result = cli_workspace.run("config", "validate")

    assert result.exit == 0
    assert "the built-in defaults serve" in result.stdout


@pytest.mark.parametrize("command", [["config", "validate"], ["sets", "list"], ["models", "list"]])
def test_named_workspace_must_be_one(cli_workspace: CliWorkspace, command: list[str]) -> None:
    (cli_workspace.folder / "empty").mkdir()
    result = cli_workspace.run(*command, "--workspace", "empty")

    assert result.exit == 2
    assert "empty has no evalcli.yaml (--workspace)" in result.stderr


def test_workspace_of_the_environment(cli_workspace: CliWorkspace, tmp_path: Path) -> None:
    cli_workspace.environ["EVALCLI_WORKSPACE"] = str(tmp_path / "nowhere")
    result = cli_workspace.run("config", "validate")

    assert result.exit == 2
    assert "is no folder (EVALCLI_WORKSPACE)" in result.stderr


def test_schema(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("config", "schema")

    assert result.exit == 0
    assert result.json["title"] == "evalcli workspace (evalcli.yaml)"


def test_providers_show_references_only(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("providers", "list")
    row = next(line for line in result.stdout.splitlines() if line.startswith("main"))

    assert result.exit == 0
    assert row.split()[:4] == ["main", "openai", "external_global", "env:MAIN_KEY"]
    assert KEY not in result.output


def test_providers_as_json(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("providers", "list", "--format", "json")
    [provider] = result.json["providers"]

    assert provider["name"] == "main"
    assert provider["api_key"] == "env:MAIN_KEY"
    assert KEY not in result.output


def test_models_name_their_configurations(cli_workspace: CliWorkspace) -> None:
    cli_workspace.configure(
        "capabilities: [chat]}", "capabilities: [chat], prices: {input: 0.10, output: 0.5}}"
    )
    result = cli_workspace.run("models", "list")
    row = next(line for line in result.stdout.splitlines() if line.startswith("model-a"))

    assert row.split() == ["model-a", "main", "chat", "0.10", "/", "0.5", "bot"]


def test_models_of_the_defaults(cli_workspace: CliWorkspace) -> None:
    (cli_workspace.folder / "evalcli.yaml").unlink()
    [model] = cli_workspace.run("models", "list", "--format", "json").json["models"]

    assert (model["name"], model["provider"]) == ("smollm2-135m", "local")
