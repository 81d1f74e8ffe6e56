"""evalcli eval run on configurations with fallbacks and on models chosen by criteria."""

from __future__ import annotations

import pytest

from tests.support.workspace import CliWorkspace

FALLBACK = """\
providers:
  main: {{type: openai, base_url: '{url}/main', retry: {{tries: 1}}}}
  spare: {{type: openai, base_url: '{url}/spare', trust_zone: {zone}}}
models:
  model-a: {{provider: main, capabilities: [chat]}}
  model-b: {{provider: spare, capabilities: [chat], prices: {{input: 0.5}}}}
configurations:
  bot: {{model: model-a, fallback: [spare]}}
  spare: {{model: model-b, system: Not lent.}}
  cheap: {{model: {{criteria: {{max_input_price: 0.5}}}}}}
eval: {{configuration: bot}}
"""


def configure(workspace: CliWorkspace, zone: str = "external_global") -> None:
    workspace.write("evalcli.yaml", FALLBACK.format(url=workspace.server.url, zone=zone))


@pytest.mark.parametrize("flag", [[], ["--fail-on-regression"]])
def test_a_run_in_which_a_fallback_served_is_mixed(
    cli_workspace: CliWorkspace, flag: list[str]
) -> None:
    configure(cli_workspace)
    cli_workspace.write_set("acme.faq", ["one", "two"])
    server = cli_workspace.server
    server.reply(path="/main/chat/completions", to="Answer with one.", text="one")
    server.reply(path="/main/chat/completions", status=503)
    server.reply(path="/spare/chat/completions", text="two", model="model-b")

    result = cli_workspace.run("eval", "run", "acme.faq", "--concurrency", "1", *flag)

    assert result.exit == (1 if flag else 0), result.output
    assert cli_workspace.last_run()["comparison"]["state"] == "mixed"
    assert cli_workspace.run("baseline", "show", "acme.faq").exit == 2
    assert "Not lent." not in str([request.body for request in server.requests])


def test_a_fallback_that_may_not_see_the_set_is_found_before_the_first_request(
    cli_workspace: CliWorkspace,
) -> None:
    configure(cli_workspace)
    cli_workspace.write_set("acme.faq", ["one"], extra="data_class: source_code\n")
    cli_workspace.configure("retry: {tries: 1}", "retry: {tries: 1}, trust_zone: local")

    result = cli_workspace.run("eval", "run", "acme.faq")

    assert result.exit == 2
    assert 'provider "spare" is in the trust zone external_global' in result.stderr
    assert cli_workspace.server.requests == []


def test_a_model_by_criteria_is_asked_and_named(cli_workspace: CliWorkspace) -> None:
    configure(cli_workspace)
    cli_workspace.write_set("acme.faq", ["one"])
    cli_workspace.server.reply(path="/spare/chat/completions", text="one")

    result = cli_workspace.run("eval", "run", "acme.faq", "--configuration", "cheap")

    assert result.exit == 0, result.output
    assert cli_workspace.server.requests[0].body["model"] == "model-b"
    assert cli_workspace.run("models", "list").exit == 0
    assert cli_workspace.run("config", "validate").exit == 0


def test_a_decision_server_is_no_chat_model(cli_workspace: CliWorkspace) -> None:
    configure(cli_workspace)
    cli_workspace.configure("main: {type: openai", "main: {type: typesafe")
    cli_workspace.write_set("acme.faq", ["one"])

    result = cli_workspace.run("eval", "run", "acme.faq")

    assert result.exit == 2
    assert 'provider "main" answers decisions only, and was asked for chat' in result.stderr
    assert cli_workspace.server.requests == []
