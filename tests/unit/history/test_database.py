"""What makes a history unusable is said in words, before anything is spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evalcli.errors import ExitStatus, HistoryError
from evalcli.history.database import lock_path, open_database
from evalcli.history.locks import hold_lock
from evalcli.history.migrations import SCHEMA_VERSION
from evalcli.history.store import History
from evalcli.records import BaselineMove, RunStatus, Trial
from tests.support.builders import make_answer, make_baseline, make_run, make_trial


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


def change(path: Path, *statements: str) -> None:
    """Change a database as another program would."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def refusal(path: Path) -> HistoryError:
    with pytest.raises(HistoryError) as caught:
        History.open(path, busy_timeout_s=0.1)
    return caught.value


class TestOpening:
    """A file is opened, or refused with a reason."""

    def test_folders_are_made(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b" / "history.db"
        History.open(path).close()
        assert path.exists()

    def test_the_file_is_set_up_for_several_writers(self, path: Path) -> None:
        with History.open(path) as history:
            pragmas = ("journal_mode", "synchronous", "foreign_keys", "auto_vacuum")
            found = [history.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
        assert found == ["wal", 1, 1, 2]

    def test_an_empty_file_becomes_a_history(self, path: Path) -> None:
        path.touch()
        with History.open(path) as history:
            assert history.list_runs() == ()

    def test_two_names_of_one_file_share_their_locks(self, tmp_path: Path, path: Path) -> None:
        link = tmp_path / "link.db"
        link.symlink_to(path)
        with (
            History.open(path) as one,
            History.open(link) as other,
            one.hold_run("91c2"),
            pytest.raises(HistoryError, match="under way"),
            other.hold_run("91c2"),
        ):
            pass

    @pytest.mark.parametrize(
        "make_newer",
        [
            f"PRAGMA user_version = {SCHEMA_VERSION + 5}",
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('evalcli_history', 'm0099_later', '2030-01-01')",
        ],
        ids=["version", "step"],
    )
    def test_a_newer_schema_is_refused_naming_both_versions(
        self, path: Path, make_newer: str
    ) -> None:
        History.open(path).close()
        change(path, make_newer)
        error = refusal(path)
        assert f"this evalcli knows up to version {SCHEMA_VERSION}" in error.message
        assert "its schema is version" in error.message
        assert error.exit_status is ExitStatus.USAGE

    def test_a_refused_newer_file_is_left_as_it_was(self, path: Path) -> None:
        change(path, "PRAGMA application_id = 0x65766C68", "PRAGMA user_version = 99")
        before = path.read_bytes()
        refusal(path)
        assert path.read_bytes() == before

    def test_another_programs_database_is_left_as_it_was(self, path: Path) -> None:
        change(path, "CREATE TABLE notes (text)")
        before = path.read_bytes()
        assert "a database of another program" in refusal(path).message
        assert path.read_bytes() == before

    def test_a_file_that_is_no_database_is_refused(self, path: Path) -> None:
        path.write_text("kind: prompts\n" * 100, encoding="utf-8")
        assert "no SQLite database" in refusal(path).message

    def test_a_damaged_file_is_refused(self, path: Path) -> None:
        History.open(path).close()
        content = bytearray(path.read_bytes())
        content[100:] = b"\xff" * (len(content) - 100)
        path.write_bytes(content)
        assert "damaged" in refusal(path).message

    def test_a_folder_is_no_history(self, path: Path) -> None:
        path.mkdir()
        assert "cannot be opened" in refusal(path).message

    def test_a_folder_that_is_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        error = refusal(tmp_path / "file" / "history.db")
        assert "folder cannot be used" in error.message
        assert "history.path" in error.advice

    def test_a_read_only_file_is_refused_for_root_too(self, path: Path) -> None:
        History.open(path).close()
        path.chmod(0o444)
        error = refusal(path)
        assert "it is read-only" in error.message
        assert "writable" in error.advice

    def test_a_read_only_folder_is_refused_for_root_too(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir(mode=0o555)
        assert "folder" in refusal(folder / "history.db").message

    def test_a_place_where_no_file_can_be_made_is_refused(self) -> None:
        assert "folder" in refusal(Path("/proc/evalcli/history.db")).message

    def test_a_writer_that_does_not_end_is_named(self, path: Path) -> None:
        with History.open(path) as other:
            other.connection.execute("BEGIN IMMEDIATE")
            error = refusal(path)
            other.connection.execute("ROLLBACK")
        assert "another process keeps it locked" in error.message
        assert error.exit_status is ExitStatus.USAGE

    def test_the_wait_for_another_start_is_bounded(self, path: Path) -> None:
        with hold_lock(lock_path(path), wait_s=0), pytest.raises(HistoryError) as caught:
            open_database(path, busy_timeout_s=1, opening_timeout_s=0.05)
        assert "another process has been preparing it for 0.05 seconds" in caught.value.message

    def test_a_start_that_was_killed_half_way_is_finished_by_the_next(self, path: Path) -> None:
        change(
            path,
            "PRAGMA application_id = 0x65766C68",
            "CREATE TABLE _sqlite_migrations "
            "(id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT)",
        )
        with History.open(path) as history:
            assert history.list_runs() == ()


@pytest.fixture
def running(path: Path) -> Iterator[History]:
    """A history with a run under way and one answer stored."""
    with History.open(path, busy_timeout_s=0.1) as history:
        run = make_run([f"p{number}" for number in range(200)])
        history.start_run(replace(run, status=RunStatus.RUNNING))
        history.save_trial("91c2", make_trial("p0"))
        yield history


def save_big_answers(history: History) -> HistoryError:
    """Save answers until one cannot be stored."""
    with pytest.raises(HistoryError) as caught:
        for number in range(1, 200):
            answer = make_answer("x" * 50_000)
            history.save_trial("91c2", make_trial(f"p{number}", answer=answer))
    return caught.value


class TestFaultsDuringARun:
    """A fault after something was sent is exit 3, and says what is kept."""

    def test_a_full_disk_keeps_what_was_stored(self, running: History) -> None:
        running.connection.execute("PRAGMA max_page_count = 100")
        error = save_big_answers(running)
        kept = len(running.load_trials("91c2"))
        assert error.exit_status is ExitStatus.INCOMPLETE
        assert "the disk is full" in error.message
        assert f"{kept} answers of run 91c2 are kept" in error.message
        assert "evalcli eval run acme.faq --resume 91c2" in error.advice
        assert 1 < kept < 20

    def test_a_run_goes_on_when_there_is_space_again(self, running: History) -> None:
        running.connection.execute("PRAGMA max_page_count = 100")
        save_big_answers(running)
        kept = len(running.load_trials("91c2"))
        running.connection.execute("PRAGMA max_page_count = 100000")
        running.save_trial("91c2", make_trial("p199"))
        assert len(running.load_trials("91c2")) == kept + 1

    def test_a_full_disk_at_the_end_leaves_the_run_without_an_end(self, running: History) -> None:
        (pages,) = running.connection.execute("PRAGMA page_count").fetchone()
        running.connection.execute(f"PRAGMA max_page_count = {pages}")
        given = make_baseline(make_run([f"{n}" for n in range(900)]), _passed(900))
        with pytest.raises(HistoryError) as caught:
            running.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        assert caught.value.exit_status is ExitStatus.INCOMPLETE
        assert running.newest_baseline_id() == 0

    @pytest.mark.parametrize(
        "act",
        [
            lambda history: history.save_trial("91c2", make_trial("p1")),
            lambda history: history.note_baseline_move("91c2", BaselineMove.NONE, ""),
            lambda history: history.start_run(make_run(run_id="5be0")),
        ],
        ids=["save", "note", "start"],
    )
    def test_a_lock_that_stays_is_named(
        self, running: History, path: Path, act: Callable[[History], None]
    ) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryError) as caught:
            act(running)
        other.close()
        assert "another process keeps it locked" in caught.value.message
        assert caught.value.exit_status is ExitStatus.INCOMPLETE

    def test_a_file_that_became_read_only_is_named(self, running: History) -> None:
        running.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(HistoryError) as caught:
            running.save_trial("91c2", make_trial("p1"))
        assert "it is read-only" in caught.value.message
        assert "1 answers of run 91c2 are kept" in caught.value.message

    def test_before_anything_was_sent_a_fault_is_exit_2(self, path: Path) -> None:
        with History.open(path) as history:
            history.connection.execute("PRAGMA query_only = ON")
            with pytest.raises(HistoryError) as caught:
                history.start_run(make_run())
        assert caught.value.exit_status is ExitStatus.USAGE

    def test_a_bug_is_not_taken_for_a_fault_of_the_file(self, running: History) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            running.save_trial("91c2", make_trial("not in the plan"))

    def test_a_bug_leaves_no_transaction_open(self, running: History) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            running.start_run(make_run(["a", "a"], run_id="5be0"))
        assert not running.connection.in_transaction
        assert [line.run_id for line in running.list_runs()] == ["91c2"]


def _passed(count: int) -> list[Trial]:
    return [make_trial(f"{number}") for number in range(count)]
