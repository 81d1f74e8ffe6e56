"""Removing old runs, a few at a time, so that runs under way in other processes are not held up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from evalcli.history.cells import need_integer, need_text, read_text, time_cell
from evalcli.history.database import lock_path, writing
from evalcli.history.locks import hold_lock, is_lock_held
from evalcli.records import PruneReport

_RUNS_AT_ONCE = 10
_PAGES_AT_ONCE = 1000

_PROTECTED = """
WITH current AS (
    SELECT max(baseline_id) AS baseline_id FROM baselines GROUP BY set_identifier, target, grader
)
SELECT run_id FROM baselines WHERE baseline_id IN (SELECT baseline_id FROM current)
UNION
SELECT run_id FROM baseline_prompts WHERE baseline_id IN (SELECT baseline_id FROM current)
"""

_VERSIONS = """
SELECT baseline_id, set_identifier, target, grader, set_at FROM baselines ORDER BY baseline_id
"""

_DECISIONS_AT_ONCE = 5000
_REMOVE_DECISIONS = """
DELETE FROM decisions WHERE decision_id IN (
    SELECT decision_id FROM decisions WHERE made_at < ? LIMIT ?
)
"""


class _RunFacts(NamedTuple):
    run_id: str
    started_at: str
    regraded_from: str | None


class _Version(NamedTuple):
    baseline_id: int
    series: tuple[object, object, object]
    set_at: str


def prune_runs(db: Database, path: Path, older_than: datetime, *, is_dry_run: bool) -> PruneReport:
    """Remove runs started before `older_than`, and baseline versions that nothing needs.

    A run stays while a current baseline rests on it, a kept run is a regrading of it, or a
    process is at it. The caller explains faults of the database.
    """
    before = time_cell(older_than) or ""
    old, removable = _find_removable(db, path, before)
    removed: list[str] = []
    trials = 0
    if is_dry_run:
        removed = removable
        trials = sum(_count_trials(db, run_id) for run_id in removed)
        stale = _find_stale_baselines(db, before, set(removed))
        decisions = _count_decisions(db, before)
    else:
        # Deleted texts are overwritten, not only unlinked.
        db.conn.execute("PRAGMA secure_delete = ON")
        for start in range(0, len(removable), _RUNS_AT_ONCE):
            batch = removable[start : start + _RUNS_AT_ONCE]
            trials += _remove_batch(db, path, before, batch, removed)
        stale = _remove_stale_baselines(db, before)
        decisions = _remove_decisions(db, before)
        _give_space_back(db)
    return PruneReport(
        older_than=older_than,
        run_ids=tuple(removed),
        trials=trials,
        baselines=len(stale),
        kept=len(old) - len(removed),
        is_dry_run=is_dry_run,
        decisions=decisions,
    )


def _find_removable(db: Database, path: Path, before: str) -> tuple[list[str], list[str]]:
    """Find runs that are old enough, and those of them that nothing needs, newest first."""
    runs = [
        _RunFacts(
            need_text(row["run_id"]),
            need_text(row["started_at"]),
            read_text(row["regraded_from"]),
        )
        for row in db.query(
            "SELECT run_id, started_at, regraded_from FROM runs ORDER BY run_number DESC"
        )
    ]
    old = [run.run_id for run in runs if run.started_at < before]
    protected = {need_text(row["run_id"]) for row in db.query(_PROTECTED)}
    busy = {run_id for run_id in old if is_lock_held(lock_path(path, run_id))}
    kept = needed_runs(
        {run.run_id: run.regraded_from for run in runs},
        ({run.run_id for run in runs} - set(old)) | protected | busy,
    )
    return old, [run_id for run_id in old if run_id not in kept]


def needed_runs(regraded_from: Mapping[str, str | None], kept: Iterable[str]) -> set[str]:
    """Add to the runs that stay those whose answers they graded again, however often. Pure."""
    needed: set[str] = set()
    waiting = list(kept)
    while waiting:
        run_id = waiting.pop()
        source = regraded_from.get(run_id)
        if run_id not in needed and source is not None:
            waiting.append(source)
        needed.add(run_id)
    return needed


def _remove_batch(
    db: Database, path: Path, before: str, batch: Sequence[str], removed: list[str]
) -> int:
    """Remove a few runs in one transaction, those that still nothing needs; count their trials."""
    trials = 0
    with ExitStack() as stack:
        held = [run_id for run_id in batch if _try_hold(stack, path, run_id)]
        stack.enter_context(writing(db.conn))
        # A baseline may have moved since these runs were chosen.
        protected = {need_text(row["run_id"]) for row in db.query(_PROTECTED)}
        regraded_from = {
            need_text(row["run_id"]): read_text(row["regraded_from"])
            for row in db.query("SELECT run_id, regraded_from FROM runs")
        }
        kept = needed_runs(regraded_from, protected | (regraded_from.keys() - set(held)))
        going = [run_id for run_id in held if run_id not in kept]
        for run_id in going:
            trials += _count_trials(db, run_id)
            db.conn.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
    removed.extend(going)
    return trials


def _try_hold(stack: ExitStack, path: Path, run_id: str) -> bool:
    try:
        stack.enter_context(hold_lock(lock_path(path, run_id), wait_s=0))
    except BlockingIOError:
        return False
    return True


def _count_decisions(db: Database, before: str) -> int:
    (row,) = db.query("SELECT count(*) AS n FROM decisions WHERE made_at < ?", (before,))
    return need_integer(row["n"])


def _remove_decisions(db: Database, before: str) -> int:
    """Remove decisions in small transactions; other processes go on writing in between."""
    removed = 0
    while True:
        with writing(db.conn):
            done = db.conn.execute(_REMOVE_DECISIONS, (before, _DECISIONS_AT_ONCE)).rowcount
        removed += done
        if done < _DECISIONS_AT_ONCE:
            return removed


def _count_trials(db: Database, run_id: str) -> int:
    (row,) = db.query("SELECT count(*) AS trials FROM trials WHERE run_id = ?", (run_id,))
    return need_integer(row["trials"])


def _find_stale_baselines(db: Database, before: str, removed: set[str]) -> list[int]:
    """Find versions that are old, superseded, and needed by no run that stays."""
    runs = [
        row
        for row in db.query(
            "SELECT run_id, set_identifier, target, status, baseline_as_of, baseline_id FROM runs"
        )
        if row["run_id"] not in removed
    ]
    compared = {row["baseline_id"] for row in runs}
    unfinished = [
        (row["set_identifier"], row["target"], need_integer(row["baseline_as_of"]))
        for row in runs
        if row["status"] != "complete"
    ]
    series: dict[tuple[object, object, object], list[_Version]] = {}
    for row in db.query(_VERSIONS):
        key = (row["set_identifier"], row["target"], row["grader"])
        version = _Version(need_integer(row["baseline_id"]), key, need_text(row["set_at"]))
        series.setdefault(key, []).append(version)
    return [
        version.baseline_id
        for versions in series.values()
        for version, later in pairwise(versions)
        if version.set_at < before
        and version.baseline_id not in compared
        and not any(
            (identifier, target) == version.series[:2]
            and version.baseline_id <= as_of < later.baseline_id
            for identifier, target, as_of in unfinished
        )
    ]


def _remove_stale_baselines(db: Database, before: str) -> list[int]:
    with writing(db.conn):
        stale = _find_stale_baselines(db, before, set())
        db.conn.executemany(
            "DELETE FROM baselines WHERE baseline_id = ?", [(number,) for number in stale]
        )
    return stale


def _give_space_back(db: Database) -> None:
    """Shrink the file in small steps; other processes go on writing in between."""
    free = _free_pages(db)
    while free:
        db.conn.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})").fetchall()
        left = _free_pages(db)
        if left >= free:
            return
        free = left


def _free_pages(db: Database) -> int:
    (pages,) = db.conn.execute("PRAGMA freelist_count").fetchone()
    return need_integer(pages)
