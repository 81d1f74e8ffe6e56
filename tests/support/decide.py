"""A workspace with a profile with every type of question, and a judge on loopback."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

from tests.support.decisions import QUESTIONS
from tests.support.server import ScriptedServer
from tests.support.workspace import CliWorkspace

PROFILE = "my_ext.rag_answer"
SUBJECT_WORDS = ("--task", "Name the hours.", "--candidate", "Nine to five.", "--evidence", "9-17.")


def add_judge(
    workspace: CliWorkspace, judge: ScriptedServer, *, url: str | None = None, **entry: object
) -> None:
    """Declare provider `judge` with configuration `judge`, and the profile that asks it.

    `url` names another server than the scripted one.
    """
    workspace.environ["JUDGE_KEY"] = "key-judge-0000"
    fields = {
        "type": "typesafe",
        "base_url": f"{url or judge.url}/v1",
        "api_key": "env:JUDGE_KEY",
        "probabilities": "calibrated",
        "retry": {"tries": 1},
        **entry,
    }
    workspace.configure(
        "models:\n",
        f"  judge: {json.dumps(fields)}\nmodels:\n"
        "  jev-1.14.0: {provider: judge, capabilities: [decision],"
        " prices: {input: 0.042, output: 0}}\n",
    )
    workspace.configure("configurations:\n", "configurations:\n  judge: {model: jev-1.14.0}\n")
    workspace.configure("eval:", "decision: {configuration: judge}\neval:")
    write_profile(workspace)


def write_profile(workspace: CliWorkspace, **fields: object) -> None:
    """Write the profile; a field replaces its own."""
    profile = {
        "kind": "profile",
        "identifier": PROFILE,
        "version": 1,
        "requires": ["task", "candidate", "evidence"],
        "questions": QUESTIONS,
        **fields,
    }
    workspace.write("profiles/rag.yaml", json.dumps(profile, indent=1))


def stored_decisions(workspace: CliWorkspace) -> list[dict[str, Any]]:
    """Read the decisions of the history in the order they were made."""
    path = workspace.folder / ".evalcli" / "history.db"
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute("SELECT * FROM decisions ORDER BY decision_id")
        return [dict(row) for row in rows]
