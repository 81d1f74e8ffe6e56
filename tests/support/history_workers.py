"""What other processes do to a history in tests: `multiprocessing` finds these by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from evalcli.history.store import History
from evalcli.records import RunStatus
from tests.support.builders import make_run, make_trial

_STUCK_S = 60


def open_all_at_once(paths: Sequence[Path], barrier: Barrier, number: int) -> None:
    """Make each history together with the others, and store one run with one trial in it."""
    for path in paths:
        barrier.wait(_STUCK_S)
        with History.open(path) as history:
            save_run(history, f"{number:08x}", 1)


def write_run(path: Path, run_id: str, count: int, barrier: Barrier) -> None:
    """Store a run of many trials while others do the same."""
    with History.open(path) as history:
        barrier.wait(_STUCK_S)
        save_run(history, run_id, count)


def save_run(history: History, run_id: str, count: int) -> None:
    """Hold and store a run of this many trials; it does not get to its end."""
    prompt_ids = [f"p{number}" for number in range(count)]
    with history.hold_run(run_id):
        run = make_run(prompt_ids, run_id=run_id, started_at=datetime.now(UTC))
        history.start_run(replace(run, status=RunStatus.RUNNING))
        for prompt_id in prompt_ids:
            history.save_trial(run_id, make_trial(prompt_id))


def write_until_killed(path: Path, run_id: str, count: int, told: Connection) -> None:
    """Store trials and tell after each one that it is committed."""
    prompt_ids = [f"p{number}" for number in range(count)]
    with History.open(path) as history, history.hold_run(run_id):
        run = make_run(prompt_ids, run_id=run_id)
        history.start_run(replace(run, status=RunStatus.RUNNING))
        for number, prompt_id in enumerate(prompt_ids):
            history.save_trial(run_id, make_trial(prompt_id))
            told.send(number)
