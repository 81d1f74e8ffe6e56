"""evalcli eval run: what is asked, what counts as an answer, what is refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.workspace import KEY, CliWorkspace, run_command

GATE = "--fail-on-regression"


def reply_body(**message: Any) -> dict[str, object]:
    finish = message.pop("finish", "stop")
    return {
        "id": "r-1",
        "object": "chat.completion",
        "model": "model-a",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 512, "total_tokens": 532},
    }


def prompt_of(document: Any, prompt_id: str) -> Any:
    return next(row for row in document["prompts"] if row["id"] == prompt_id)


def test_request_holds_what_was_declared(cli_workspace: CliWorkspace) -> None:
    cli_workspace.configure(
        "bot: {model: model-a}",
        "bot: {model: model-a, system: Be brief., temperature: 0, max_output_tokens: 40, seed: 7}",
    )
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.answer(right=["a", "a"])

    assert cli_workspace.run("eval", "run", "one.smoke", "--trials", "2").exit == 0

    first, second = sorted((r.body for r in cli_workspace.server.requests), key=lambda b: b["seed"])
    assert first["model"] == "model-a"
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Answer with a."},
    ]
    assert first["temperature"] == 0
    assert (first["seed"], second["seed"]) == (7, 8)
    assert cli_workspace.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_system_option_replaces_the_base_and_yields_to_the_prompt(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write(
        "sets/two.yaml",
        """\
kind: prompts
identifier: two.smoke
name: Example
prompts:
  - {id: a, prompt: Answer with a., assertions: [{contains: a}]}
  - {id: b, prompt: Answer with b., system: Own., assertions: [{contains: b}]}
""",
    )
    cli_workspace.write("base.txt", "From a file.")
    cli_workspace.answer(right=["a", "b"])

    assert cli_workspace.run("eval", "run", "two.smoke", "--system", "@base.txt").exit == 0

    systems = {r.user_text: r.body["messages"][0]["content"] for r in cli_workspace.server.requests}
    assert systems == {"Answer with a.": "From a file.", "Answer with b.": "Own."}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nope.smoke",), "one.smoke"),
        (("one.smoke", "--configuration", "bott"), 'write "bot"'),
        (("one.smoke", "--provider", "mian", "--model", "m"), 'write "main"'),
        (("one.smoke", "--grader", "exact"), "deterministic"),
        (("one.smoke", "--grader", "llm_judge"), "--grader decision"),
        (("one.smoke", "--only", "b"), 'no prompt "b"'),
        (("one.smoke", "--trials", "0"), "1 to 1000"),
        (("one.smoke", "--concurrency", "0"), "1 to 1024"),
        (("one.smoke", "--max-pass-rate-drop", "1.01"), "from 0 to 1"),
        (("one.smoke", "--max-pass-rate-drop", "nan"), "from 0 to 1"),
        (("one.smoke", "--min-pass-rate", "inf"), "from 0 to 1"),
        (("one.smoke", "--min-mean-score", "much"), "from 0 to 1"),
        (("one.smoke", "--system", "@missing.txt"), "missing.txt"),
        (("one.smoke", "--junit", "no/such/folder/r.xml"), "--junit"),
        (("one.smoke", "--resume", "abcd1234"), "abcd1234"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_spent(
    cli_workspace: CliWorkspace, words: tuple[str, ...], told: str
) -> None:
    cli_workspace.write_set("one.smoke", ["a"])

    result = cli_workspace.run("eval", "run", *words)

    assert result.exit == 2
    assert told in result.output
    assert "Traceback" not in result.output
    assert cli_workspace.server.requests == []
    assert cli_workspace.run_count() == 0


def test_missing_key_is_found_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    del cli_workspace.environ["MAIN_KEY"]

    result = cli_workspace.run("eval", "run", "one.smoke")

    assert result.exit == 2
    assert "MAIN_KEY" in result.output
    assert cli_workspace.server.requests == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (reply_body(content="", finish="length"), "token limit"),
        (reply_body(content=""), "empty"),
        (reply_body(content="  \n"), "empty"),
        (reply_body(content=None), "empty"),
        (reply_body(content="<think>hm, an answer without end"), "only reasoning"),
        (reply_body(content="<think>hm</think>"), "only reasoning"),
        (reply_body(content="half of", finish="content_filter"), "blocked"),
        (
            reply_body(
                content=None,
                finish="tool_calls",
                tool_calls=[
                    {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            ),
            "tool call",
        ),
        ({"model": "model-a", "choices": []}, "main"),
        ({"error": {"message": "Upstream is away."}}, "Upstream is away."),
    ],
)
def test_answer_that_cannot_be_graded_is_unmeasured(
    cli_workspace: CliWorkspace, body: dict[str, object], told: str
) -> None:
    cli_workspace.write(
        "sets/calm.yaml",
        """\
kind: prompts
identifier: calm.smoke
name: Example
prompts:
  - {id: tone, prompt: Answer calmly., assertions: [{regex: '^[^!]*$'}]}
""",
    )
    cli_workspace.server.reply(body=body, repeat=True)

    result = cli_workspace.run("eval", "run", "calm.smoke", GATE)

    assert result.exit == 3
    assert "tone" in result.stdout
    assert told in result.stdout
    document = cli_workspace.last_run()
    assert document["run"]["status"] == "incomplete"
    assert prompt_of(document, "tone")["passed"] is None
    assert document["comparison"]["state"] == "not_compared"
    assert document["summary"]["pass_rate"] is None
    assert cli_workspace.run("baseline", "show", "calm.smoke").exit == 2


def test_refusal_is_an_answer_and_is_named(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["answer"])
    cli_workspace.server.reply(body=reply_body(content=None, refusal="I would rather not."))

    result = cli_workspace.run("eval", "run", "one.smoke")

    assert result.exit == 0
    assert "refused" in result.stdout
    assert "I would rather not." in result.stdout
    row = prompt_of(cli_workspace.last_run(), "answer")
    assert (row["passed"], row["is_refused"]) == (False, True)


def test_cut_off_answer_is_graded_and_named(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.server.reply(body=reply_body(content="a and the", finish="length"))

    result = cli_workspace.run("eval", "run", "one.smoke")

    assert result.exit == 0
    assert "cut off" in result.stdout
    assert prompt_of(cli_workspace.last_run(), "a")["passed"] is True


def test_leading_reasoning_is_no_part_of_the_answer(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "sets/one.yaml",
        """\
kind: prompts
identifier: one.smoke
name: Example
prompts:
  - {id: a, prompt: Answer with a., assertions: [{exact: a}, {not: {contains: maybe}}]}
""",
    )
    cli_workspace.server.reply(body=reply_body(content="\n<think>maybe b</think>\n\na"))

    assert cli_workspace.run("eval", "run", "one.smoke").exit == 0
    assert prompt_of(cli_workspace.last_run(), "a")["passed"] is True


def test_outage_is_neither_green_nor_red(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a", "b"])
    cli_workspace.run("eval", "run", "two.smoke")
    cli_workspace.server.close()

    result = cli_workspace.run("eval", "run", "two.smoke", GATE)

    assert result.exit == 3
    assert "main" in result.output
    for word in ("No regression", "Traceback", "Regression:"):
        assert word not in result.output
    assert "incomplete" in cli_workspace.run("history", "list").stdout


def test_partial_outage_keeps_what_was_measured(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("three.smoke", ["a", "b", "c"])
    cli_workspace.answer(right=["a", "c"])
    cli_workspace.server.reply(
        to="Answer with b.",
        status=503,
        body={"error": {"message": "The service is overloaded."}},
        repeat=True,
    )

    result = cli_workspace.run("eval", "run", "three.smoke", "--format", "json")

    assert result.exit == 3
    document = result.json
    assert [row["passed"] for row in document["prompts"]] == [True, None, True]
    assert document["summary"]["pass_rate"] is None
    assert document["exit_status"] == 3
    assert "503" in prompt_of(document, "b")["error"]["message"]
    assert "The service is overloaded." in prompt_of(document, "b")["error"]["message"]
    assert len([r for r in cli_workspace.server.requests if "with b." in r.user_text]) == 3


def test_key_in_a_provider_error_is_shown_and_stored_nowhere(cli_workspace: CliWorkspace) -> None:
    cli_workspace.environ["MAIN_KEY"] = "key-main-4711"
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.server.reply(
        status=401,
        body={
            "error": {
                "message": "Incorrect API key provided: key-main-4711. Check your key.",
                "code": "invalid_api_key",
            }
        },
        repeat=True,
    )

    shown = [
        cli_workspace.run("eval", "run", "two.smoke"),
        cli_workspace.run("eval", "run", "two.smoke", "--format", "json"),
        cli_workspace.run("history", "show", "latest"),
    ]

    assert [result.exit for result in shown] == [3, 3, 0]
    assert "Incorrect API key provided" in shown[0].output
    assert "401" in shown[0].output
    assert not any("key-main-4711" in result.output for result in shown)
    assert len(cli_workspace.server.requests) == 4
    for path in (cli_workspace.folder / ".evalcli").rglob("*"):
        if path.is_file():
            assert b"key-main-4711" not in path.read_bytes()


def test_hostile_answer_is_shown_as_text(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["OK"])
    hostile = "[bold]no[/bold] [/INST] [red]x \x1b[31mred\x1b[0m \u202egnp.exe \x07"
    cli_workspace.server.reply(text=hostile)

    ran = cli_workspace.run("eval", "run", "one.smoke", columns=120)
    shown = cli_workspace.run("history", "show", "latest", columns=120)

    assert ran.exit == shown.exit == 0
    assert "[bold]no[/bold] [/INST] [red]x" in shown.stdout
    for text in (ran.output, shown.output):
        assert not any(char in text for char in "\x1b\u202e\x07")
    assert prompt_of(cli_workspace.last_run(), "OK")["answer"] == hostile


@pytest.mark.parametrize("answer", ["\ud800 lone", "nul \x00 byte", "🛟" * 50, "\r\n\t"])
def test_any_text_is_stored_and_read_back(cli_workspace: CliWorkspace, answer: str) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    text = f"a{answer}"
    cli_workspace.server.reply(raw=json.dumps(reply_body(content=text)).encode("ascii"))

    result = cli_workspace.run("eval", "run", "one.smoke", "--format", "json")

    assert result.exit == 0
    assert prompt_of(result.json, "a")["answer"] == text
    assert prompt_of(cli_workspace.last_run(), "a")["answer"] == text


def test_json_is_one_document_whatever_the_terminal(cli_workspace: CliWorkspace) -> None:
    cli_workspace.environ["FORCE_COLOR"] = "1"
    cli_workspace.write_set("long.smoke", ["lighthouse"])
    story = 'The keeper said: "[/end] is not the end".\n' + "lighthouse " * 60 + "\tFin. 🛟"
    cli_workspace.server.reply(text=story)

    result = cli_workspace.run("eval", "run", "long.smoke", "--format", "json", columns=40)

    assert prompt_of(result.json, "lighthouse")["answer"] == story
    assert "\x1b[" not in result.output


def test_scalars_keep_their_source_text_to_the_report(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "sets/parts.yaml",
        """\
kind: prompts
identifier: parts.smoke
name: Example
prompts:
  - id: 234_0
    prompt: Which firmware fits part 234_0?
    assertions:
      - exact: 1.10
""",
    )
    cli_workspace.server.reply(text="1.10")

    result = cli_workspace.run("eval", "run", "parts.smoke")

    assert result.exit == 0
    assert "234_0" in result.stdout
    assert "2340" not in result.output
    assert prompt_of(cli_workspace.last_run(), "234_0")["passed"] is True


def test_skipped_and_reference_only_prompts_are_left_out_and_named(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write(
        "sets/some.yaml",
        """\
kind: prompts
identifier: some.smoke
name: Example
prompts:
  - {id: a, prompt: Answer with a., assertions: [{contains: a}]}
  - {id: b, prompt: Answer with b., reference: b}
  - {id: c, prompt: Answer with c., skip: the feature is off, assertions: [{contains: c}]}
""",
    )
    cli_workspace.answer(right=["a"])

    result = cli_workspace.run("eval", "run", "some.smoke")

    assert result.exit == 0
    assert len(cli_workspace.server.requests) == 1
    assert "the feature is off" in result.stdout
    assert "--grader decision" in result.stdout


def test_set_with_nothing_to_grade_is_refused(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "sets/some.yaml",
        """\
kind: prompts
identifier: some.smoke
name: Example
prompts:
  - {id: b, prompt: Answer with b., reference: b}
""",
    )

    result = cli_workspace.run("eval", "run", "some.smoke")

    assert result.exit == 2
    assert "decision" in result.output


def test_runaway_pattern_fails_its_prompt_only(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "sets/words.yaml",
        """\
kind: prompts
identifier: words.smoke
name: Example
prompts:
  - {id: letters, prompt: Answer with letters., assertions: [{regex: '^(a|aa)+$'}]}
  - {id: after, prompt: Answer with done., assertions: [{contains: done}]}
""",
    )
    cli_workspace.server.reply(to="letters", text="a" * 60 + "!")
    cli_workspace.server.reply(to="done", text="done")

    result = cli_workspace.run("eval", "run", "words.smoke")

    assert result.exit == 0
    document = cli_workspace.last_run()
    assert prompt_of(document, "letters")["passed"] is False
    assert prompt_of(document, "letters")["score"] == 0
    assert prompt_of(document, "after")["passed"] is True


def test_junit_report_is_written(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("two.smoke", ["a", "b"])
    cli_workspace.answer(right=["a"], wrong=["b"])

    assert cli_workspace.run("eval", "run", "two.smoke", "--junit", "report.xml").exit == 0

    text = (cli_workspace.folder / "report.xml").read_text(encoding="utf-8")
    assert 'failures="1"' in text


def test_metadata_history_keeps_no_texts(cli_workspace: CliWorkspace) -> None:
    cli_workspace.configure("eval:", "history: {content: metadata}\neval:")
    cli_workspace.write_set("one.smoke", {"a": "Answer with a secret thing."})
    cli_workspace.server.reply(text="an unmistakable answer")

    assert cli_workspace.run("eval", "run", "one.smoke", "--system", "hidden system").exit == 0

    stored = b"".join(
        path.read_bytes()
        for path in (cli_workspace.folder / ".evalcli").rglob("*")
        if path.is_file()
    )
    for text in (b"secret thing", b"unmistakable", b"hidden system"):
        assert text not in stored
    assert cli_workspace.run("history", "show", "latest").exit == 0


def test_code_fence_is_the_author_s_choice(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "sets/city.yaml",
        """\
kind: prompts
identifier: city.json
name: Example
prompts:
  - id: strict
    prompt: Describe it strictly.
    assertions: [{json_schema: {type: object, required: [city]}}]
  - id: lenient
    prompt: Describe it leniently.
    assertions: [{json_schema: {type: object, required: [city]}, unwrap: fence}]
  - id: wrong
    prompt: Describe it wrongly.
    assertions: [{json_schema: {properties: {millions: {type: number}}}, unwrap: fence}]
""",
    )
    fenced = '```json\n{"city": "Paris"}\n```\n'
    cli_workspace.server.reply(to="strictly", text=fenced)
    cli_workspace.server.reply(to="leniently", text=fenced)
    cli_workspace.server.reply(to="wrongly", text='```json\n{"millions": "2.7"}\n```')

    result = cli_workspace.run("eval", "run", "city.json")

    assert result.exit == 0
    assert "fence" in result.stdout
    assert "millions" in result.stdout
    document = cli_workspace.last_run()
    passed = {row["id"]: row["passed"] for row in document["prompts"]}
    assert passed == {"strict": False, "lenient": True, "wrong": False}
    assert prompt_of(document, "strict")["answer"] == fenced


@pytest.mark.slow
def test_rate_limit_that_names_its_waiting_time_passes_by_itself(
    cli_workspace: CliWorkspace,
) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.server.reply(
        status=429,
        headers={"Retry-After": "2"},
        body={"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}},
    )
    cli_workspace.answer(right=["a"])

    assert cli_workspace.run("eval", "run", "one.smoke").exit == 0

    first, second = cli_workspace.server.requests
    assert second.at - first.at >= 2


def test_newer_history_is_refused_before_anything_is_sent(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.answer(right=["a"])
    assert cli_workspace.run("eval", "run", "one.smoke").exit == 0
    cli_workspace.server.reset()
    connection = sqlite3.connect(cli_workspace.folder / ".evalcli" / "history.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    result = cli_workspace.run("eval", "run", "one.smoke")

    assert result.exit == 2
    assert "999" in result.output
    assert cli_workspace.server.requests == []


def test_history_that_is_no_database_is_refused(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.write(".evalcli/history.db", "not a database, " * 100)

    result = cli_workspace.run("eval", "run", "one.smoke")

    assert result.exit == 2
    assert "Traceback" not in result.output
    assert cli_workspace.server.requests == []


def test_crash_ends_in_70_and_never_looks_like_a_gate(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "broken/plugin.py",
        "class Broken:\n"
        "    def __init__(self, setup):\n        pass\n"
        "    async def ask_chat(self, request):\n        raise ZeroDivisionError('a bug')\n"
        "    async def list_models(self):\n        return ()\n"
        "    async def aclose(self):\n        pass\n",
    )
    cli_workspace.write(
        "broken/broken-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: broken\nVersion: 1\n"
    )
    cli_workspace.write(
        "broken/broken-1.0.dist-info/entry_points.txt",
        "[evalcli.providers]\nbroken = plugin:Broken\n",
    )
    cli_workspace.configure("type: openai", "type: broken")
    cli_workspace.write_set("one.smoke", ["a"])

    result = cli_workspace.process(
        "eval",
        "run",
        "one.smoke",
        environ={"PYTHONPATH": str(cli_workspace.folder / "broken")},
    )

    assert result.exit == 70
    assert len(result.stderr.strip().splitlines()) == 2
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.output


def test_set_of_another_kind_names_the_command_for_it(cli_workspace: CliWorkspace) -> None:
    result = cli_workspace.run("eval", "run", "nr.manual")
    assert result.exit == 2
    assert "`evalcli eval retrieval nr.manual` runs it" in result.stderr


def test_unknown_set_outside_of_a_workspace_says_that_there_is_none(tmp_path: Path) -> None:
    result = run_command(["eval", "run", "acme.four"], tmp_path)
    assert result.exit == 2
    assert "there is no evalcli.yaml here or in a folder above" in result.stderr


def test_system_prompt_of_a_stored_run_can_be_looked_at(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write_set("acme.one", {"one": "Answer with 1."})
    cli_workspace.server.reply(text="1", repeat=True)
    assert cli_workspace.run("eval", "run", "acme.one", "--system", "Be\nbrief.").exit == 0

    assert "system prompt: Be\\nbrief." in cli_workspace.run("history", "show", "latest").stdout
    assert cli_workspace.last_run()["run"]["system"] == "Be\nbrief."
