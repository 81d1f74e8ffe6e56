"""Opening a history: one process at a time prepares it, and what is wrong is said in words."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from evalcli.errors import HistoryError
from evalcli.history.locks import hold_lock
from evalcli.history.migrations import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    migrations,
    unknown_steps,
)

_OTHER_PLACE = "name another file in `history.path` of evalcli.yaml"

_MEANINGS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space, then try again"),
    sqlite3.SQLITE_BUSY: (
        "another process keeps it locked",
        "wait until that process is done, then try again",
    ),
    sqlite3.SQLITE_LOCKED: (
        "another process keeps it locked",
        "wait until that process is done, then try again",
    ),
    sqlite3.SQLITE_READONLY: (
        "it is read-only",
        f"make the file and its folder writable, or {_OTHER_PLACE}",
    ),
    sqlite3.SQLITE_PERM: (
        "this user may not use it",
        f"make the file and its folder writable, or {_OTHER_PLACE}",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        f"check that it is a file in a folder this user may write to, or {_OTHER_PLACE}",
    ),
    sqlite3.SQLITE_NOTADB: ("it is no SQLite database", f"move it away, or {_OTHER_PLACE}"),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged",
        f"restore it from a copy, move it away, or {_OTHER_PLACE}",
    ),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", f"check the disk, or {_OTHER_PLACE}"),
}


def explain_fault(exc: sqlite3.Error, path: Path, *, was_sent: bool = False) -> HistoryError | None:
    """Say what a fault of the database means; None where it is a bug of ours and no fault."""
    meaning = _MEANINGS.get(getattr(exc, "sqlite_errorcode", 0) & 0xFF)
    if meaning is None:
        return None
    return HistoryError(
        f"history {path}: {meaning[0]} ({exc})", advice=meaning[1], was_sent=was_sent
    )


@contextmanager
def faults_explained(path: Path, *, was_sent: bool = False) -> Iterator[None]:
    """Turn faults of the database into HistoryError; bugs stay what they are."""
    try:
        yield
    except sqlite3.Error as exc:
        error = explain_fault(exc, path, was_sent=was_sent)
        if error is None:
            raise
        raise error from exc


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one transaction that writes; joins the one that is open."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()  # Does nothing where the fault has ended the transaction already.
        raise


def open_database(path: Path, *, busy_timeout_s: float, opening_timeout_s: float) -> Database:
    """Open a history file, made or upgraded where need be.

    The switch to WAL and the migrations run under one lock, since SQLite does not wait for
    another process there.

    Raises:
        HistoryError: the file cannot be used, or another process holds the lock for too long.
    """
    _check_place(path)
    try:
        with (
            hold_lock(lock_path(path), wait_s=opening_timeout_s, is_kept=True),
            faults_explained(path),
        ):
            return _prepare(path, busy_timeout_s)
    except BlockingIOError as exc:
        raise HistoryError(
            f"history {path}: another process has been preparing it for "
            f"{opening_timeout_s:g} seconds",
            advice="wait until that process is done, then try again",
        ) from exc
    except OSError as exc:
        raise HistoryError(
            f"history {path}: its folder cannot be written to ({exc.strerror or exc})",
            advice=f"make the folder writable, or {_OTHER_PLACE}",
        ) from exc


def lock_path(path: Path, name: str = "") -> Path:
    """Name the lock file of a history, or of one thing in it."""
    return path.with_name(f"{path.name}{'.' + name if name else ''}.lock")


def _check_place(path: Path) -> None:
    """Refuse a place that cannot be written to; make the folder where it is missing.

    A file without any write bit was put under protection on purpose, so it is left alone even
    where the user could write to it, as root can.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        places = [path.parent, path] if path.exists() else [path.parent]
        protected = next((p for p in places if not stat.S_IMODE(p.stat().st_mode) & 0o222), None)
    except OSError as exc:
        raise HistoryError(
            f"history {path}: its folder cannot be used ({exc.strerror or exc})",
            advice=_OTHER_PLACE,
        ) from exc
    if protected is not None:
        what = "it" if protected == path else f"its folder {protected}"
        raise HistoryError(
            f"history {path}: {what} is read-only",
            advice=f"make the file and its folder writable, or {_OTHER_PLACE}",
        )


def _prepare(path: Path, busy_timeout_s: float) -> Database:
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    try:
        # No plug-ins: what else is installed must not change what a history does.
        db = Database(connection, execute_plugins=False)
        _check_owner(db, path)
        _check_version(db, path)
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise HistoryError(
                f"history {path}: its file system does not allow several writers (no WAL)",
                advice=f"keep it on a local disk: {_OTHER_PLACE}",
            )
        connection.execute("PRAGMA synchronous = NORMAL")
        migrations.apply(db)
        connection.execute("PRAGMA foreign_keys = ON")
        # A file that can only be read is found out now, and not after the first answer.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except BaseException:
        connection.close()
        raise
    return db


def _check_owner(db: Database, path: Path) -> None:
    """Refuse another program's database; mark a new one as ours."""
    (application,) = db.conn.execute("PRAGMA application_id").fetchone()
    if application == APPLICATION_ID:
        return
    (objects,) = db.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application or objects:
        raise HistoryError(
            f"history {path}: it is a database of another program",
            advice=_OTHER_PLACE,
        )
    # Must come before the first table: lets `prune` give space back without a VACUUM.
    db.conn.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _check_version(db: Database, path: Path) -> None:
    (version,) = db.conn.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION or unknown_steps(db):
        version = max(version, SCHEMA_VERSION + 1)
        raise HistoryError(
            f"history {path}: its schema is version {version}, this evalcli knows up to version "
            f"{SCHEMA_VERSION}",
            advice=f"use the newer evalcli that wrote it, or {_OTHER_PLACE}",
        )
