"""evalcli eval run --grader decision, eval regrade, --regrade-baseline: a judge on the wire."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

import pytest

from tests.support.server import ScriptedServer
from tests.support.workspace import CliWorkspace

GATE = "--fail-on-regression"
RUN = ("eval", "run", "two.smoke", "--grader", "decision")
SET = """\
kind: prompts
identifier: two.smoke
name: Example
prompts:
  - {id: a, prompt: Answer with a., reference: The letter a., assertions: [{contains: a}]}
  - {id: b, prompt: Answer with b., system: Be brief., reference: The letter b.}
"""


@pytest.fixture
def judge() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def workspace(cli_workspace: CliWorkspace, judge: ScriptedServer) -> CliWorkspace:
    cli_workspace.environ["JUDGE_KEY"] = "key-judge-0000"
    cli_workspace.configure(
        "models:\n",
        f"  judge: {{type: typesafe, base_url: '{judge.url}/v1', api_key: env:JUDGE_KEY,"
        " retry: {tries: 1}}\n"
        "models:\n  judge-a: {provider: judge, capabilities: [decision]}\n",
    )
    cli_workspace.configure("configurations:\n", "configurations:\n  judge: {model: judge-a}\n")
    cli_workspace.configure("eval:", "decision: {configuration: judge}\neval:")
    cli_workspace.write("sets/two.yaml", SET)
    cli_workspace.server.reply(to="Answer with a.", text="answer-a", repeat=True)
    cli_workspace.server.reply(to="Answer with b.", text="answer-b", repeat=True)
    return cli_workspace


def judge_says(
    judge: ScriptedServer,
    candidate: str,
    level: float,
    *,
    model: str = "judge-a-1",
    repeat: bool = False,
) -> None:
    body = {
        "model": model,
        "answers": {"fulfilment": {"type": "score", "score": level}},
        "usage": {"input_tokens": 50, "output_tokens": 0},
    }
    judge.reply(to=candidate, body=body, repeat=repeat)


def judge_fails(judge: ScriptedServer, candidate: str) -> None:
    judge.reply(to=candidate, status=503, body={"detail": "overloaded"})


def test_judge_sees_task_system_answer_and_reference(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 2)

    result = workspace.run(*RUN)

    assert result.exit == 0, result.output
    states = {json.dumps(request.body["state"]) for request in judge.requests}
    assert any("Answer with b." in s and "Be brief." in s and "The letter b." in s for s in states)
    document = workspace.last_run()
    assert document["run"]["grader"] == "decision:judge:judge-a-1:v1"
    scores = {row["id"]: (row["score"], row["passed"]) for row in document["prompts"]}
    assert scores == {"a": (1.0, True), "b": (0.5, False)}


def test_score_passes_from_exactly_six_tenths(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 2.4)
    judge_says(judge, "answer-b", 2.39)

    workspace.run(*RUN)

    rows = {row["id"]: row["passed"] for row in workspace.last_run()["prompts"]}
    assert rows == {"a": True, "b": False}


def test_failed_decision_is_not_graded_and_only_it_is_resumed(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_fails(judge, "answer-b")

    failed = workspace.run(*RUN, GATE)

    assert failed.exit == 3
    document = workspace.last_run()
    assert document["run"]["grader"] == "decision"
    assert document["summary"]["not_graded"] == 1
    assert {row["id"]: row["state"] for row in document["prompts"]} == {
        "a": "graded",
        "b": "not_graded",
    }
    chats, decisions = len(workspace.server.requests), len(judge.requests)
    judge_says(judge, "answer-b", 4)

    resumed = workspace.run(*RUN, "--resume", document["run"]["id"])

    assert resumed.exit == 0, resumed.output
    assert len(workspace.server.requests) == chats
    assert len(judge.requests) == decisions + 1
    assert workspace.last_run()["run"]["grader"] == "decision:judge:judge-a-1:v1"


def test_reason_of_a_failed_decision_has_its_code_once(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge.reply(status=401, body={"detail": "unknown"}, repeat=True)

    result = workspace.run(*RUN)

    assert result.stdout.count("REJECTED") == 1
    assert 'not graded: REJECTED: judge said 401 "unknown"' in result.stdout


def test_kind_of_grader_names_its_baseline(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4)
    workspace.run(*RUN)
    workspace.run("eval", "run", "two.smoke")

    result = workspace.run("baseline", "export", "two.smoke", "--grader", "decision")

    assert result.exit == 0, result.output
    assert result.json["grader"] == "decision:judge:judge-a-1:v1"


def test_all_decisions_failed(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge_fails(judge, "answer-a")
    judge_fails(judge, "answer-b")

    assert workspace.run(*RUN).exit == 3
    assert workspace.last_run()["run"]["grader"] == "decision:failed"


def test_judge_that_changes_in_the_middle_is_mixed(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4, model="judge-a-2")

    assert workspace.run(*RUN, GATE).exit == 1
    document = workspace.last_run()
    assert document["run"]["grader"] == "decision"
    assert document["comparison"]["state"] == "mixed"


def test_judge_that_changed_between_runs_is_a_mismatch_until_regraded(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4)
    assert workspace.run(*RUN, GATE).exit == 0
    judge_says(judge, "answer-a", 4, model="judge-a-2", repeat=True)
    judge_says(judge, "answer-b", 4, model="judge-a-2", repeat=True)

    changed = workspace.run(*RUN, GATE)
    again = workspace.run(*RUN, GATE)

    assert (changed.exit, again.exit) == (1, 1)
    assert workspace.last_run()["comparison"]["state"] == "mismatch"
    assert "--regrade-baseline" in changed.stdout

    chats = len(workspace.server.requests)
    regraded = workspace.run(*RUN, GATE, "--regrade-baseline")

    assert regraded.exit == 0, regraded.output
    assert workspace.last_run()["comparison"]["state"] == "comparable"
    assert len(workspace.server.requests) == chats + 2
    assert workspace.run(*RUN, GATE).exit == 0


def test_failed_regrading_leaves_the_baseline_and_asks_nothing(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4)
    workspace.run(*RUN)
    before = workspace.run("baseline", "export", "two.smoke").stdout
    chats = len(workspace.server.requests)
    judge_fails(judge, "answer-a")
    judge_fails(judge, "answer-b")

    result = workspace.run(*RUN, "--regrade-baseline")

    assert result.exit == 3
    assert len(workspace.server.requests) == chats
    assert workspace.run("baseline", "export", "two.smoke").stdout == before


def test_judge_that_changes_while_it_regrades_leaves_the_baseline(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4)
    workspace.run(*RUN)
    before = workspace.run("baseline", "export", "two.smoke").stdout
    chats = len(workspace.server.requests)
    judge_says(judge, "answer-a", 4, model="judge-a-2")
    judge_says(judge, "answer-b", 4, model="judge-a-3")

    result = workspace.run(*RUN, GATE, "--regrade-baseline")

    assert result.exit == 3
    assert "decision:judge:judge-a-2:v1" in result.stderr
    assert "decision:judge:judge-a-3:v1" in result.stderr
    assert len(workspace.server.requests) == chats
    assert workspace.run("baseline", "export", "two.smoke").stdout == before


@pytest.mark.parametrize("grader", ["decision", "deterministic"])
def test_regrading_where_every_prompt_was_changed_compares_nothing(
    workspace: CliWorkspace, judge: ScriptedServer, grader: str
) -> None:
    judge_says(judge, "answer-a", 4, repeat=True)
    judge_says(judge, "answer-b", 4, repeat=True)
    words = ("eval", "run", "two.smoke", "--grader", grader, GATE)
    assert workspace.run(*words).exit == 0
    other = SET.replace("Answer with", "Again. Answer with").replace("contains: a", "contains: an")
    workspace.write("sets/two.yaml", other)

    result = workspace.run(*words, "--regrade-baseline")

    assert result.exit == 1, result.output
    assert workspace.last_run()["comparison"]["state"] == "mismatch"


def test_changed_assertions_are_comparable_after_regrading(workspace: CliWorkspace) -> None:
    words = ("eval", "run", "two.smoke", GATE)
    assert workspace.run(*words).exit == 0
    workspace.write("sets/two.yaml", SET.replace("contains: a", "contains: answer"))

    changed = workspace.run(*words)
    regraded = workspace.run(*words, "--regrade-baseline")

    assert changed.exit == 1
    assert "--regrade-baseline" in changed.stdout
    assert regraded.exit == 0
    assert workspace.last_run()["comparison"]["state"] == "comparable"


def test_what_grading_the_baseline_again_made_of_it_is_said(workspace: CliWorkspace) -> None:
    words = ("eval", "run", "two.smoke", GATE)
    assert workspace.run(*words).exit == 0
    before = workspace.last_run()["run"]["id"]
    workspace.write("sets/two.yaml", SET.replace("contains: a", "contains: nowhere"))

    regraded = workspace.run(*words, "--regrade-baseline", columns=400)

    assert regraded.exit == 0
    document = workspace.last_run()
    again = document["baseline"]["run_id"]
    said = (
        f"The baseline {before} was graded again ({again}), and that is compared with: "
        "pass rate 100.0 % → 0.0 %, mean score 1.000 → 0.000 over 1 prompt; lower now: a."
    )
    assert said in regraded.stdout
    assert document["notes"] == [said]


def test_regrade_stores_a_new_run_that_can_be_accepted(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    assert workspace.run("eval", "run", "two.smoke").exit == 0
    first = workspace.last_run()["run"]["id"]
    judge_says(judge, "answer-a", 3)

    result = workspace.run("eval", "regrade", first, "--grader", "decision")

    assert result.exit == 0, result.output
    assert len(workspace.server.requests) == 1
    document = workspace.last_run()
    assert document["run"]["regraded_from"] == first
    assert document["prompts"][0]["score"] == 0.75
    assert workspace.run("baseline", "show", "two.smoke", "--grader", "decision").exit == 2
    assert workspace.run("baseline", "accept", "latest").exit == 0


def test_regrade_that_failed_says_how_to_go_on(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    assert workspace.run("eval", "run", "two.smoke").exit == 0
    source = workspace.last_run()["run"]["id"]
    judge_fails(judge, "answer-a")

    result = workspace.run("eval", "regrade", source, "--grader", "decision")
    resumed = workspace.run("eval", "run", "two.smoke", "--resume", "latest")

    command = f"evalcli eval regrade {source} --grader decision"
    assert result.exit == 3
    assert f"`{command}` grades the answers of run {source} again" in result.stdout
    assert resumed.exit == 2
    assert f"regrade again: `{command}`" in resumed.stderr
    judge_says(judge, "answer-a", 4)
    assert workspace.run(*command.split()[1:]).exit == 0


def test_regrade_shows_the_judge_what_the_call_ran_with(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure("bot: {model: model-a}", "bot: {model: model-a, system: Be polite.}")
    workspace.write("sets/two.yaml", SET.replace("system: Be brief.", "system: ''"))
    judge_says(judge, "answer-a", 4, repeat=True)
    judge_says(judge, "answer-b", 4, repeat=True)
    workspace.run(*RUN)
    asked = sorted(json.dumps(request.body) for request in judge.requests)
    judge.requests.clear()

    assert workspace.run("eval", "regrade", "latest").exit == 0

    assert sorted(json.dumps(request.body) for request in judge.requests) == asked
    assert ["Be polite." in body for body in asked].count(True) == 1


def test_regrade_without_kept_texts_says_why(workspace: CliWorkspace) -> None:
    workspace.configure("eval:", "history: {content: metadata}\neval:")
    assert workspace.run("eval", "run", "two.smoke").exit == 0

    result = workspace.run("eval", "regrade", "latest")

    assert result.exit == 2
    assert "not kept" in result.output


def test_refusal_without_text_is_not_judged(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    workspace.server.reset()
    workspace.server.reply(to="Answer with a.", text="answer-a")
    workspace.server.reply(
        to="Answer with b.",
        body={
            "model": "model-a",
            "choices": [{"finish_reason": "stop", "message": {"content": None, "refusal": " "}}],
        },
    )
    judge_says(judge, "answer-a", 4)

    result = workspace.run(*RUN)

    assert result.exit == 0, result.output
    document = workspace.last_run()
    assert document["run"]["grader"] == "decision:judge:judge-a-1:v1"
    assert document["summary"]["pass_rate"] == 0.5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("decision: {configuration: judge}", ""), "NO_CONFIGURATION"),
        (("configuration: judge}", "configuration: jugde}"), "unknown configuration"),
        (("capabilities: [decision]", "capabilities: [embedding]"), "MODEL_CANNOT_DECIDE"),
        (("env:JUDGE_KEY", "env:NO_SUCH_KEY"), "NO_SUCH_KEY"),
    ],
)
def test_judge_is_checked_before_the_first_completion(
    workspace: CliWorkspace, change: tuple[str, str], told: str
) -> None:
    workspace.configure(*change)

    result = workspace.run(*RUN)

    assert result.exit == 2
    assert told in result.output
    assert workspace.server.requests == []


def test_class_that_the_judge_may_not_see_is_refused_before_the_first_completion(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure("type: openai", "type: openai\n    trust_zone: local")
    workspace.write("sets/two.yaml", SET.replace("name:", "data_class: source_code\nname:"))

    result = workspace.run(*RUN)

    assert result.exit == 2
    assert "DATA_CLASS_NOT_PERMITTED" in result.output
    assert workspace.server.requests == judge.requests == []


@pytest.mark.parametrize(
    ("zone", "data_class"),
    [
        ("external_global", "source_code"),
        ("external_eu", "system_diagnostics"),
        ("private_hosted", "secret_adjacent"),
    ],
)
@pytest.mark.parametrize("is_fallback", [False, True], ids=["judge", "fallback"])
def test_class_above_the_ceiling_of_the_judge_s_zone_is_refused(
    workspace: CliWorkspace, judge: ScriptedServer, zone: str, data_class: str, is_fallback: bool
) -> None:
    workspace.configure("type: openai", "type: openai\n    trust_zone: local")
    if is_fallback:
        workspace.configure("type: typesafe,", "type: typesafe, trust_zone: local,")
        workspace.configure("{model: judge-a}", "{model: judge-a, fallback: [far]}")
    else:
        workspace.configure("decision: {configuration: judge}", "decision: {configuration: far}")
    far = f"{{type: typesafe, base_url: '{judge.url}/v1', trust_zone: {zone}}}"
    workspace.configure("models:\n", f"  far: {far}\nmodels:\n  judge-far: {{provider: far}}\n")
    workspace.configure("configurations:\n", "configurations:\n  far: {model: judge-far}\n")
    workspace.write("sets/two.yaml", SET.replace("name:", f"data_class: {data_class}\nname:"))

    result = workspace.run(*RUN)

    assert result.exit == 2
    assert 'DATA_CLASS_NOT_PERMITTED: provider "far"' in result.output
    assert workspace.server.requests == judge.requests == []


def test_judge_for_a_grader_without_one_is_refused(workspace: CliWorkspace) -> None:
    result = workspace.run("eval", "run", "two.smoke", "--grader-configuration", "judge")

    assert result.exit == 2
    assert "--grader decision" in result.output


def test_judge_s_calls_are_in_the_history(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge_says(judge, "answer-a", 4)
    judge_says(judge, "answer-b", 4)
    workspace.run(*RUN)
    connection = sqlite3.connect(workspace.folder / ".evalcli" / "history.db")
    rows = connection.execute(
        "SELECT grading_call ->> '$.operation', grading_call ->> '$.usage.input_tokens' FROM trials"
    ).fetchall()
    connection.close()

    assert rows == [("decision", 50), ("decision", 50)]


@pytest.mark.slow
def test_local_model_judges_its_own_answers(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("evalcli.yaml", "decision: {configuration: local}\n")

    result = cli_workspace.run("eval", "run", "nr.smoke", "--grader", "decision")

    assert result.exit == 0, result.output
    document = cli_workspace.last_run()
    assert document["run"]["grader"].startswith("decision:local:")
    assert all(0 <= row["score"] <= 1 for row in document["prompts"])


def test_regrading_asks_who_judged_before(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge_says(judge, "answer-a", 3, repeat=True)
    judge_says(judge, "answer-b", 3, repeat=True)
    text = (workspace.folder / "evalcli.yaml").read_text(encoding="utf-8")
    workspace.write("evalcli.yaml", text.replace("decision: {configuration: judge}", ""))
    assert workspace.run(*RUN, "--grader-configuration", "judge").exit == 0

    first = workspace.run("eval", "regrade", "latest")
    again = workspace.run("eval", "regrade", "latest")

    assert (first.exit, again.exit) == (0, 0), first.output + again.output
    assert workspace.last_run()["run"]["grader"].startswith("decision:judge:")
