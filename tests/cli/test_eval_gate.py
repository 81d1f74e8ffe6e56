"""evalcli eval run: states, drops, floors and exit statuses over several runs."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.support.workspace import CliResult, CliWorkspace

TEN = [f"q{number:02}" for number in range(1, 11)]
GATE = "--fail-on-regression"


def run_with(
    workspace: CliWorkspace, right: int, *words: str, ids: Sequence[str] = TEN
) -> CliResult:
    workspace.answer(right=ids[:right], wrong=ids[right:])
    return workspace.run("eval", "run", "ten.smoke", *words)


def test_tolerated_drops_cannot_add_up(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    statuses = [run_with(cli_workspace, right, GATE).exit for right in (10, 9, 8, 7, 8)]

    assert statuses == [0, 0, 1, 1, 1]


def test_first_run_is_the_baseline_and_says_so_loudly(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    result = run_with(cli_workspace, 10, GATE)

    assert result.exit == 0
    assert "NOTHING WAS COMPARED" in result.stdout
    assert "now the baseline" in result.stdout
    assert cli_workspace.last_run()["comparison"]["state"] == "baseline"


def test_required_baseline_is_a_gate_of_its_own(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    assert run_with(cli_workspace, 10, "--require-baseline").exit == 1
    assert run_with(cli_workspace, 10, "--require-baseline").exit == 1
    assert cli_workspace.run("baseline", "accept", "latest").exit == 0
    assert run_with(cli_workspace, 10, "--require-baseline").exit == 0


def test_drop_equal_to_the_limit_passes_exactly(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 8)

    limits = ("--max-pass-rate-drop", "0.1", "--max-mean-score-drop", "0.1")
    result = run_with(cli_workspace, 7, GATE, *limits)

    assert result.exit == 0
    assert "0.10000000000000009" not in result.output
    document = cli_workspace.last_run()
    assert document["summary"]["pass_rate"] == 0.7
    assert document["summary"]["mean_score"] == 0.7
    assert document["comparison"]["state"] == "comparable"
    assert document["verdict"]["gate"] == "passed"


def test_regression_without_the_flag_is_reported_and_exits_0(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)

    result = run_with(cli_workspace, 7)

    assert result.exit == 0
    assert "q08" in result.stdout
    assert cli_workspace.last_run()["verdict"]["word"] == "regressed"
    assert run_with(cli_workspace, 10, GATE).exit == 0


def test_changed_prompt_is_a_mismatch_until_it_is_accepted(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    texts = {i: f"Answer with {i}." for i in TEN}
    cli_workspace.write_set("ten.smoke", {**texts, "q03": "Please! Answer with q03."})

    first = run_with(cli_workspace, 10, GATE)
    second = run_with(cli_workspace, 10, GATE)
    before = cli_workspace.run("history", "list", "--format", "json").json["runs"]
    accepted = cli_workspace.run("baseline", "accept", "latest")
    after = cli_workspace.run("history", "list", "--format", "json").json["runs"]
    third = run_with(cli_workspace, 10, GATE)

    assert [run["is_baseline"] for run in before] == [False, False, True]
    assert [run["is_baseline"] for run in after] == [True, False, False]
    assert [first.exit, second.exit, accepted.exit, third.exit] == [1, 1, 0, 0]
    assert "q03" in first.stdout
    assert "baseline accept" in first.stdout
    assert "No regression" not in first.output


def test_removed_prompt_is_a_mismatch(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    cli_workspace.write_set("ten.smoke", TEN[1:])

    result = run_with(cli_workspace, 9, GATE, ids=TEN[1:])

    assert result.exit == 1
    assert cli_workspace.last_run()["comparison"]["removed"] == ["q01"]


def test_added_prompt_does_not_disturb_and_is_gated_from_then_on(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    eleven = [*TEN, "q11"]
    cli_workspace.write_set("ten.smoke", eleven)

    added = run_with(cli_workspace, 11, GATE, ids=eleven)
    worse = run_with(cli_workspace, 9, GATE, ids=eleven)

    assert (added.exit, worse.exit) == (0, 1)
    assert "q11" in added.stdout


def test_name_description_and_order_are_not_measured(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    cli_workspace.write_set(
        "ten.smoke", list(reversed(TEN)), extra="description: Other words\n# a comment\n"
    )

    assert run_with(cli_workspace, 10, GATE).exit == 0
    assert cli_workspace.last_run()["comparison"]["state"] == "comparable"


def test_floor_fails_with_and_without_the_flag(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    result = run_with(cli_workspace, 8, "--min-pass-rate", "0.81")

    assert result.exit == 1
    assert cli_workspace.last_run()["verdict"]["word"] == "below_floor"
    assert run_with(cli_workspace, 8, "--min-pass-rate", "0.8").exit == 0


def test_baseline_file_keeps_a_regression_red(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    exported = cli_workspace.run("baseline", "export", "ten.smoke")
    assert exported.exit == 0
    cli_workspace.write("baselines/ten.json", exported.stdout)
    words = ("--baseline", "baselines/ten.json", GATE)

    assert run_with(cli_workspace, 8, *words).exit == 1
    assert run_with(cli_workspace, 8, *words).exit == 1
    assert cli_workspace.last_run()["comparison"]["state"] == "comparable"
    assert run_with(cli_workspace, 10, *words).exit == 0


def test_baseline_previous_and_run_id(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    first = cli_workspace.last_run()["run"]["id"]
    run_with(cli_workspace, 8)

    assert run_with(cli_workspace, 8, GATE, "--baseline", "previous").exit == 0
    assert run_with(cli_workspace, 8, GATE, "--baseline", first).exit == 1
    assert run_with(cli_workspace, 8, GATE, "--baseline", first[:6]).exit == 1


@pytest.mark.parametrize("name", ["nothing", "baselines/none.json"])
def test_missing_baseline_is_refused_before_anything_is_sent(
    cli_workspace: CliWorkspace, name: str
) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    result = cli_workspace.run("eval", "run", "ten.smoke", "--baseline", name)

    assert result.exit == 2
    assert cli_workspace.server.requests == []
    assert cli_workspace.run_count() == 0


def test_previous_without_an_earlier_run_is_refused(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    result = cli_workspace.run("eval", "run", "ten.smoke", "--baseline", "previous")

    assert result.exit == 2
    assert cli_workspace.server.requests == []


def test_draft_and_looser_limits_never_become_the_baseline(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)

    run_with(cli_workspace, 5, "--draft")
    run_with(cli_workspace, 5, "--max-pass-rate-drop", "0.5")

    assert cli_workspace.run("baseline", "show", "ten.smoke").exit == 2
    run_with(cli_workspace, 10)
    assert cli_workspace.run("baseline", "show", "ten.smoke").exit == 0


def test_partial_run_is_compared_over_the_chosen_prompts(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    cli_workspace.answer(right=["q01"])
    good = cli_workspace.run("eval", "run", "ten.smoke", "--only", "q01", GATE)
    cli_workspace.answer(right=[], wrong=["q02"])
    bad = cli_workspace.run("eval", "run", "ten.smoke", "--only", "q02", GATE)

    assert (good.exit, bad.exit) == (0, 1)
    assert cli_workspace.last_run()["comparison"]["state"] == "partial"


def test_model_swapped_inside_a_configuration_is_compared_and_named(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    cli_workspace.configure("models:\n", "models:\n  model-b: {provider: main}\n")
    cli_workspace.configure("bot: {model: model-a}", "bot: {model: model-b}")

    result = run_with(cli_workspace, 8, GATE)

    assert result.exit == 1
    assert "model-b" in result.stdout
    assert cli_workspace.last_run()["comparison"]["state"] == "comparable"


def test_other_model_on_the_command_line_is_a_series_of_its_own(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)

    result = run_with(cli_workspace, 5, GATE, "--model", "model-b")

    assert result.exit == 0
    assert "bot" in result.stdout
    assert cli_workspace.last_run()["comparison"]["state"] == "baseline"


def test_trials_give_shares(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a", "a", "b"], wrong=["b"])

    result = cli_workspace.run("eval", "run", "two.smoke", "--trials", "2")

    assert result.exit == 0
    assert cli_workspace.last_run()["summary"]["pass_rate"] == 0.75


def test_served_model_that_changes_within_the_run_is_mixed(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.server.reply(to="Answer with a.", text="a", model="model-a-1")
    cli_workspace.server.reply(to="Answer with b.", text="b", model="model-a-2")

    result = cli_workspace.run("eval", "run", "two.smoke", GATE)

    assert result.exit == 1
    assert cli_workspace.last_run()["comparison"]["state"] == "mixed"
    assert cli_workspace.run("baseline", "accept", "latest").exit == 2


def test_baseline_file_is_read_once_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a", "b"])
    cli_workspace.run("eval", "run", "two.smoke")
    exported = cli_workspace.run("baseline", "export", "two.smoke").stdout
    cli_workspace.answer(right=["a"], wrong=["b"])
    reader, writer = os.pipe()  # as a shell gives it: --baseline <(git show main:baseline.json)
    os.write(writer, exported.encode())
    os.close(writer)

    result = cli_workspace.run(
        "eval", "run", "two.smoke", "--fail-on-regression", "--baseline", f"/dev/fd/{reader}"
    )
    os.close(reader)

    assert result.exit == 1
    assert "REGRESSION" in result.stdout


@pytest.mark.parametrize(
    "option", ["--baseline", "--model", "--provider", "--configuration", "--grader"]
)
def test_empty_name_is_refused(cli_workspace: CliWorkspace, option: str) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])

    result = cli_workspace.run("eval", "run", "two.smoke", option, "")

    assert result.exit == 2
    assert option in result.stderr
    assert cli_workspace.server.requests == []


def test_run_of_two_models_is_no_baseline_to_name(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["q1", "q2"])
    for prompt_id, model in (("q1", "model-a"), ("q2", "model-b")):
        cli_workspace.server.reply(to=f"with {prompt_id}.", text="no idea", model=model)
    mixed = cli_workspace.run("eval", "run", "two.smoke", "--format", "json").json["run"]["id"]
    cli_workspace.server.reset()

    result = cli_workspace.run("eval", "run", "two.smoke", GATE, "--baseline", mixed)

    assert result.exit == 2
    assert "mixed" in result.stderr
    assert cli_workspace.server.requests == []


def test_partial_run_is_no_baseline_of_a_whole_one(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    cli_workspace.answer(right=["q01"])
    cli_workspace.run("eval", "run", "ten.smoke", "--only", "q01")
    partial = cli_workspace.last_run()["run"]["id"]
    asked = len(cli_workspace.server.requests)

    whole = run_with(cli_workspace, 10, GATE, "--baseline", partial)

    assert whole.exit == 2
    assert len(cli_workspace.server.requests) == asked
    same = cli_workspace.run("eval", "run", "ten.smoke", "--only", "q01", "--baseline", partial)
    assert same.exit == 0


def test_baseline_that_is_not_there_names_those_that_are(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)

    wrong = cli_workspace.run("baseline", "show", "ten.smoke", "--grader", "decisoin")
    none = cli_workspace.run("baseline", "export", "ten.smok")

    assert (wrong.exit, none.exit) == (2, 2)
    assert "ten.smoke has no such baseline\nit has: bot (deterministic)" in wrong.stderr
    assert "ten.smok has no baseline in this history" in none.stderr


def test_list_of_a_set_without_runs_says_so(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("history", "list", "ten.smok")
    assert result.stdout == "No runs of ten.smok; `evalcli history list` shows those of all sets.\n"


def test_prune_counts_what_it_removes_and_keeps(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("ten.smoke", TEN)
    run_with(cli_workspace, 10)
    run_with(cli_workspace, 7)

    result = cli_workspace.run("history", "prune", "--older-than", "0h")

    assert result.stdout == "1 run removed; 1 older run kept for a baseline.\n"
