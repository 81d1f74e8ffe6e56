"""An older history is upgraded in place; steps that were released stay as they are."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from evalcli.history.migrations import SCHEMA_VERSION, STEPS, migrations
from evalcli.history.store import History
from evalcli.records import BaselineMove

_VERSION_1 = Path(__file__).parents[2] / "data" / "history_v1.sql"


@pytest.fixture
def old_history(tmp_path: Path) -> Path:
    """A file as version 1 of the schema left it."""
    path = tmp_path / "history.db"
    connection = sqlite3.connect(path)
    connection.executescript(_VERSION_1.read_text(encoding="utf-8"))
    connection.close()
    return path


def schema_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL "
        "AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%migrations%' ORDER BY name"
    ).fetchall()


def test_an_old_history_is_upgraded_in_place(old_history: Path) -> None:
    with History.open(old_history) as history:
        (version,) = history.connection.execute("PRAGMA user_version").fetchone()
        (rate,) = history.connection.execute("SELECT pass_rate FROM run_overview").fetchone()
    assert (version, rate) == (SCHEMA_VERSION, 0.5)


def test_an_old_history_keeps_all_that_was_in_it(old_history: Path) -> None:
    with History.open(old_history) as history:
        run = history.find_run("5be0")
        trials = history.load_trials(run.run_id)
        outcome = history.load_outcome(run.run_id)
        baseline = history.find_baseline("acme.faq", "support-bot", "deterministic")
    assert [trial.prompt_id for trial in trials] == ["opening-hours", "refund-window"]
    assert trials[1].answer is not None
    assert trials[1].answer.text == "A week.\0\ud800"
    assert outcome is not None
    assert outcome.baseline_move is BaselineMove.SET
    assert baseline is not None
    assert baseline.run_id == run.run_id


def test_an_upgraded_history_is_as_a_new_one(old_history: Path, tmp_path: Path) -> None:
    with History.open(old_history) as old, History.open(tmp_path / "new.db") as new:
        assert schema_of(old.connection) == schema_of(new.connection)


def test_an_upgrade_happens_once(old_history: Path) -> None:
    History.open(old_history).close()
    with History.open(old_history) as history:
        (steps,) = history.connection.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()
    assert steps == len(STEPS)


def test_the_first_step_is_as_it_was_released(old_history: Path) -> None:
    released = sqlite3.connect(old_history)
    now = sqlite3.connect(":memory:", isolation_level=None)
    migrations.apply(Database(now, execute_plugins=False), stop_before="m0002_views")
    assert schema_of(now) == schema_of(released)
    released.close()
    now.close()


def test_the_version_in_the_file_counts_the_steps(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        (version,) = history.connection.execute("PRAGMA user_version").fetchone()
        names = [
            name
            for (name,) in history.connection.execute(
                "SELECT name FROM _sqlite_migrations ORDER BY id"
            )
        ]
    assert (version, names) == (len(STEPS), list(STEPS))
