"""evalcli init: a first workspace that works."""

from __future__ import annotations

import pytest

from tests.support.workspace import CliWorkspace


@pytest.fixture
def empty(cli_workspace: CliWorkspace) -> CliWorkspace:
    (cli_workspace.folder / "evalcli.yaml").unlink()
    return cli_workspace


def test_init_writes_a_workspace(empty: CliWorkspace) -> None:
    result = empty.run("init")

    assert result.exit == 0
    assert result.stdout == (
        "Wrote evalcli.yaml, sets/example.yaml, .gitignore.\n"
        "Try it: `evalcli eval run example.faq`\n"
    )
    assert empty.run("config", "validate").exit == 0
    assert empty.run("sets", "validate").exit == 0


def test_what_init_wrote_runs_on_ones_own_provider(empty: CliWorkspace) -> None:
    empty.run("init")
    empty.configure(
        "local: {type: local}", f"local: {{type: openai, base_url: '{empty.server.url}/v1'}}"
    )
    answers = {
        "capital of Italy": "Rome",
        "office open": "From Monday to Friday.",
        "ice colder": "yes",
        "JSON object": '```json\n{"email": "info@acme.example"}\n```',
    }
    for words, text in answers.items():
        empty.server.reply(to=words, text=text)
    result = empty.run("eval", "run", "example.faq")

    assert result.exit == 0
    assert empty.last_run()["summary"]["passed"] == 4


def test_init_overwrites_nothing(empty: CliWorkspace) -> None:
    empty.write("sets/example.yaml", "mine")
    result = empty.run("init")

    assert result.exit == 2
    assert "sets/example.yaml exists already, and nothing is overwritten" in result.stderr
    assert not (empty.folder / "evalcli.yaml").exists()
    assert (empty.folder / "sets/example.yaml").read_text() == "mine"


def test_init_twice(empty: CliWorkspace) -> None:
    empty.run("init")
    result = empty.run("init")

    assert result.exit == 2
    assert "evalcli.yaml and sets/example.yaml exist already" in result.stderr
