"""evalcli decide --batch: every line checked first, order kept, and nothing lost to a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.decide import PROFILE, add_judge, stored_decisions, write_profile
from tests.support.decisions import system_one_reply
from tests.support.server import ScriptedServer
from tests.support.system_one import SystemOneServer
from tests.support.terminal_process import TerminalProcess
from tests.support.workspace import CliWorkspace

_SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "decision_report.schema.json").read_text(
        encoding="utf-8"
    )
)
_REPORT = Draft202012Validator(_SCHEMA)
_LINE = Draft202012Validator({**_SCHEMA, "anyOf": [{"$ref": "#/$defs/batch_line"}]})
BATCH = ("decide", PROFILE, "--batch", "in.jsonl", "--output", "out.jsonl")


class CountedRequests(list[Any]):
    """Request bodies that say when so many have come, and hold up the rest until `go_on`."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self._wanted = wanted
        self.is_reached = threading.Event()
        self.go_on = threading.Event()

    def append(self, body: Any) -> None:
        super().append(body)
        if len(self) >= self._wanted:
            self.is_reached.set()
            self.go_on.wait(60)


@pytest.fixture
def judge() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def workspace(cli_workspace: CliWorkspace, judge: ScriptedServer) -> CliWorkspace:
    """A workspace whose judge says what it is told to."""
    add_judge(cli_workspace, judge)
    return cli_workspace


@pytest.fixture
def steady() -> Iterator[SystemOneServer]:
    with SystemOneServer() as server:
        yield server


@pytest.fixture
def steady_workspace(
    cli_workspace: CliWorkspace, judge: ScriptedServer, steady: SystemOneServer
) -> CliWorkspace:
    """A workspace whose judge answers everything, by the subject alone."""
    add_judge(cli_workspace, judge, url=steady.url, concurrency=8)
    return cli_workspace


def write_subjects(workspace: CliWorkspace, count: int) -> None:
    lines = [
        json.dumps({"task": f"task {n}", "candidate": f"answer {n}.", "evidence": [f"fact {n}"]})
        for n in range(1, count + 1)
    ]
    workspace.write("in.jsonl", "".join(f"{line}\n" for line in lines))


def read_lines(workspace: CliWorkspace) -> list[Any]:
    text = (workspace.folder / "out.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def says(judge: ScriptedServer, subject: str, chance: float, *, delay_s: float = 0) -> None:
    answers = {"supported": {"type": "noul", "noul": chance}}
    judge.reply(to=f"answer {subject}.", body=system_one_reply(answers), delay_s=delay_s)


def ask_one_question(workspace: CliWorkspace) -> None:
    write_profile(
        workspace, questions={"supported": {"type": "yes_no", "instructions": "Is it so?"}}
    )


# --- results --------------------------------------------------------------------------------------


def test_results_are_in_order_whoever_is_first(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    ask_one_question(workspace)
    write_subjects(workspace, 3)
    says(judge, "1", 0.1, delay_s=0.2)
    says(judge, "2", 0.2)
    says(judge, "3", 0.3)

    result = workspace.run(*BATCH)

    assert result.exit == 0, result.output
    lines = read_lines(workspace)
    assert [line["answers"]["supported"]["value"] for line in lines] == [0.1, 0.2, 0.3]
    assert "3 lines in out.jsonl" in result.stdout


def test_line_that_failed_has_its_code_and_the_rest_goes_on(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    ask_one_question(workspace)
    write_subjects(workspace, 3)
    says(judge, "1", 0.1)
    judge.reply(to="answer 2.", status=422, body={"detail": "no answer 2."})
    judge.reply(to="answer 3.", status=503, body={"detail": "overloaded"})

    result = workspace.run(*BATCH, "--format", "json")

    assert result.exit == 3
    first, *failed = read_lines(workspace)
    assert "answers" in first
    assert failed == [{"error": {"code": "REJECTED"}}, {"error": {"code": "FAILED"}}]
    _REPORT.validate(result.json)
    assert result.json["batch"]["failed"] == {"FAILED": 1, "REJECTED": 1}
    assert result.json["batch"]["first_failed"] == 2
    assert result.json["exit_status"] == 3


def test_lines_have_the_published_shape_and_no_time_in_them(
    steady_workspace: CliWorkspace,
) -> None:
    write_subjects(steady_workspace, 5)

    steady_workspace.run(*BATCH)

    lines = read_lines(steady_workspace)
    for line in lines:
        _LINE.validate(line)
        assert not {"latency_ms", "request_id", "made_at", "tries"} & set(line)
    assert len(lines) == 5


@pytest.mark.parametrize(("limit", "status"), [("0.2", 0), ("0.21", 1)])
def test_requirement_holds_for_every_line(
    workspace: CliWorkspace, judge: ScriptedServer, limit: str, status: int
) -> None:
    ask_one_question(workspace)
    write_subjects(workspace, 2)
    says(judge, "1", 0.2)
    says(judge, "2", 0.3)

    result = workspace.run(*BATCH, "--require", f"supported>={limit}")

    said = f"supported>={limit}"
    if status:
        said += ": 1 line, the first is line 1"
    assert result.exit == status
    assert f"{'NOT MET' if status else 'met'} {said}" in " ".join(result.stdout.split())
    document = workspace.run(*BATCH, "--require", f"supported>={limit}", "--format", "json").json
    assert document["batch"]["requirements"] == [
        {
            "requirement": f"supported>={limit}",
            "unmet": status,
            "first_unmet": 1 if status else None,
        }
    ]


def test_each_line_is_kept_and_the_profile_remembered(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 3)
    assert steady_workspace.run(*BATCH).exit == 0

    rows = stored_decisions(steady_workspace)
    assert sorted(row["line"] for row in rows) == [1, 2, 3]
    assert len({row["batch"] for row in rows}) == 1
    ask_one_question(steady_workspace)
    again = steady_workspace.run(*BATCH)
    assert again.exit == 2
    assert "INVALID_PROFILE" in again.stderr


def test_declared_profile_is_remembered_whatever_its_name(steady_workspace: CliWorkspace) -> None:
    words = ("decide", "ad_hoc", *BATCH[2:])
    write_subjects(steady_workspace, 1)
    write_profile(steady_workspace, identifier="ad_hoc")
    assert steady_workspace.run(*words).exit == 0
    write_profile(
        steady_workspace,
        identifier="ad_hoc",
        questions={"supported": {"type": "yes_no", "instructions": "Is it so?"}},
    )

    assert "INVALID_PROFILE" in steady_workspace.run(*words).stderr


def test_ad_hoc_questions_are_not_remembered(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 1)
    for question in ("Is it so?", "Is it not?"):
        words = ("decide", "--yes-no", question, *BATCH[2:-1], f"{len(question)}.jsonl")
        assert steady_workspace.run(*words).exit == 0


def test_no_store_keeps_nothing(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 2)

    assert steady_workspace.run(*BATCH, "--no-store").exit == 0
    assert not (steady_workspace.folder / ".evalcli").exists()


# --- the first pass -------------------------------------------------------------------------------


def test_every_broken_line_is_named_and_nothing_is_sent(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    good = '{"task": "t", "candidate": "c", "evidence": ["e"]}\n'
    broken = '{"task": "t"\n' + '{"task": "t", "candidate": "c"}\n' + "\n" + '{"tsk": 1}\n'
    workspace.write("in.jsonl", good * 499 + broken + good)

    result = workspace.run(*BATCH)

    assert (result.exit, judge.requests) == (2, [])
    assert "4 of 504 lines" in result.stderr
    assert "in.jsonl:500:1: is no JSON" in result.stderr
    assert "in.jsonl:501:1: lacks evidence" in result.stderr
    assert "in.jsonl:502:1: is blank" in result.stderr
    assert 'in.jsonl:503:1: has the unknown key "tsk"; write "task"' in result.stderr
    assert not (workspace.folder / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--batch", "in.jsonl"), "--batch needs --output"),
        (("--output", "out.jsonl"), "belong to --batch"),
        (("--batch", "in.jsonl", "--output", "in.jsonl"), "is the file that --batch reads"),
        (("--batch", "none.jsonl", "--output", "o"), "none.jsonl cannot be read"),
        (("--batch", "in.jsonl", "--output", "no/such/o"), "cannot be written"),
        (("--batch", "in.jsonl", "--output", "-"), "- is none"),
        (("--batch", "-", "--output", "o"), "- is none"),
        (("--batch", "in.jsonl", "--output", "o", "--task", "x"), "no other subject"),
        (("--batch", "in.jsonl", "--output", "o", "--concurrency", "0"), "must be 1 or more"),
        (("--batch", "empty.jsonl", "--output", "o"), "is empty"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    workspace: CliWorkspace, judge: ScriptedServer, words: tuple[str, ...], said: str
) -> None:
    write_subjects(workspace, 1)
    workspace.write("empty.jsonl", "")

    result = workspace.run("decide", PROFILE, *words)

    assert (result.exit, judge.requests) == (2, [])
    assert said in result.stderr


# --- going on -------------------------------------------------------------------------------------


def test_killed_and_resumed_is_byte_for_byte_unbroken(
    steady_workspace: CliWorkspace, steady: SystemOneServer
) -> None:
    write_subjects(steady_workspace, 120)
    whole = steady_workspace.run(*BATCH[:-1], "whole.jsonl")
    assert whole.exit == 0, whole.output
    moment = random.randrange(20, 100)  # noqa: S311 - no secret
    steady.bodies = requests = CountedRequests(moment)

    with steady_workspace.start(*BATCH) as process:
        assert requests.is_reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    requests.go_on.set()
    done = (steady_workspace.folder / "out.jsonl").read_bytes()
    resumed = steady_workspace.run(*BATCH)

    assert resumed.exit == 0, resumed.output
    unbroken = (steady_workspace.folder / "whole.jsonl").read_bytes()
    assert len(done) < len(unbroken)
    assert (steady_workspace.folder / "out.jsonl").read_bytes() == unbroken


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_says_how_to_go_on(
    steady_workspace: CliWorkspace, steady: SystemOneServer, number: signal.Signals
) -> None:
    write_subjects(steady_workspace, 400)
    steady.bodies = requests = CountedRequests(20)

    with steady_workspace.start(*BATCH) as process:
        assert requests.is_reached.wait(60)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    requests.go_on.set()

    assert process.returncode == 130
    assert f"go on with `evalcli {' '.join(BATCH)}`" in stderr
    done = len(read_lines(steady_workspace))
    assert f"interrupted after {done} of 400 lines" in stderr
    assert steady_workspace.run(*BATCH).exit == 0
    assert len(read_lines(steady_workspace)) == 400


def test_output_that_another_process_writes_is_left_to_it(
    steady_workspace: CliWorkspace, steady: SystemOneServer
) -> None:
    write_subjects(steady_workspace, 60)
    steady.bodies = requests = CountedRequests(20)

    with steady_workspace.start(*BATCH) as process:
        assert requests.is_reached.wait(60)
        second = steady_workspace.run(*BATCH)
        requests.go_on.set()
        process.communicate(timeout=60)

    assert second.exit == 2
    assert "out.jsonl is being written by another process" in second.stderr
    assert process.returncode == 0
    assert len(read_lines(steady_workspace)) == len(steady.bodies) == 60


_WITH_LITTLE_ROOM = """\
import resource, sys
from evalcli.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500, 1_500))
sys.argv[0] = "evalcli"
main()
"""


def test_full_disk_keeps_what_fits_and_the_batch_goes_on(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 6)
    steady_workspace.run(*BATCH[:-1], "whole.jsonl", "--no-store")

    full = subprocess.run(
        [sys.executable, "-c", _WITH_LITTLE_ROOM, *BATCH, "--no-store", "--concurrency", "1"],
        cwd=steady_workspace.folder,
        env={**os.environ, **steady_workspace.environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    torn = (steady_workspace.folder / "out.jsonl").read_bytes()
    resumed = steady_workspace.run(*BATCH)

    assert full.returncode == 3, full.stderr
    assert "out.jsonl cannot be written: File too large" in full.stderr
    assert len(torn) == 1_500
    assert resumed.exit == 0, resumed.output
    unbroken = (steady_workspace.folder / "whole.jsonl").read_bytes()
    assert (steady_workspace.folder / "out.jsonl").read_bytes() == unbroken


def test_torn_last_line_is_decided_again(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 4)
    steady_workspace.run(*BATCH)
    path = steady_workspace.folder / "out.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])

    result = steady_workspace.run(*BATCH, "--format", "json")

    assert path.read_bytes() == whole
    assert result.json["batch"]["resumed_after"] == 3


def test_finished_batch_asks_nothing_and_ends_the_same(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    ask_one_question(workspace)
    write_subjects(workspace, 1)
    judge.reply(to="answer 1.", status=503, body={"detail": "overloaded"})
    assert workspace.run(*BATCH).exit == 3
    asked = len(judge.requests)

    again = workspace.run(*BATCH)

    assert (again.exit, len(judge.requests)) == (3, asked)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("input", "another input file"),
        ("configuration", "another configuration"),
        ("version", "another version of the profile"),
    ],
)
def test_output_of_something_else_is_left_alone(
    steady_workspace: CliWorkspace, change: str, said: str
) -> None:
    write_subjects(steady_workspace, 2)
    steady_workspace.run(*BATCH)
    before = (steady_workspace.folder / "out.jsonl").read_bytes()
    words: tuple[str, ...] = BATCH
    if change == "input":
        write_subjects(steady_workspace, 3)
    elif change == "configuration":
        steady_workspace.configure(
            "  judge: {model", "  other: {model: jev-1.14.0}\n  judge: {model"
        )
        words = (*BATCH, "--configuration", "other")
    else:
        write_profile(steady_workspace, version=2)

    result = steady_workspace.run(*words)

    assert result.exit == 2
    assert said in result.stderr
    assert (steady_workspace.folder / "out.jsonl").read_bytes() == before


@pytest.mark.parametrize("is_known", [True, False], ids=["changed by hand", "no batch's"])
def test_foreign_file_is_never_overwritten(steady_workspace: CliWorkspace, is_known: bool) -> None:
    write_subjects(steady_workspace, 2)
    if is_known:
        steady_workspace.run(*BATCH)
    steady_workspace.write("out.jsonl", "my notes\n")

    result = steady_workspace.run(*BATCH)

    assert result.exit == 2
    assert (steady_workspace.folder / "out.jsonl").read_text(encoding="utf-8") == "my notes\n"


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"answers": {}, "input_tokens": 1, "output_tokens": 1, "cost_usd": "free"}',
    ],
    ids=["depth", "cost"],
)
def test_line_that_was_edited_is_named(steady_workspace: CliWorkspace, line: str) -> None:
    write_subjects(steady_workspace, 3)
    steady_workspace.run(*BATCH)
    path = steady_workspace.folder / "out.jsonl"
    first, *_ = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{first}\n{line}\n", encoding="utf-8")

    result = steady_workspace.run(*BATCH)

    assert result.exit == 2, result.output
    assert "out.jsonl: line 2 is no line of this batch" in result.stderr


def test_what_stands_beside_an_output_may_be_anything(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 1)
    steady_workspace.write("out.jsonl", "{}\n")
    steady_workspace.write("out.jsonl.batch.json", "[" * 100_000)

    result = steady_workspace.run(*BATCH)

    assert result.exit == 2, result.output
    assert "nothing beside it says" in result.stderr


@pytest.mark.parametrize(("name", "status"), [("out.jsonl.batch.json", 2), ("out.jsonl.lock", 0)])
def test_files_beside_an_output_are_left_alone(
    steady_workspace: CliWorkspace, name: str, status: int
) -> None:
    write_subjects(steady_workspace, 1)
    path = steady_workspace.write(name, '{"task": "mine"}\n')

    result = steady_workspace.run(*BATCH)

    assert path.read_text(encoding="utf-8") == '{"task": "mine"}\n'
    assert result.exit == status


def test_output_of_another_version_is_left_alone(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 1)
    steady_workspace.run(*BATCH)
    path = steady_workspace.folder / "out.jsonl.batch.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"schema_version": 1', '"schema_version": 2'), encoding="utf-8")

    result = steady_workspace.run(*BATCH)

    assert result.exit == 2
    assert "was made with another version of evalcli" in result.stderr


# --- what is no file ------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--batch", "--output"])
def test_pipe_is_refused_and_not_waited_for(
    steady_workspace: CliWorkspace, steady: SystemOneServer, option: str
) -> None:
    write_subjects(steady_workspace, 1)
    os.mkfifo(steady_workspace.folder / "pipe")
    words = list(BATCH)
    words[words.index(option) + 1] = "pipe"

    with steady_workspace.start(*words) as process:
        _, stderr = process.communicate(timeout=60)

    assert (process.returncode, steady.bodies) == (2, [])
    assert f"{option} pipe is no file" in stderr


@pytest.mark.parametrize("output", ["", ".", "folder", "/dev/null"])
def test_output_that_is_no_file_is_refused(
    steady_workspace: CliWorkspace, steady: SystemOneServer, output: str
) -> None:
    write_subjects(steady_workspace, 1)
    (steady_workspace.folder / "folder").mkdir()

    result = steady_workspace.run(*BATCH[:-1], output)

    assert (result.exit, steady.bodies) == (2, [])
    assert "is no file" in result.stderr


def test_name_that_is_too_long_is_refused(steady_workspace: CliWorkspace) -> None:
    write_subjects(steady_workspace, 1)

    result = steady_workspace.run(*BATCH[:-1], "x" * 300)

    assert result.exit == 2, result.output
    assert "cannot be written: File name too long" in result.stderr


# --- while it runs --------------------------------------------------------------------------------


def test_terminal_shows_how_far_it_is_and_keeps_nothing_of_it(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure('"tries": 1', '"tries": 2, "delay_s": 0')
    ask_one_question(workspace)
    write_subjects(workspace, 3)
    go_on = threading.Event()
    judge.reply(to="answer 1.", status=503, body={"detail": "over\x1b[2Jloaded"})
    says(judge, "1", 0.1)
    judge.reply(to="answer 2.", status=422, body={"detail": "no"})
    judge.reply(
        to="answer 3.",
        body=system_one_reply({"supported": {"type": "noul", "noul": 0.3}}),
        until=go_on,
    )

    environ = {**os.environ, **workspace.environ}
    with TerminalProcess((*BATCH, "-v"), workspace.folder, environ) as process:
        live = process.read_until("decisions", "2/3", "1 failed")
        go_on.set()
        status, text = process.read_to_end()

    assert status == 3
    (retry,) = [line for line in live.splitlines() if "try 2 in" in line]
    assert 'judge said 503 "over [2Jloaded"; try 2 in ' in retry
    before, erased, after = text.rpartition("\x1b[2K")
    assert erased
    assert "3 lines in out.jsonl" in after
    assert "decisions" not in after
    assert "\x1b[2J" not in before


def test_pipe_gets_no_bar_and_retries_on_request_only(
    workspace: CliWorkspace, judge: ScriptedServer
) -> None:
    workspace.configure('"tries": 1', '"tries": 2, "delay_s": 0')
    ask_one_question(workspace)
    write_subjects(workspace, 1)
    said: list[str] = []
    for words in ((), ("-v",)):
        judge.reply(status=503, body={"detail": "overloaded"})
        says(judge, "1", 0.1)
        said.append(workspace.run(*BATCH[:-1], f"out{len(said)}.jsonl", *words).stderr)

    quiet, verbose = said
    assert quiet == ""
    assert verbose.startswith('judge said 503 "overloaded"; try 2 in ')
    assert verbose.count("\n") == 1
