"""The history: every run, trial and baseline, in one SQLite file that several processes share.

A call that writes returns when its transaction is committed: a killed process loses nothing. With
`synchronous = NORMAL` a power cut may lose the last answers, never the file.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import Literal, Self

from sqlite_utils import Database

from evalcli.errors import HistoryError
from evalcli.history import baseline_rows, decision_rows, profile_rows, run_queries
from evalcli.history.cells import Cell, need_text, plain_value, text_cell
from evalcli.history.database import (
    explain_fault,
    faults_explained,
    lock_path,
    open_database,
    writing,
)
from evalcli.history.locks import hold_lock, is_lock_held
from evalcli.history.prune import prune_runs
from evalcli.history.ranking_cells import read_score
from evalcli.history.run_rows import (
    OUTCOME_COLUMNS,
    Row,
    omission_rows,
    outcome_cells,
    plan_rows,
    read_listing,
    read_outcome,
    read_run,
    run_cells,
)
from evalcli.history.trial_rows import SAVE_TRIAL, read_trial, trial_cells
from evalcli.records import (
    Baseline,
    BaselineMove,
    Comparison,
    PruneReport,
    QuestionScore,
    Run,
    RunListing,
    StoredDecision,
    StoredOutcome,
    StoredProfile,
    Summary,
    Trial,
    Verdict,
)

EXPORT_SCHEMA_VERSION = 1

BUSY_TIMEOUT_S = 30.0
"""How long a call waits for another process that writes; each write takes milliseconds."""

_HOLD_WAIT_S = 0.5  # Longer than any process takes to look whether a run is held.
_RUN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_TRIALS_IN_ORDER = """
SELECT t.* FROM run_prompts AS p
JOIN trials AS t ON t.run_id = p.run_id AND t.prompt_id = p.prompt_id
WHERE p.run_id = ? ORDER BY p.position, t.trial
"""


class History:
    """One open history. Use it in one thread, as a context manager.

    Faults of the file are HistoryErrors; their exit status is 3 once `save_trial` was called,
    because something was sent by then, and 2 before.
    """

    def __init__(self, path: Path, database: Database, *, keep_texts: bool) -> None:
        self._path = path
        self._db = database
        self._keep_texts = keep_texts
        self._was_sent = False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        content: Literal["full", "metadata"] = "full",
        busy_timeout_s: float = BUSY_TIMEOUT_S,
    ) -> History:
        """Open a history, made or upgraded where need be.

        With `content="metadata"` no text of a system prompt, an answer, its reasoning or refusal,
        and no excerpt of one, is written to the file.

        Raises:
            HistoryError: the file or its folder cannot be used; says why and what to do.
        """
        real = path.resolve()
        database = open_database(
            real, busy_timeout_s=busy_timeout_s, opening_timeout_s=busy_timeout_s
        )
        return cls(real, database, keep_texts=content == "full")

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself, for questions in SQL."""
        return self._db.conn

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- a run as it happens ------------------------------------------------------------------

    def new_run_id(self) -> str:
        """Make an id that no run of this history has: 8 hexadecimal digits."""
        while True:
            run_id = secrets.token_hex(4)
            if not self._query("SELECT 1 FROM runs WHERE run_id = ?", run_id):
                return run_id

    @contextmanager
    def hold_run(self, run_id: str) -> Iterator[None]:
        """Be the only process at this run; hold it before it is started or resumed.

        The system frees it when the process ends in any way.

        Raises:
            HistoryError: another process is at it.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(self._lock_path(run_id), wait_s=_HOLD_WAIT_S))
            except BlockingIOError as exc:
                raise HistoryError(
                    f"run {run_id} is under way in another process",
                    advice="wait until that process is done",
                ) from exc
            except OSError as exc:
                raise HistoryError(
                    f"history {self._path}: run {run_id} cannot be locked ({exc.strerror or exc})",
                    advice="make the folder of the history writable",
                ) from exc
            yield

    def start_run(self, run: Run) -> None:
        """Store a run and its plan, before its first request."""
        self._lock_path(run.run_id)  # Refuses an id that is no file name.
        with self._writing():
            self._db.table("runs").insert(run_cells(run, keep_texts=self._keep_texts))
            self.connection.executemany(
                "INSERT INTO run_prompts VALUES (?, ?, ?, ?, ?)", plan_rows(run)
            )
            self.connection.executemany(
                "INSERT INTO run_omissions VALUES (?, ?, ?, ?, ?)", omission_rows(run)
            )

    def resume_run(self, run: Run) -> None:
        """Store that a run goes on; its earlier end is forgotten, its plan and trials stay."""
        with self._writing():
            self._update_run(run, dict.fromkeys(OUTCOME_COLUMNS))

    def save_trial(self, run_id: str, trial: Trial) -> None:
        """Commit one trial; it takes the place of one of the same number that has no grade.

        Raises:
            HistoryError: it could not be stored; says how many answers of the run are kept.
            ValueError: that trial is graded already.
        """
        self._was_sent = True
        cells = trial_cells(run_id, trial, keep_texts=self._keep_texts)
        try:
            saved = self._db.conn.execute(SAVE_TRIAL, cells).rowcount
        except sqlite3.Error as exc:
            error = self._explain_loss(exc, run_id, trial)
            if error is None:
                raise
            raise error from exc
        if not saved:
            raise ValueError(f"trial {trial.trial} of {trial.prompt_id!r} is graded already")

    def finish_run(
        self,
        run: Run,
        summary: Summary,
        comparison: Comparison,
        verdict: Verdict,
        *,
        baseline_move: BaselineMove = BaselineMove.NONE,
        baseline_note: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        """Store how a run ended; the trials are stored already."""
        cells = outcome_cells(summary, comparison, verdict, baseline_move, baseline_note, notes)
        with self._writing():
            self._update_run(run, cells)

    def note_baseline_move(self, run_id: str, move: BaselineMove, note: str) -> None:
        """Store what the run did to the baseline of its series, and why."""
        with self._writing():
            self.connection.execute(
                "UPDATE runs SET baseline_move = ?, baseline_note = ? WHERE run_id = ?",
                (move.value, text_cell(note), run_id),
            )

    # --- runs that are stored -----------------------------------------------------------------

    def find_run(self, id_or_prefix: str) -> Run:
        """Find a run by its id, a unique prefix of it, or `latest`.

        Raises:
            UsageError: there is none, or more than one.
        """
        with self._explained():
            run_id = run_queries.find_run_id(self._db, id_or_prefix.strip())
            row, plan, left_out = run_queries.load_run_rows(self._db, run_id)
            return read_run(row, plan, left_out, is_alive=self._is_alive(row))

    def load_trials(self, run_id: str) -> tuple[Trial, ...]:
        """Load the trials of a run in the plan's order, then by number."""
        return tuple(read_trial(row) for row in self._query(_TRIALS_IN_ORDER, run_id))

    def load_question_scores(
        self, run_id: str, prompt_ids: Collection[str]
    ) -> Mapping[str, QuestionScore]:
        """Load how the named questions of a run did; those that are not stored lack."""
        rows = self._query(
            "SELECT prompt_id, question_score FROM trials WHERE run_id = ? AND state = 'graded'",
            run_id,
        )
        found = {}
        for row in rows:
            prompt_id = need_text(row["prompt_id"])
            score = read_score(row["question_score"]) if prompt_id in prompt_ids else None
            if score is not None:
                found[prompt_id] = score
        return found

    def load_outcome(self, run_id: str) -> StoredOutcome | None:
        """Load how a run ended; None while it has not."""
        rows = self._query(
            "SELECT comparison, verdict_details, baseline_move, baseline_note, notes FROM runs "
            "WHERE run_id = ?",
            run_id,
        )
        return read_outcome(rows[0]) if rows else None

    def has_texts(self, run_id: str) -> bool:
        """Whether the texts of all answers of a run are kept, so that they can be graded again."""
        return not self._query(
            "SELECT 1 FROM trials WHERE run_id = ? AND has_text = 1 AND answer IS NULL LIMIT 1",
            run_id,
        )

    def list_runs(
        self, *, set_identifier: str | None = None, kind: str | None = None, limit: int = 50
    ) -> tuple[RunListing, ...]:
        """List runs, newest first."""
        with self._explained():
            rows = run_queries.list_run_rows(self._db, set_identifier, kind, limit)
            runs = [
                read_listing(
                    row,
                    is_alive=self._is_alive(row),
                    counts=run_queries.count_measured(self._db, row),
                )
                for row in rows
            ]
            series = {(run.set_identifier, run.target, run.grader) for run in runs}
            current = {baseline_rows.current_run_id(self._db, *one) for one in series}
            return tuple(replace(run, is_baseline=run.run_id in current) for run in runs)

    def latest_run(
        self, set_identifier: str, target: str, *, before_run_id: str | None = None
    ) -> Run | None:
        """Find the newest complete run that is neither draft, partial nor mixed.

        With `before_run_id` only runs that were started before that one count.
        """
        with self._explained():
            before = None
            if before_run_id is not None:
                before = run_queries.find_run_number(self._db, before_run_id)
            run_id = run_queries.find_latest_id(self._db, set_identifier, target, before)
        return None if run_id is None else self.find_run(run_id)

    def other_targets(self, set_identifier: str, target: str) -> tuple[str, ...]:
        """Name the other targets that this set has runs of."""
        with self._explained():
            return run_queries.find_other_targets(self._db, set_identifier, target)

    def prune(self, *, older_than: datetime, dry_run: bool = False) -> PruneReport:
        """Remove runs started before `older_than`, but none that a current baseline rests on."""
        with self._explained():
            return prune_runs(self._db, self._path, older_than, is_dry_run=dry_run)

    def export_run(self, run_id: str) -> Iterator[dict[str, object]]:
        """Give a run as values for JSON lines: the run, then its trials in order.

        Source: docs/history.md, "An exported run".
        """
        run = self.find_run(run_id)
        outcome = self.load_outcome(run.run_id)
        yield {
            "type": "run",
            "schema_version": EXPORT_SCHEMA_VERSION,
            "has_texts": self.has_texts(run.run_id),
            **_plain_fields(run),
            "outcome": None if outcome is None else _plain_fields(outcome),
        }
        for trial in self.load_trials(run.run_id):
            yield {"type": "trial", **_plain_fields(trial)}

    # --- baselines ----------------------------------------------------------------------------

    def newest_baseline_id(self) -> int:
        """Find the newest baseline of any series; 0 where there is none."""
        with self._explained():
            return baseline_rows.newest_id(self._db)

    def find_baseline(
        self, set_identifier: str, target: str, grader: str, *, as_of: int | None = None
    ) -> Baseline | None:
        """Find the current baseline of a series, or the one that was when `as_of` was newest."""
        with self._explained():
            number = baseline_rows.current_id(self._db, set_identifier, target, grader, as_of)
            return None if number is None else baseline_rows.load_rows(self._db, number)

    def find_baselines_of_kind(
        self, set_identifier: str, target: str, grader_kind: str, *, as_of: int | None = None
    ) -> tuple[Baseline, ...]:
        """Find the current baseline of every yardstick of one kind of grader, newest first."""
        with self._explained():
            numbers = baseline_rows.current_ids_of_kind(
                self._db, set_identifier, target, grader_kind, as_of
            )
            return tuple(baseline_rows.load_rows(self._db, number) for number in numbers)

    def list_baselines(self, set_identifier: str | None = None) -> tuple[Baseline, ...]:
        """Load the current baseline of every series, of one set or of all, newest first."""
        with self._explained():
            numbers = baseline_rows.all_current_ids(self._db, set_identifier)
            return tuple(baseline_rows.load_rows(self._db, number) for number in numbers)

    def load_baseline(self, baseline_id: int) -> Baseline:
        """Load one baseline, current or not.

        Raises:
            HistoryError: there is none of that number.
        """
        with self._explained():
            return baseline_rows.load_rows(self._db, baseline_id)

    def save_baseline(
        self, baseline: Baseline, *, expected_id: int | EllipsisType | None, how: BaselineMove
    ) -> Baseline | None:
        """Make this the current baseline of its series; give it with its number.

        None, and nothing stored, where the current one is not `expected_id` (None: there is none)
        any more; `...` takes the place of whatever is current.
        """
        with self._writing():
            current = baseline_rows.current_id(
                self._db, baseline.set_identifier, baseline.target, baseline.grader
            )
            if expected_id is not ... and current != expected_id:
                return None
            number = baseline_rows.insert_rows(self._db, baseline, how, keep_texts=self._keep_texts)
            return baseline_rows.load_rows(self._db, number)

    # --- versions of profiles -------------------------------------------------------------------

    def find_profile(self, identifier: str, version: int) -> StoredProfile | None:
        """Find what a version of a profile was at its first stored use; None before that."""
        return next(iter(self.list_profiles(identifier, version)), None)

    def list_profiles(
        self, identifier: str, version: int | None = None
    ) -> tuple[StoredProfile, ...]:
        """List the versions of a profile that were used, the newest first."""
        with self._explained():
            return profile_rows.load_rows(self._db, identifier, version)

    def remember_profile(self, stored: StoredProfile) -> StoredProfile:
        """Remember a version of a profile; give the one that counts, the first there was."""
        with self._writing():
            profile_rows.add_row(self._db, stored, keep_texts=self._keep_texts)
            (first,) = profile_rows.load_rows(self._db, stored.identifier, stored.version)
            return first

    def forget_profile(self, identifier: str, version: int) -> bool:
        """Forget what a version of a profile was; says whether it was known."""
        with self._writing():
            return profile_rows.remove_rows(self._db, identifier, version)

    # --- decisions outside of runs --------------------------------------------------------------

    def save_decisions(self, decisions: Sequence[StoredDecision]) -> None:
        """Commit decisions, made or failed; their subjects only where texts are kept."""
        self._was_sent = True
        with self._writing():
            decision_rows.add_rows(self._db, decisions, keep_texts=self._keep_texts)

    # --- within -------------------------------------------------------------------------------

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with faults_explained(self._path, was_sent=self._was_sent):
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._explained(), writing(self.connection):
            yield

    def _query(self, sql: str, *cells: Cell) -> list[Row]:
        with self._explained():
            return list(self._db.query(sql, cells))

    def _update_run(self, run: Run, outcome: dict[str, Cell]) -> None:
        cells = {**run_cells(run, keep_texts=self._keep_texts), **outcome}
        number = run_queries.find_run_number(self._db, run.run_id)
        if number is None:
            raise ValueError(f"run {run.run_id} was not started")
        self._db.table("runs").update(number, cells)

    def _lock_path(self, run_id: str) -> Path:
        if _RUN_ID.fullmatch(run_id) is None:
            raise ValueError(f"{run_id!r} is no run id")
        return lock_path(self._path, run_id)

    def _is_alive(self, row: Row) -> bool:
        """Whether a process is at a run; only asked where the row says that it is running."""
        run_id = need_text(row["run_id"])
        return row["status"] == "running" and is_lock_held(self._lock_path(run_id))

    def _explain_loss(self, exc: sqlite3.Error, run_id: str, trial: Trial) -> HistoryError | None:
        """Say what a fault of the file lost, and what of the run is kept."""
        error = explain_fault(exc, self._path, was_sent=True)
        if error is None:
            return None
        message = f'{error.message}: the answer to "{trial.prompt_id}" is lost'
        advice = error.advice
        with suppress(sqlite3.Error):  # A file that cannot be read either says no more.
            kept, command = run_queries.find_kept(self._db, run_id)
            message = f"{message}, {kept} answers of run {run_id} are kept"
            advice = f"{advice}; go on with `{command}`"
        return HistoryError(message, advice=advice, was_sent=True)


def _plain_fields(record: Run | Trial | StoredOutcome) -> dict[str, object]:
    plain = plain_value(record)
    return plain if isinstance(plain, dict) else {}
