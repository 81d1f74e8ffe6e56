"""evalcli eval retrieval: killed, interrupted, resumed."""

from __future__ import annotations

import json
import signal

import pytest

from tests.support.command_process import wait_until
from tests.support.retrieval_site import RetrievalSite
from tests.support.workspace import CliWorkspace

TEN = [f"q{number:02}" for number in range(1, 11)]


@pytest.fixture
def remote(cli_workspace: CliWorkspace) -> RetrievalSite:
    """A set of ten questions, and a retriever over HTTP of which four questions are answered."""
    site = RetrievalSite(cli_workspace)
    url = f"{cli_workspace.server.url}/retrieve"
    entry = {"type": "http", "url": url, "tries": 1, "revisions": {"corpus": "r1"}}
    site.declare({"remote": entry})
    site.ask({one: {"expected": [f"doc-{one}"]} for one in TEN})
    answer(site, TEN[:4])
    for one in TEN[4:]:
        cli_workspace.server.reply(to=f"{one}?", failure="timeout")
    return site


def answer(site: RetrievalSite, ids: list[str]) -> None:
    for one in ids:
        site.workspace.server.reply(to=f"{one}?", body={"documents": [f"doc-{one}"]})


def stop(site: RetrievalSite, number: signal.Signals) -> int:
    """Start the run, send a signal when four questions are measured; gives the exit status."""
    workspace = site.workspace
    with workspace.start("eval", "retrieval", "help.search", "remote") as process:
        workspace.server.wait_for_requests(10)  # none comes in late
        wait_until(lambda: workspace.graded_count() == 4)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    assert "Traceback" not in stdout + stderr
    if number is not signal.SIGKILL:
        assert "`evalcli eval retrieval help.search remote --resume " in stderr
        assert "keeps 4 of 10 questions" in stderr
    workspace.server.reset()
    return process.returncode


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_resume_asks_exactly_the_missing_questions(
    remote: RetrievalSite, number: signal.Signals, status: int
) -> None:
    assert stop(remote, number) == status
    workspace = remote.workspace
    run_id = workspace.last_run()["run"]["id"]
    assert workspace.last_run()["run"]["status"] == "incomplete"
    answer(remote, TEN[4:])

    result = workspace.run("eval", "retrieval", "--resume", run_id)

    assert result.exit == 0
    asked = sorted(request.body["question"] for request in workspace.server.requests)
    assert asked == [f"{one}?" for one in TEN[4:]]
    document = workspace.last_run()
    assert (document["run"]["id"], document["run"]["status"]) == (run_id, "complete")
    assert document["retrieval"]["rows"][0]["hits"]["1"] == 10
    assert document["comparison"]["state"] == "baseline"
    assert workspace.run_count() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("question", "q09"),
        ("labels", "q09"),
        ("corpus", "corpus (r1 is now r2)"),
        ("retriever", "is of the retriever remote"),
        ("cutoffs", "k (1, 3, 5, 10 is now 1, 3, 10, 20)"),
    ],
)
def test_resume_of_a_retrieval_run_is_refused_after_a_change(
    remote: RetrievalSite, change: str, told: str
) -> None:
    stop(remote, signal.SIGKILL)
    words = ["eval", "retrieval", "--resume", "latest"]
    url = f"{remote.workspace.server.url}/retrieve"
    entry = {"type": "http", "url": url, "tries": 1, "revisions": {"corpus": "r1"}}
    questions: dict[str, dict[str, object]] = {one: {"expected": [f"doc-{one}"]} for one in TEN}
    if change == "question":
        questions["q09"]["question"] = "q09, please?"
    elif change == "labels":
        questions["q09"]["expected"] = ["doc-x"]
    elif change == "corpus":
        entry["revisions"] = {"corpus": "r2"}
    elif change == "retriever":
        words = ["eval", "retrieval", "help.search", "other", "--resume", "latest"]
    else:
        words += ["--k", "20"]
    remote.ask(questions)
    remote.declare({"remote": entry, "other": entry})

    result = remote.workspace.run(*words)

    assert result.exit == 2
    assert told in result.output
    assert remote.workspace.server.requests == []


def test_resume_keeps_what_the_first_command_of_a_retrieval_run_said(
    remote: RetrievalSite,
) -> None:
    workspace = remote.workspace
    workspace.server.reset()
    answer(remote, ["q01"])
    words = ("--only", "q01", "--only", "q02", "--k", "20", "--max-class-drop", "0.2", "--draft")
    assert workspace.run("eval", "retrieval", "help.search", "remote", *words).exit == 3
    answer(remote, ["q02"])

    result = workspace.run("eval", "retrieval", "help.search", "remote", "--resume", "latest")

    assert result.exit == 0
    document = workspace.last_run()
    assert document["summary"]["prompts"] == 2
    assert document["retrieval"]["cutoffs"] == [1, 3, 10, 20]
    assert document["run"]["limits"]["max_class_drop"] == 0.2
    assert document["run"]["is_draft"] is True
    assert workspace.server.requests[-1].body["limit"] == 80


def test_a_run_of_prompts_cannot_be_resumed_as_a_retrieval_run(remote: RetrievalSite) -> None:
    workspace = remote.workspace
    config = {
        "providers": {
            "main": {
                "type": "openai",
                "base_url": f"{workspace.server.url}/v1",
                "retry": {"tries": 1},
            }
        },
        "configurations": {"bot": {"model": "model-a"}},
        "eval": {"configuration": "bot"},
        "retrievers": {"site": remote.entry()},
    }
    workspace.write("evalcli.yaml", json.dumps(config))
    workspace.write_set("one.smoke", ["a"])
    workspace.server.reset()
    assert workspace.run("eval", "run", "one.smoke").exit == 3

    result = workspace.run("eval", "retrieval", "--resume", "latest")

    assert result.exit == 2
    assert "one.smoke" in result.output


def test_a_retriever_that_ends_the_process_loses_nothing(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    site.declare({"site": site.entry(concurrency=1)})
    site.ask({one: {"expected": [f"doc-{one}"]} for one in TEN})
    answers = {one: [f"doc-{one}"] for one in TEN}
    site.answer({**answers, "q05": {"exit": 9}})

    died = cli_workspace.process("eval", "retrieval", "help.search", "site")
    listed = cli_workspace.run("history", "list")
    site.answer(answers)
    resumed = cli_workspace.run("eval", "retrieval", "--resume", "latest")

    assert died.exit == 9
    assert "incomplete, 4 of 10, interrupted" in listed.stdout
    assert resumed.exit == 0
    assert cli_workspace.last_run()["retrieval"]["rows"][0]["hits"]["1"] == 10


def test_ctrl_c_while_the_retriever_is_prepared_ends_in_130(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "slow/slow_retriever.py",
        "import asyncio, pathlib\n"
        "class Slow:\n"
        "    provenance = {'corpus': 'r1'}\n"
        "    def __init__(self, setup):\n        self.root = setup.root\n"
        "    async def prepare(self):\n"
        "        (self.root / 'preparing').touch()\n"
        "        await asyncio.sleep(60)\n"
        "    async def retrieve(self, question, limit):\n        return []\n"
        "    async def aclose(self):\n        pass\n",
    )
    cli_workspace.write(
        "slow/slow-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: slow\nVersion: 1\n"
    )
    cli_workspace.write(
        "slow/slow-1.0.dist-info/entry_points.txt",
        "[evalcli.retrievers]\nslow = slow_retriever:Slow\n",
    )
    site = RetrievalSite(cli_workspace)
    site.declare({"site": {"type": "slow"}})
    site.ask({"a": {"expected": ["x"]}})
    environ = {"PYTHONPATH": str(cli_workspace.folder / "slow")}

    with cli_workspace.popen("eval", "retrieval", "help.search", environ=environ) as process:
        wait_until((cli_workspace.folder / "preparing").exists)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)

    assert process.returncode == 130
    assert (stdout, stderr) == ("", "interrupted\n")
    site.declare({})
    assert cli_workspace.run_count() == 0
