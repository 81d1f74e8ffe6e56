"""How fast a big history answers: 2,000 runs of 500 prompts, and whether indexes are used.

    python -m tests.bench.history

Prints the figures and ends with 1 where one misses its limit.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

from evalcli.history.store import History
from evalcli.records import BaselineMove, RunStatus
from tests.bench.figures import Figure, show_and_exit
from tests.support.builders import make_answer, make_baseline, make_outcome, make_run, make_trial

RUNS = 2_000
PROMPTS = 500
QUERY_LIMIT_MS = 20.0
SAVE_LIMIT_US = 250.0
"""The aim is 100 µs; the limit leaves room for a machine that does something else too."""

_SETS = 20
_RUNS_PER_BASELINE = 4
_REPEATS = 15
_SERIES = ("bench.set7", "support-bot", "deterministic")

# Every run of the copy is the first one with another id, set and time.
_COPY = """
WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ?)
INSERT INTO {table} ({columns}) SELECT {values} FROM copies CROSS JOIN {table} AS t
"""
_COPIED = {
    "run_number": "1 + n",
    "baseline_id": "1 + n",
    "run_id": "printf('%08x', n)",
    "set_identifier": f"'bench.set' || (n % {_SETS})",
    "started_at": "strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01', '+' || n || ' hours')",
}


def bench_history(folder: Path, *, runs: int = RUNS, prompts: int = PROMPTS) -> list[Figure]:
    """Build a big history in this folder and measure what every command asks of it."""
    path = folder / "history.db"
    started = perf_counter()
    build_history(path, runs=runs, prompts=prompts)
    build_s = perf_counter() - started
    with History.open(path) as history:
        asked = questions(history)
        scans = {step for ask in asked.values() for step in find_full_scans(history, ask)}
        return [
            Figure(f"history of {runs} runs of {prompts} prompts", build_s, "s", note="to build"),
            Figure("its size", path.stat().st_size / 1e6, "MB"),
            *(Figure(name, _time_ms(ask), "ms", QUERY_LIMIT_MS) for name, ask in asked.items()),
            Figure("steps that read a whole table", len(scans), "", 0, note="; ".join(scans)),
            Figure("save_trial", _time_saving_us(history), "µs", SAVE_LIMIT_US),
        ]


def questions(history: History) -> dict[str, Callable[[], object]]:
    """Name what is asked of a history before and after every run, and by `history list`."""
    identifier, target, grader = _SERIES
    return {
        "find_baseline": lambda: history.find_baseline(identifier, target, grader),
        "find_baselines_of_kind": lambda: history.find_baselines_of_kind(
            identifier, target, grader
        ),
        "newest_baseline_id": history.newest_baseline_id,
        "list_runs": history.list_runs,
        "list_runs of a set": lambda: history.list_runs(set_identifier=identifier),
        "latest_run": lambda: history.latest_run(identifier, target),
        "find_run latest": lambda: history.find_run("latest"),
        "find_run by prefix": lambda: history.find_run("0000000a"),
        "other_targets": lambda: history.other_targets(identifier, target),
    }


def build_history(path: Path, *, runs: int, prompts: int) -> None:
    """Make a history of many runs: the first one as evalcli stores it, the others copied."""
    run = make_run([f"prompt-{number}" for number in range(prompts)], run_id="f" * 8)
    trials = [
        make_trial(planned.prompt_id, passed=number % 10 > 0, answer=make_answer("Monday. " * 20))
        for number, planned in enumerate(run.plan)
    ]
    outcome = make_outcome(run, trials)
    with History.open(path) as history:
        history.start_run(replace(run, status=RunStatus.RUNNING))
        for trial in trials:
            history.save_trial(run.run_id, trial)
        history.finish_run(outcome.run, outcome.summary, outcome.comparison, outcome.verdict)
        given = make_baseline(outcome.run, trials, baseline_id=None)
        history.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        connection = history.connection
        connection.execute("PRAGMA foreign_keys = OFF")
        # Only while building: no log and a big cache.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -200000")
        connection.execute("BEGIN")
        for table in ("baselines", "baseline_prompts"):
            _copy_rows(history, table, runs // _RUNS_PER_BASELINE)
        for table in ("runs", "run_prompts", "trials"):
            _copy_rows(history, table, runs - 1)
        connection.execute("COMMIT")


def _copy_rows(history: History, table: str, copies: int) -> None:
    columns = [row[1] for row in history.connection.execute(f"PRAGMA table_info({table})")]
    own = {**_COPIED, "baseline_id": "NULL"} if table == "runs" else _COPIED
    values = [own.get(column, f"t.{column}") for column in columns]
    sql = _COPY.format(table=table, columns=", ".join(columns), values=", ".join(values))
    history.connection.execute(sql, (copies,))


def find_full_scans(history: History, ask: Callable[[], object]) -> tuple[str, ...]:
    """Ask, and name each step of the query plans that reads a table without an index."""
    asked: list[str] = []
    history.connection.set_trace_callback(asked.append)
    ask()
    history.connection.set_trace_callback(None)
    steps = [
        step
        for sql in asked
        if sql.lstrip().upper().startswith("SELECT")
        for (_, _, _, step) in history.connection.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]
    return tuple(step for step in steps if re.match(r"SCAN (?!.*USING).*", step))


def _time_ms(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        started = perf_counter()
        ask()
        times.append(perf_counter() - started)
    return median(times) * 1e3


def _time_saving_us(history: History) -> float:
    run = make_run([f"prompt-{number}" for number in range(1000)], run_id="e" * 8)
    trials = [make_trial(planned.prompt_id) for planned in run.plan]
    history.start_run(run)
    times = []
    for trial in trials:
        started = perf_counter()
        history.save_trial(run.run_id, trial)
        times.append(perf_counter() - started)
    return median(times) * 1e6


def main() -> None:
    """Measure, show, and end with 1 where a limit is missed."""
    with tempfile.TemporaryDirectory() as folder:
        figures = bench_history(Path(folder))
    show_and_exit(figures)


if __name__ == "__main__":
    main()
