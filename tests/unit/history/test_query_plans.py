"""What is asked before and after every run is found by an index, however long the history is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcli.history.store import History
from tests.bench.history import build_history, find_full_scans, questions


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    path = tmp_path / "history.db"
    build_history(path, runs=60, prompts=3)
    with History.open(path) as history:
        yield history


def test_no_question_reads_a_whole_table(history: History) -> None:
    scans = {
        name: steps
        for name, ask in questions(history).items()
        if (steps := find_full_scans(history, ask))
    }
    assert scans == {}


def test_a_question_that_reads_a_whole_table_would_be_seen(history: History) -> None:
    def ask() -> object:
        return history.connection.execute("SELECT * FROM runs WHERE verdict = 'x'").fetchall()

    assert find_full_scans(history, ask) == ("SCAN runs",)


def test_the_questions_of_the_bench_have_answers(history: History) -> None:
    assert all(
        answer not in (None, ())
        for name, ask in questions(history).items()
        if name != "other_targets"
        for answer in [ask()]
    )
