"""evalcli profiles: list, show, validate, schema, diff and forget, through the real app."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from jsonschema import Draft202012Validator

from evalcli.decisions.profile_memory import remember_profile
from evalcli.history.store import History
from evalcli.loading.catalog import Catalog, load_workspace
from tests.support.workspace import CliWorkspace

PROFILE = """\
kind: profile
identifier: acme.answer
version: 1
description: Is an answer fit to show?
requires: [task, candidate]
questions:
  verdict:
    type: choice
    instructions: What should happen to `candidate`?
    options: [publish, revise, "null"]
    descriptions: {revise: 'Right in [bold]substance[/]'}
  supported: {type: yes_no, instructions: Is it supported?, yes: It is.}
  depth: {type: score, instructions: How deep?, levels: [shallow, deep]}
"""
BROKEN = """\
kind: profile
identifier: acme.broken
version: 0
questions:
  verdict:
    type: choice
    instructions: Which?
    options: [publish]
"""


def use(workspace: CliWorkspace, first_use: str = "batch") -> None:
    """Use the profile as it is declared now, as a batch of decisions does."""
    loaded = load_workspace(workspace.folder, {}, Path.cwd())
    profile = Catalog(loaded).find_profile("acme.answer")
    at = datetime(2026, 11, 12, tzinfo=UTC)
    with History.open(workspace.folder / loaded.file.history.path) as history:
        remember_profile(history, profile, first_use=first_use, used_at=at)


def change(workspace: CliWorkspace, before: str, after: str) -> None:
    path = workspace.folder / "profiles" / "answer.yaml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


# --- list and show ---


def test_the_built_in_profile_is_there(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("profiles", "show", "nr.task_fulfilment", "--format", "json")

    assert result.exit == 0
    profile = result.json["profile"]
    (question,) = profile["questions"].values()
    assert (question["type"], len(question["levels"])) == ("score", 5)
    assert (profile["version"], profile["requires"]) == (1, ["task", "candidate"])
    assert profile["origin"] == "built-in"


def test_list(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    cli_workspace.write("profiles/deep/broken.yml", BROKEN)

    result = cli_workspace.run("profiles", "list")

    assert result.exit == 0
    assert "acme.answer         1        3          Is an answer fit to show?" in result.stdout
    assert "nr.task_fulfilment  1        1" in result.stdout
    assert "acme.broken" not in result.stdout
    assert "set aside: profiles/deep/broken.yml" in result.stderr
    assert "`evalcli profiles validate` says why." in result.stderr


def test_list_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    cli_workspace.write("profiles/broken.yaml", BROKEN)

    document = cli_workspace.run("profiles", "list", "--format", "json").json

    listed = {profile["identifier"]: profile for profile in document["profiles"]}
    assert listed["acme.answer"]["questions"] == ["verdict", "supported", "depth"]
    assert listed["acme.answer"]["file"] == "profiles/answer.yaml"
    assert [fault["line"] for fault in document["faults"]] == [3, 8]


def test_show(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)

    result = cli_workspace.run("profiles", "show", "acme.answer")

    assert result.exit == 0
    for words in (
        "acme.answer v1 · requires task, candidate · editor_content",
        "verdict (choice)",
        "revise          Right in [bold]substance[/]",
        "null",
        "yes             It is.",
        "1               deep",
    ):
        assert words in result.stdout


def test_show_one_that_was_set_aside(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/broken.yaml", BROKEN)

    result = cli_workspace.run("profiles", "show", "acme.broken")

    assert result.exit == 2
    assert 'profile "acme.broken" is set aside because of profiles/broken.yaml' in result.stderr
    assert "profiles/broken.yaml:3:10: version: must be at least 1" in result.stderr


def test_show_one_that_is_declared_twice(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/a.yaml", PROFILE)
    cli_workspace.write("profiles/b.yaml", PROFILE)

    result = cli_workspace.run("profiles", "show", "acme.answer")

    assert result.exit == 2
    assert "is withheld, because it is declared twice" in result.stderr
    assert "profiles/a.yaml:2" in result.stderr
    assert "profiles/b.yaml:2" in result.stderr


def test_show_one_that_is_not_there(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("profiles", "show", "nr.task_fulfillment")

    assert result.exit == 2
    assert 'unknown profile "nr.task_fulfillment"' in result.stderr
    assert 'write "nr.task_fulfilment"' in result.stderr


# --- validate and schema ---


def test_validate(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)

    result = cli_workspace.run("profiles", "validate")

    assert (result.exit, result.stdout) == (0, "All 2 files are fine.\n")


def test_validate_says_all_faults_of_all_files(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/broken.yaml", BROKEN)
    cli_workspace.write("profiles/set.yaml", "kind: prompts\nidentifier: a.b\n")

    result = cli_workspace.run("profiles", "validate")

    assert result.exit == 2
    assert result.stdout.splitlines() == [
        "profiles/broken.yaml:3:10: version: must be at least 1; write a number in that range",
        "profiles/broken.yaml:8:14: questions.verdict.options: needs 2 to 255 options, has 1; add "
        "another",
        'profiles/set.yaml:1:7: kind: "prompts" is no kind of declaration in profiles/; move the '
        "file to sets/",
        "3 faults in 2 of 3 files; the other file can be used.",
    ]


def test_validate_a_named_file(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/broken.yaml", BROKEN)
    cli_workspace.write("draft.yaml", PROFILE)

    result = cli_workspace.run("profiles", "validate", "draft.yaml", "--format", "json")

    assert result.exit == 0
    assert result.json == {"schema_version": 1, "files": 1, "faulty": 0, "faults": []}


def test_schema(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("profiles", "schema")

    assert result.exit == 0
    Draft202012Validator.check_schema(result.json)
    assert result.json["title"] == "evalcli decision profile"


# --- diff and forget ---


def test_diff_before_any_use(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)

    result = cli_workspace.run("profiles", "diff", "acme.answer")

    assert result.exit == 0
    assert result.stdout == ("No version of acme.answer was used yet: nothing to compare with.\n")


def test_diff_of_what_is_the_same(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)

    result = cli_workspace.run("profiles", "diff", "acme.answer")

    assert result.stdout.splitlines() == [
        "acme.answer · version 1 at its first use (batch, 2026-11-12) → version 1 as declared",
        "No question differs.",
    ]


def test_diff_names_what_has_changed(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)
    change(cli_workspace, "publish, revise", "publish, discard")
    change(cli_workspace, "{revise:", "{discard:")
    change(cli_workspace, "How deep?", "How deep is it?")

    result = cli_workspace.run("profiles", "diff", "acme.answer")

    assert result.exit == 0
    assert result.stdout.splitlines() == [
        "acme.answer · version 1 at its first use (batch, 2026-11-12) → version 1 as declared",
        "",
        "depth.instructions",
        "  before          How deep?",
        "  now             How deep is it?",
        "",
        "verdict.options",
        "  removed         revise",
        "  added           discard",
        "",
        "verdict.descriptions.revise",
        "  before          Right in [bold]substance[/]",
        "  now             (not there)",
        "",
        "verdict.descriptions.discard",
        "  before          (not there)",
        "  now             Right in [bold]substance[/]",
        "",
        "Raise the version, or let go of the former content with "
        "`evalcli profiles forget acme.answer@1`.",
    ]


def test_diff_of_an_order(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)
    change(cli_workspace, "[shallow, deep]", "[deep, shallow]")

    result = cli_workspace.run("profiles", "diff", "acme.answer")

    assert "  order           deep, shallow" in result.stdout


def test_diff_of_questions_that_came_and_went(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)
    change(cli_workspace, "  depth:", "  depth_now:")

    result = cli_workspace.run("profiles", "diff", "acme.answer")

    text = result.stdout
    assert "depth\n  before          How deep?\n  now             (not there)" in text
    assert "depth_now\n  before          (not there)\n  now             How deep?" in text


def test_diff_as_json(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)
    change(cli_workspace, "How deep?", "How deep is it?")
    change(cli_workspace, "version: 1", "version: 2")

    document = cli_workspace.run("profiles", "diff", "acme.answer@1", "--format", "json").json

    assert (document["declared_version"], document["stored"]["version"]) == (2, 1)
    assert document["stored"]["first_used_at"] == "2026-11-12T00:00:00+00:00"
    assert document["is_changed"]
    assert document["changes"] == [
        {"path": "depth.instructions", "before": "How deep?", "after": "How deep is it?"}
    ]


def test_diff_with_a_version_that_was_never_used(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)

    result = cli_workspace.run("profiles", "diff", "acme.answer@7")

    assert result.exit == 2
    assert "the history knows no use of acme.answer@7" in result.stderr
    assert "known: acme.answer@1" in result.stderr


def test_diff_where_no_texts_are_kept(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    cli_workspace.configure(
        "eval: {configuration: bot}",
        "eval: {configuration: bot}\nhistory: {content: metadata}",
    )
    loaded = load_workspace(cli_workspace.folder, {}, Path.cwd())
    profile = Catalog(loaded).find_profile("acme.answer")
    at = datetime(2026, 11, 12, tzinfo=UTC)
    path = cli_workspace.folder / loaded.file.history.path
    with History.open(path, content="metadata") as history:
        remember_profile(history, profile, first_use="run", used_at=at)
    change(cli_workspace, "How deep?", "How deep is it?")

    shown = cli_workspace.run("profiles", "diff", "acme.answer").stdout
    document = cli_workspace.run("profiles", "diff", "acme.answer", "--format", "json").json

    assert "They differ. How, the history does not say: it keeps no texts." in shown
    assert (document["is_changed"], document["changes"]) == (True, None)


def test_forget_lets_a_version_change(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)

    result = cli_workspace.run("profiles", "forget", "acme.answer@1")

    assert result.exit == 0
    assert result.stdout == (
        "Forgotten: what acme.answer@1 was at its first use (batch, 2026-11-12). Its next use "
        "sets it anew.\n"
    )
    change(cli_workspace, "How deep?", "How deep is it?")
    use(cli_workspace, "run")
    assert "No question differs." in cli_workspace.run("profiles", "diff", "acme.answer").stdout


def test_forget_needs_a_version_that_is_known(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)

    for name, words in (
        ("acme.answer", "names no version"),
        ("acme.answer@2", "knows no use of acme.answer@2"),
        ("acme.answer@x", "is no version of a profile"),
    ):
        result = cli_workspace.run("profiles", "forget", name)
        assert result.exit == 2
        assert words in result.stderr


def test_a_profile_need_not_be_declared_to_be_forgotten(cli_workspace: CliWorkspace) -> None:
    path = cli_workspace.write("profiles/answer.yaml", PROFILE)
    use(cli_workspace)
    path.unlink()

    assert cli_workspace.run("profiles", "forget", "acme.answer@1").exit == 0


def test_errors_are_json_where_json_is_wanted(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("profiles", "show", "acme.answer", "--format", "json")

    assert result.exit == 2
    assert json.loads(result.stdout)["error"]["code"] == "usage"
