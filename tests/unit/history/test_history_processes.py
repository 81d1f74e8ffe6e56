"""Several processes at one history: nothing is lost, whoever is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from evalcli.errors import HistoryError
from evalcli.history.store import History
from evalcli.records import RunStatus
from tests.support.builders import STARTED_AT, make_run, make_trial
from tests.support.command_process import forked
from tests.support.history_workers import (
    open_all_at_once,
    save_run,
    write_run,
    write_until_killed,
)

_PROCESSES = 8
_STUCK_S = 120


def first_starts(folder: Path, rounds: int) -> list[int]:
    """Let eight processes make each of many histories at once; count the runs that are in it."""
    paths = [folder / f"{number}" / "history.db" for number in range(rounds)]
    barrier = forked.Barrier(_PROCESSES)
    processes = [
        forked.Process(target=open_all_at_once, args=(paths, barrier, number))
        for number in range(_PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(_STUCK_S)
    assert [process.exitcode for process in processes] == [0] * _PROCESSES
    counts = []
    for path in paths:
        with History.open(path) as history:
            (count,) = history.connection.execute("SELECT count(*) FROM trials").fetchone()
            counts.append(count)
    return counts


def test_eight_processes_at_the_very_first_start_lose_nothing(tmp_path: Path) -> None:
    assert first_starts(tmp_path, 4) == [_PROCESSES] * 4


@pytest.mark.slow
def test_eight_processes_at_many_first_starts_lose_nothing(tmp_path: Path) -> None:
    assert first_starts(tmp_path, 100) == [_PROCESSES] * 100


def test_two_sets_that_run_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    barrier = forked.Barrier(2)
    processes = [
        forked.Process(target=write_run, args=(path, run_id, 300, barrier))
        for run_id in ("0000000a", "0000000b")
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(_STUCK_S)
    assert [process.exitcode for process in processes] == [0, 0]
    with History.open(path) as history:
        assert [len(history.load_trials(r)) for r in ("0000000a", "0000000b")] == [300, 300]


def test_kill_9_in_the_middle_of_writing_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    told, telling = forked.Pipe(duplex=False)
    process = forked.Process(target=write_until_killed, args=(path, "91c2", 20_000, telling))
    process.start()
    last = 0
    while last < 150:
        assert told.poll(_STUCK_S)
        last = told.recv()
    with History.open(path) as history:
        assert history.find_run("91c2").status is RunStatus.RUNNING
        with pytest.raises(HistoryError, match="under way"), history.hold_run("91c2"):
            pass
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(_STUCK_S)
    telling.close()
    while told.poll():
        try:
            last = told.recv()
        except EOFError:
            break
    with History.open(path) as history:
        assert len(history.load_trials("91c2")) >= last + 1
        run = history.find_run("91c2")
        assert (run.status, run.is_interrupted) == (RunStatus.INCOMPLETE, True)
        with history.hold_run("91c2"):
            history.resume_run(run)
        (check,) = history.connection.execute("PRAGMA integrity_check").fetchone()
        assert check == "ok"


def test_pruning_and_vacuum_do_not_disturb_a_run_under_way(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as running, History.open(path) as other:
        save_run(other, "0000000a", 200)
        with running.hold_run("0000000b"):
            running.start_run(make_run(["a", "b", "c"], run_id="0000000b"))
            running.save_trial("0000000b", make_trial("a"))
            other.prune(older_than=STARTED_AT + timedelta(days=36_500))
            running.save_trial("0000000b", make_trial("b"))
            other.connection.execute("VACUUM")
            running.save_trial("0000000b", make_trial("c"))
            assert [t.prompt_id for t in running.load_trials("0000000b")] == ["a", "b", "c"]
        assert [line.run_id for line in other.list_runs()] == ["0000000b"]


def test_pruning_gives_space_back(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as history:
        save_run(history, "0000000a", 2000)
    before = path.stat().st_size
    with History.open(path) as history:
        history.prune(older_than=STARTED_AT + timedelta(days=36_500))
    assert path.stat().st_size < before / 2


def test_pruned_texts_are_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as history:
        save_run(history, "0000000a", 50)
    assert b"Monday to Friday." in path.read_bytes()
    with History.open(path) as history:
        history.prune(older_than=STARTED_AT + timedelta(days=36_500))
    assert b"Monday to Friday." not in path.read_bytes()


def test_a_finished_hold_leaves_no_file_behind(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history, history.hold_run("91c2"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["history.db", "history.db.lock"]


def test_a_copy_of_the_file_can_be_read_with_plain_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as history:
        save_run(history, "0000000a", 3)
    connection = sqlite3.connect(path)
    (count,) = connection.execute("SELECT count(*) FROM prompt_results").fetchone()
    connection.close()
    assert count == 3
