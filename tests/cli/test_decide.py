"""evalcli decide: one decision, from the words of a command to its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.decide import (
    PROFILE,
    SUBJECT_WORDS,
    add_judge,
    stored_decisions,
    write_profile,
)
from tests.support.decisions import LABELS, SYSTEM_ONE_ANSWERS, system_one_reply
from tests.support.server import ScriptedServer
from tests.support.workspace import CliWorkspace

_SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
_VALIDATOR = Draft202012Validator(
    json.loads((_SCHEMAS / "decision_report.schema.json").read_text(encoding="utf-8"))
)
DECIDE = ("decide", PROFILE, *SUBJECT_WORDS)


@pytest.fixture
def judge() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def workspace(cli_workspace: CliWorkspace, judge: ScriptedServer) -> CliWorkspace:
    add_judge(cli_workspace, judge)
    return cli_workspace


def says_no(judge: ScriptedServer, **fields: object) -> None:
    answers = {"yes_no": {"type": "noul", "noul": 0.25}}
    judge.reply(body=system_one_reply(answers, **fields))


# --- answers --------------------------------------------------------------------------------------


def test_table_says_what_was_answered_and_what_it_is_worth(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge.reply(body=system_one_reply())

    result = workspace.run(*DECIDE)

    assert result.exit == 0, result.output
    assert result.stdout.splitlines() == [
        "my_ext.rag_answer v1 · judge (jev-1.14.0, judge) · 318 tokens · $0.000013",
        "",
        "  verdict        revise      publish 0.31  revise 0.62  discard 0.07   confidence 0.43",
        "  supported      0.86        probability of yes",
        "  answers_task   1.72 of 2   0: 0.04  1: 0.20  2: 0.76                 confidence 0.61",
        "",
        "Probabilities are calibrated by the provider. They describe this answer, not how often it"
        " is right: measure thresholds on your own labels.",
    ]


def test_json_has_the_published_shape(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge.reply(body=system_one_reply())

    document = workspace.run(*DECIDE, "--format", "json").json

    _VALIDATOR.validate(document)
    decision = document["decision"]
    assert decision["answers"]["verdict"]["choice"] == "revise"
    assert decision["answers"]["supported"]["value"] == 0.86
    assert decision["probability_kind"] == "calibrated"
    assert (decision["input_tokens"], decision["cost_usd"]) == (318, "0.000013356")


def test_choice_that_was_not_offered_is_no_answer(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    verdict = {**SYSTEM_ONE_ANSWERS["verdict"], "choice": "approve"}
    judge.reply(body=system_one_reply({**SYSTEM_ONE_ANSWERS, "verdict": verdict}))

    result = workspace.run(*DECIDE)

    assert result.exit == 3
    assert all(word in result.stderr for word in ("INVALID_ANSWER", "verdict", "approve"))
    assert result.stdout == ""


def test_note_on_a_moving_alias_is_told(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    workspace.configure("  jev-1.14.0: {provider", "  jev-latest: {provider")
    workspace.configure("judge: {model: jev-1.14.0}", "judge: {model: jev-latest}")
    judge.reply(body=system_one_reply())

    assert "jev-latest" in workspace.run(*DECIDE).stderr


# --- the subject ----------------------------------------------------------------------------------


def test_texts_come_from_files_and_stdin(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    workspace.write("task.txt", "Name the höurs.\n")
    says_no(judge)
    words = ("--yes-no", "So?", "--task", "@task.txt", "--candidate", "-", "--evidence", "@@home")

    done = subprocess.run(
        [sys.executable, "-m", "evalcli", "decide", *words],
        cwd=workspace.folder,
        env={**os.environ, **workspace.environ},
        input=b"Piped in.",
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    state = json.dumps(judge.requests[0].body["state"], ensure_ascii=False)
    assert all(text in state for text in ("Name the höurs.", "Piped in.", "@home"))
    assert "@@home" not in state


def test_subject_comes_from_a_file(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    subject = {"task": "T-1", "candidate": "", "evidence": ["E-1", "E-2"]}
    workspace.write("subject.json", json.dumps(subject))
    judge.reply(body=system_one_reply())

    result = workspace.run("decide", PROFILE, "--subject", "subject.json")

    assert result.exit == 0, result.output
    state = json.dumps(judge.requests[0].body["state"])
    assert all(text in state for text in ("T-1", "E-1", "E-2"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is no subject"),
        ("{", "is no JSON"),
        ('{"candidat": "x"}', 'write "candidate"'),
        ('{"task": 3}', "task is no text"),
        ('{"evidence": "x"}', "evidence is no list"),
        ('{"evidence": ["x", null]}', "evidence[1] is no text"),
        ('{"task": "a", "task": "b"}', "twice"),
    ],
)
def test_file_that_is_no_subject_is_refused(
    workspace: CliWorkspace, judge: ScriptedServer, text: str, said: str
) -> None:
    workspace.write("subject.json", text)

    result = workspace.run("decide", PROFILE, "--subject", "subject.json")

    assert (result.exit, judge.requests) == (2, [])
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--task", "-", "--candidate", "-"), "both read stdin"),
        (("--task", "@missing.txt"), "missing.txt cannot be read"),
        (("--subject", "s.json", "--task", "x"), "goes with none of"),
        (("--yes-no", "So?"), "has questions of its own"),
        (("--option", "a"), "has questions of its own"),
        (("--data-class", "secret"), "is no class of data"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    workspace: CliWorkspace, judge: ScriptedServer, words: tuple[str, ...], said: str
) -> None:
    result = workspace.run("decide", PROFILE, *words)

    assert (result.exit, judge.requests) == (2, [])
    assert said in result.stderr


# --- failures -------------------------------------------------------------------------------------


def test_missing_field_is_named_before_anything_is_sent(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    result = workspace.run("decide", PROFILE, "--task", "x")

    assert (result.exit, judge.requests) == (2, [])
    assert "MISSING_SUBJECT_FIELD" in result.stderr
    assert "candidate and evidence" in result.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("decide", "acme.nothing"), "UNKNOWN_PROFILE"),
        ((*DECIDE, "--configuration", "nobody"), "UNKNOWN_CONFIGURATION"),
        ((*DECIDE, "--data-class", "secret_adjacent"), "DATA_CLASS_NOT_PERMITTED"),
    ],
)
def test_refusal_has_its_code_in_json(
    workspace: CliWorkspace, judge: ScriptedServer, words: tuple[str, ...], code: str
) -> None:
    result = workspace.run(*words, "--format", "json")

    assert (result.exit, judge.requests) == (2, [])
    assert result.json["error"]["code"] == code


def test_no_configuration_is_never_that_of_runs(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure("decision: {configuration: judge}\n", "")

    result = workspace.run(*DECIDE)

    assert (result.exit, judge.requests, workspace.server.requests) == (2, [], [])
    assert "NO_CONFIGURATION" in result.stderr


def test_outage_is_a_failure_and_is_kept(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge.reply(status=503, body={"detail": "overloaded"})

    result = workspace.run(*DECIDE)

    assert result.exit == 3
    assert "FAILED" in result.stderr
    (row,) = stored_decisions(workspace)
    assert (row["error_code"], row["answers"], row["tries"]) == ("FAILED", None, 1)


def test_retry_is_a_line_on_request(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    workspace.configure('"tries": 1', '"tries": 2, "delay_s": 0')
    said = []
    for words in ((), ("-v",)):
        judge.reply(status=503, body={"detail": "overloaded"})
        judge.reply(body=system_one_reply())
        said.append(workspace.run(*DECIDE, *words))

    quiet, verbose = said
    assert [quiet.exit, verbose.exit] == [0, 0]
    assert quiet.stderr == ""
    assert verbose.stderr.startswith('judge said 503 "overloaded"; try 2 in ')
    assert verbose.stderr.count("\n") == 1


def test_fallback_that_answers_in_another_way_is_told_of(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure("{model: jev-1.14.0}", "{model: jev-1.14.0, fallback: [bot]}")
    judge.reply(status=503, body={"detail": "overloaded"})
    workspace.server.reply(text=LABELS)

    result = workspace.run(*DECIDE, "-v")

    assert result.exit == 0, result.output
    assert 'judge said 503 "overloaded"; asking the fallback main' in result.stderr
    assert "served by a fallback" in result.stdout


# --- thresholds of the caller ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "status"),
    [
        ("supported>=0.86", 0),
        ("supported>0.86", 1),
        ("supported >= 0.87", 1),
        ("answers_task<=1.72", 0),
        ("answers_task<1.72", 1),
        ("verdict=revise", 0),
        ("verdict==publish", 1),
        ("verdict!=discard", 0),
    ],
)
def test_requirement_is_the_exit_status(
    workspace: CliWorkspace, judge: ScriptedServer, requirement: str, status: int
) -> None:
    judge.reply(body=system_one_reply())

    result = workspace.run(*DECIDE, "--require", requirement)

    assert result.exit == status
    assert ("NOT MET" in result.stdout) is (status == 1)


def test_one_of_two_requirements_is_enough_to_fail(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge.reply(body=system_one_reply())
    words = ("--require", "supported>=0.9", "--require", "verdict=revise", "--format", "json")

    document = workspace.run(*DECIDE, *words).json

    _VALIDATOR.validate(document)
    assert [one["is_met"] for one in document["requirements"]] == [False, True]
    assert document["exit_status"] == 1


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("supported", "has no such form"),
        ("suported>=0.8", 'no question "suported"'),
        ("supported>=1.1", "no number from 0 to 1"),
        ("supported>=nan", "no number from 0 to 1"),
        ("answers_task>=3", "no number from 0 to 2"),
        ("supported=1", "answered by a number"),
        ("verdict>=0.5", "answered by an option"),
        ("verdict=approve", "no option of verdict"),
    ],
)
def test_requirement_that_cannot_be_judged_is_refused_first(
    workspace: CliWorkspace, judge: ScriptedServer, requirement: str, said: str
) -> None:
    result = workspace.run(*DECIDE, "--require", requirement)

    assert (result.exit, judge.requests) == (2, [])
    assert said in result.stderr


# --- the history ----------------------------------------------------------------------------------


def test_decision_is_kept_with_its_subject(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge.reply(body=system_one_reply())

    workspace.run(*DECIDE)

    (row,) = stored_decisions(workspace)
    assert (row["profile"], row["version"], row["configuration"]) == (PROFILE, 1, "judge")
    assert (row["operation"], row["reported_model"]) == ("decision", "jev-1.14.0")
    assert json.loads(row["answers"])["verdict"]["choice"] == "revise"
    assert json.loads(row["subject"])["candidate"] == "Nine to five."


def test_metadata_keeps_no_text_of_the_subject(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure("eval:", "history: {content: metadata}\neval:")
    judge.reply(body=system_one_reply())

    workspace.run(*DECIDE)

    (row,) = stored_decisions(workspace)
    assert (row["subject"], row["error_message"]) == (None, None)
    stored = (workspace.folder / ".evalcli" / "history.db").read_bytes()
    assert b"Nine to five." not in stored


def test_no_store_makes_no_history(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge.reply(body=system_one_reply())

    assert workspace.run(*DECIDE, "--no-store").exit == 0
    assert not (workspace.folder / ".evalcli").exists()


def test_single_decision_does_not_pin_its_profile(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    judge.reply(body=system_one_reply())
    workspace.run(*DECIDE)
    write_profile(
        workspace, questions={"supported": {"type": "yes_no", "instructions": "Is it so?"}}
    )
    judge.reply(body=system_one_reply({"supported": {"type": "noul", "noul": 0.5}}))

    assert workspace.run(*DECIDE).exit == 0


def test_prune_removes_old_decisions(workspace: CliWorkspace, judge: ScriptedServer) -> None:
    judge.reply(body=system_one_reply())
    workspace.run(*DECIDE)

    kept = workspace.run("history", "prune", "--older-than", "1h")
    planned = workspace.run("history", "prune", "--older-than", "0h", "--dry-run")
    assert "outside of runs" not in kept.stdout
    assert "1 decision outside of runs would be removed" in planned.stdout
    assert len(stored_decisions(workspace)) == 1

    workspace.run("history", "prune", "--older-than", "0h")
    assert stored_decisions(workspace) == []


# --- without a profile ----------------------------------------------------------------------------


def test_ad_hoc_question_is_shown_and_judged(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    says_no(judge)

    result = workspace.run(
        "decide", "--yes-no", "Is it polite?", "--candidate", "Go!", "--require", "yes_no>=0.5"
    )

    assert result.exit == 1
    assert "ad hoc · judge" in result.stdout
    assert "Is it polite?" in result.stdout
    assert "NOT MET  yes_no>=0.5: yes_no is 0.25" in result.stdout


def test_ad_hoc_choice_and_score_go_in_one_request(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    answers = {
        "choice": {"type": "choice", "choice": "1"},
        "score": {"type": "score", "score": 0.5},
    }
    judge.reply(body=system_one_reply(answers))
    words = ("--choice", "Which?", "--option", "0", "--option", "1", "--score", "How?")

    result = workspace.run(
        "decide", *words, "--level", "bad", "--level", "good", "--candidate", "x"
    )

    assert result.exit == 0, result.output
    assert len(judge.requests) == 1


def test_ad_hoc_question_about_nothing_is_refused(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    result = workspace.run("decide", "--yes-no", "Is it polite?")

    assert (result.exit, judge.requests) == (2, [])
    assert "there is nothing to decide about" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing is asked"),
        (("--option", "a"), "--option belongs to --choice"),
        (("--level", "a"), "--level belongs to --score"),
        (("--choice", "Which?", "--option", "a"), "needs 2 to 255"),
        (("--choice", "Which?", "--option", "a", "--option", "a"), "twice"),
        (("--score", "How?", "--level", "a"), "needs 2 to 10"),
        (("--yes-no", ""), "--yes-no"),
    ],
)
def test_ad_hoc_question_without_its_parts_is_refused(
    workspace: CliWorkspace, judge: ScriptedServer, words: tuple[str, ...], said: str
) -> None:
    result = workspace.run("decide", *words, "--candidate", "x")

    assert (result.exit, judge.requests) == (2, [])
    assert said in result.stderr
