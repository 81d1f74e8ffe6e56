"""The queries in docs/history.md run, and its names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalcli.history.store import History
from tests.support.builders import make_outcome, make_run, make_trial

_MANUAL = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")
_QUERIES = re.findall(r"```sql\n(.*?)```", _MANUAL, re.DOTALL)


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A history with one run of two prompts, one of which fails."""
    with History.open(tmp_path / "history.db") as history:
        run = make_run(["a", "b"])
        trials = [make_trial("a"), make_trial("b", passed=False)]
        outcome = make_outcome(run, trials)
        history.start_run(run)
        for trial in trials:
            history.save_trial(run.run_id, trial)
        history.finish_run(outcome.run, outcome.summary, outcome.comparison, outcome.verdict)
    return History.open(tmp_path / "history.db")


def answers(history: History, number: int) -> list[tuple[object, ...]]:
    with history:
        return history.connection.execute(_QUERIES[number]).fetchall()


def test_the_manual_has_three_queries() -> None:
    assert len(_QUERIES) == 3


def test_the_pass_rate_over_time(history: History) -> None:
    assert answers(history, 0) == [
        ("2026-11-18T14:02:00.000Z", "support-bot", "1 of 2", 0.5, "no_baseline")
    ]


def test_the_prompts_that_fail_most_often(history: History) -> None:
    assert answers(history, 1) == [("b", 1, 0.0)]


def test_the_cost_and_latency_of_each_model(history: History) -> None:
    assert answers(history, 2) == [("gpt-6-luna", 2, pytest.approx(0.0002), 900.0, 0)]


def test_every_table_and_view_is_in_the_manual_and_the_other_way_round(history: History) -> None:
    with history:
        stored = {
            name
            for (name,) in history.connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE '%sqlite%'"
            )
        }
    table = _MANUAL.split("| table or view |")[1].split("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert named == stored
