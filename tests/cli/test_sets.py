"""evalcli sets: list, show, validate, schema; and what a broken set does to a run."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.workspace import CliResult, CliWorkspace

BILLING = """\
kind: prompts
identifier: billing.smoke
name: Example
prompts:
  - id: total
    prompt: An order has items for 19 and 23 euro. What is the total in euro?
    reference: "42"
    assertion:
      - {contains: "42"}
"""

GEO = """\
kind: prompts
identifier: geo.smoke
name: Example
prompts:
  - id: capital
    prompt: Name the capital of France.
    assertions:
      - {contains: Paris}
  - id: river
    prompt: Name the river that flows through Vienna.
    assertions:
      - {contains: Danube}
  - id: capital
    prompt: Name the capital of Italy.
    assertions:
      - {contains: Rome}
"""

SHOP = """\
kind: prompts
identifier: shop.smoke
name: Example
prompts:
  - id: greeting
    prompt: Greet the customer in one short sentence that starts with Welcome.
    assertions:
      - {contains: Welcome}
    assertions:
      - {regex: '.'}
"""

UMLAUTE = (
    "77u/a2luZDogcHJvbXB0cw0KaWRlbnRpZmllcjogc2hvcC51bWxhdXRlDQpuYW1lOiBCZWlzcGllbA0KcHJvbXB0czoN"
    "CiAgLSBpZDogd29ydA0KICAgIHByb21wdDogfA0KICAgICAgQW50d29ydGUgbnVyIG1pdCBkZW0gV29ydDoNCiAgICAg"
    "IEdyw7bDn2UNCiAgICBhc3NlcnRpb25zOg0KICAgICAgLSBleGFjdDogR3LDtsOfZQ0K"
)

PARTS = """\
kind: prompts
identifier: parts.smoke
name: Example
prompts:
  - id: 234_0
    prompt: Which firmware version fits part 234_0? Answer with the version only.
    assertions:
      - exact: 1.10
"""


def assert_nothing_was_sent(workspace: CliWorkspace, result: CliResult) -> None:
    assert result.exit == 2
    assert "Traceback" not in result.output
    assert workspace.server.requests == []
    assert workspace.run_count() == 0


# --- what a declaration means in a run ------------------------------------------------------------


def test_misspelt_key_is_refused_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    cli_workspace.server.reply(text="It is 41 euro.")
    result = cli_workspace.run("eval", "run", "billing.smoke")

    assert_nothing_was_sent(cli_workspace, result)
    assert (
        'sets/billing.yaml:8:5: prompts[0]: unknown key "assertion" (prompt "total"); '
        'write "assertions"\n'
    ) in result.stderr
    assert "41 euro" not in result.output


def test_repeated_key_is_refused_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/shop.yaml", SHOP)

    validated = cli_workspace.run("sets", "validate", "sets/shop.yaml")
    assert validated.exit == 2
    assert (
        "sets/shop.yaml:9:5: prompts[0].assertions: is written twice, first at sets/shop.yaml:7"
        in validated.stdout
    )
    assert_nothing_was_sent(cli_workspace, cli_workspace.run("eval", "run", "shop.smoke"))


def test_withheld_set_is_refused_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("a.smoke", ["one"])
    cli_workspace.write("sets/copy.yaml", (cli_workspace.folder / "sets/a.smoke.yaml").read_text())
    result = cli_workspace.run("eval", "run", "a.smoke")

    assert_nothing_was_sent(cli_workspace, result)
    assert "sets/a.smoke.yaml:2" in result.stderr
    assert "sets/copy.yaml:2" in result.stderr


def test_unknown_set_names_the_nearest(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("a.smoke", ["one"])
    cli_workspace.write("sets/broken.yaml", "kind: prompts\n")
    result = cli_workspace.run("eval", "run", "a.smoek")

    assert_nothing_was_sent(cli_workspace, result)
    assert 'unknown set "a.smoek"' in result.stderr
    assert 'write "a.smoke"' in result.stderr
    assert "1 file was set aside" in result.stderr


@pytest.mark.parametrize(
    "environ",
    [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}],
    ids=["ASCII", "UTF-8"],
)
def test_byte_order_mark_and_crlf_mean_nothing_in_any_locale(
    cli_workspace: CliWorkspace, environ: dict[str, str]
) -> None:
    cli_workspace.write("sets/umlaute.yaml", "").write_bytes(base64.b64decode(UMLAUTE))
    cli_workspace.server.reply(text="Größe\n")

    result = cli_workspace.process("eval", "run", "shop.umlaute", environ=environ)

    assert result.exit == 0, result.output
    assert "Traceback" not in result.output
    [request] = cli_workspace.server.requests
    assert "Antworte nur mit dem Wort:\nGröße" in request.user_text
    sent = json.dumps(request.body, ensure_ascii=False)
    assert "Antworte nur mit dem Wort:\\nGröße" in sent
    assert "\\r" not in sent
    assert not {"\r", "\ufeff"} & set(request.raw.decode("utf-8"))
    assert cli_workspace.last_run()["prompts"][0]["passed"] is True


def test_scalars_reach_the_run_as_written(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/parts.yaml", PARTS)
    cli_workspace.server.reply(text="1.10")
    result = cli_workspace.run("eval", "run", "parts.smoke")

    assert result.exit == 0
    assert "234_0" in result.output
    assert "2340" not in result.output
    assert [row["id"] for row in cli_workspace.last_run()["prompts"]] == ["234_0"]


def test_broken_set_does_not_hold_up_the_others(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/geo.yaml", GEO)
    cli_workspace.write_set("a.smoke", ["one"])
    cli_workspace.answer(right=["one"])

    assert cli_workspace.run("eval", "run", "a.smoke").exit == 0


# --- validate -------------------------------------------------------------------------------------


def test_validate_says_all_faults_of_all_files(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    cli_workspace.write("sets/geo.yaml", GEO)
    cli_workspace.write_set("a.smoke", ["one"])
    result = cli_workspace.run("sets", "validate")
    *faults, summary = result.stdout.splitlines()

    assert result.exit == 2
    assert result.stderr == ""
    assert faults == [
        'sets/billing.yaml:8:5: prompts[0]: unknown key "assertion" (prompt "total"); '
        'write "assertions"',
        'sets/geo.yaml:13:9: prompts[2].id: "capital" is used twice, first at sets/geo.yaml:5; '
        "give it another id",
    ]
    assert summary.startswith("2 faults in 2 of ")
    assert summary.endswith(" can be used.")
    assert "river" not in result.stdout


@pytest.mark.parametrize(
    ("names", "summary"),
    [
        (["sets/billing.yaml"], "1 fault in 1 of 1 file."),
        (["sets/billing.yaml", "sets/geo.yaml"], "2 faults in 2 of 2 files."),
        (
            ["sets/billing.yaml", "sets/a.smoke.yaml"],
            "1 fault in 1 of 2 files; the other file can be used.",
        ),
        (["sets"], "2 faults in 2 of 4 files; the other 2 files can be used."),
    ],
)
def test_validate_named_files(cli_workspace: CliWorkspace, names: list[str], summary: str) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    cli_workspace.write("sets/geo.yaml", GEO)
    cli_workspace.write_set("a.smoke", ["one"])
    cli_workspace.write_set("b.smoke", ["one"])
    result = cli_workspace.run("sets", "validate", *names)

    assert result.exit == 2
    assert result.stdout.splitlines()[-1] == summary


def test_validate_fine_files(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("a.smoke", ["one"])

    one = cli_workspace.run("sets", "validate", "sets/a.smoke.yaml")
    assert (one.exit, one.stdout) == (0, "1 file is fine.\n")
    every = cli_workspace.run("sets", "validate")
    assert every.exit == 0
    assert every.stdout.endswith(" files are fine.\n")


def test_validate_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    result = cli_workspace.run("sets", "validate", "sets/billing.yaml", "--format", "json")

    assert result.exit == 2
    assert result.json == {
        "schema_version": 1,
        "files": 1,
        "faulty": 1,
        "faults": [
            {
                "file": "sets/billing.yaml",
                "line": 8,
                "column": 5,
                "path": "prompts[0]",
                "message": 'unknown key "assertion" (prompt "total")',
                "advice": 'write "assertions"',
            }
        ],
    }


def test_validate_needs_no_usable_configuration(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("evalcli.yaml", "foo: 1\n")
    cli_workspace.write_set("a.smoke", ["one"])

    assert cli_workspace.run("sets", "validate").exit == 0


def test_validate_a_file_that_is_not_there(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("sets", "validate", "sets/nope.yaml")

    assert result.exit == 2
    assert "there is no file sets/nope.yaml" in result.stderr


def test_validate_escapes_hostile_files(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/x.yaml", '"\\e[31m[bold]": 1\n')
    result = cli_workspace.run("sets", "validate", "sets/x.yaml")

    assert "\x1b" not in result.output
    assert r"\x1b[31m[bold]" in result.stdout


# --- list -----------------------------------------------------------------------------------------


def test_list_names_sets_and_what_is_set_aside(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    cli_workspace.write_set("a.smoke", ["one", "two"])
    cli_workspace.write_set("b.smoke", ["one"])
    result = cli_workspace.run("sets", "list")
    lines = [line.split() for line in result.stdout.splitlines()]

    assert result.exit == 0
    assert ["a.smoke", "Example", "2", "prompts", "workspace", "(sets/a.smoke.yaml)"] in lines
    assert ["b.smoke", "Example", "1", "prompt", "workspace", "(sets/b.smoke.yaml)"] in lines
    assert any(line[0] == "nr.smoke" and "built-in" in line for line in lines)
    assert "billing" not in result.stdout
    assert "set aside: sets/billing.yaml\n" in result.stderr


def test_list_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    cli_workspace.write_set("a.smoke", ["one", "two"])
    document = cli_workspace.run("sets", "list", "--format", "json").json

    assert {
        "identifier": "a.smoke",
        "name": "Example",
        "prompts": 2,
        "origin": "workspace",
        "file": "sets/a.smoke.yaml",
    } in document["sets"]
    assert [fault["line"] for fault in document["faults"]] == [8]


# --- show -----------------------------------------------------------------------------------------

FULL = """\
kind: prompts
identifier: full.smoke
name: Every "key" [bold]
description: What it is for.
data_class: source_code
prompts:
  - id: one
    prompt: |
      Line one.
      Line two.
    system: Be brief.
    reference: A right answer.
    skip: the model cannot
    assertions:
      - contains: 1.10
      - regex: '/\\d+/i'
      - not: {exact: yes}
      - json_schema: {type: object, const: 1.10}
        unwrap: fence
        formats: true
"""


def test_show_says_all_texts(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/full.yaml", FULL)
    result = cli_workspace.run("sets", "show", "full.smoke")

    assert result.exit == 0
    assert result.stdout == (
        'full.smoke · Every "key" [bold] · 1 prompt · source_code · workspace (sets/full.yaml)\n'
        "What it is for.\n"
        "\n"
        "one\n"
        "  skipped         the model cannot\n"
        "  prompt          Line one.\n"
        "                  Line two.\n"
        "  system          Be brief.\n"
        "  reference       A right answer.\n"
        '  assertion       contains "1.10"\n'
        '  assertion       regex "/\\d+/i"\n'
        '  assertion       not exact "yes"\n'
        '  assertion       json_schema {"type": "object", "const": 1.1}, unwrap "fence", '
        "formats true\n"
    )


def test_show_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/full.yaml", FULL)
    shown = cli_workspace.run("sets", "show", "full.smoke", "--format", "json").json["set"]

    assert shown["identifier"] == "full.smoke"
    assert shown["file"] == "sets/full.yaml"
    assert shown["data_class"] == "source_code"
    assert shown["prompts"] == [
        {
            "id": "one",
            "prompt": "Line one.\nLine two.\n",
            "system": "Be brief.",
            "reference": "A right answer.",
            "skip": "the model cannot",
            "assertions": [
                {"contains": "1.10"},
                {"regex": "/\\d+/i"},
                {"not": {"exact": "yes"}},
                {
                    "json_schema": {"type": "object", "const": 1.1},
                    "unwrap": "fence",
                    "formats": True,
                },
            ],
        }
    ]


def test_show_of_a_built_in_set(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("sets", "show", "nr.smoke")

    assert result.exit == 0
    for words in ("capital-of-france", "two-plus-two", "echo-token", 'contains "ACKNOWLEDGED"'):
        assert words in result.stdout


def test_show_of_a_broken_set_says_the_cause(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("sets/billing.yaml", BILLING)
    result = cli_workspace.run("sets", "show", "billing.smoke")

    assert result.exit == 2
    assert "sets/billing.yaml:8:5: " in result.stderr


def test_show_of_an_unknown_set_as_json(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("sets", "show", "nope", "--format", "json")

    assert result.exit == 2
    assert result.json["error"]["message"] == 'unknown set "nope"'


# --- schema ---------------------------------------------------------------------------------------


def test_schema_is_the_published_one(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("sets", "schema")

    assert result.exit == 0
    assert result.json["title"] == "evalcli golden prompt set"
    assert result.json["additionalProperties"] is False
