"""Versions of profiles as rows of the history: what each was at its first stored use."""

from __future__ import annotations

from sqlite_utils import Database

from evalcli.history.cells import (
    json_cell,
    need_integer,
    need_text,
    need_time,
    read_json,
    text_cell,
    time_cell,
)
from evalcli.history.run_rows import Row
from evalcli.records import StoredProfile

_ADD = """
INSERT INTO profile_versions VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (identifier, version) DO NOTHING
"""

_OF_PROFILE = """
SELECT * FROM profile_versions
WHERE identifier = :identifier AND (:version IS NULL OR version = :version) ORDER BY version DESC
"""


def add_row(db: Database, stored: StoredProfile, *, keep_texts: bool) -> None:
    """Add a version; one that is there already stays as it is."""
    content = json_cell(stored.content) if keep_texts and stored.content is not None else None
    db.execute(
        _ADD,
        (
            text_cell(stored.identifier),
            stored.version,
            stored.fingerprint,
            stored.first_use,
            time_cell(stored.first_used_at),
            content,
        ),
    )


def load_rows(
    db: Database, identifier: str, version: int | None = None
) -> tuple[StoredProfile, ...]:
    """Load one version of a profile, or all of them, the newest first."""
    rows = db.query(_OF_PROFILE, {"identifier": text_cell(identifier), "version": version})
    return tuple(_read_row(row) for row in rows)


def remove_rows(db: Database, identifier: str, version: int) -> bool:
    """Forget a version; says whether there was one."""
    cells = (text_cell(identifier), version)
    found = db.execute("DELETE FROM profile_versions WHERE identifier = ? AND version = ?", cells)
    return found.rowcount > 0


def _read_row(row: Row) -> StoredProfile:
    content = read_json(row["content"])
    return StoredProfile(
        identifier=need_text(row["identifier"]),
        version=need_integer(row["version"]),
        fingerprint=need_text(row["fingerprint"]),
        first_use=need_text(row["first_use"]),
        first_used_at=need_time(row["first_used_at"]),
        content=content if isinstance(content, dict) else None,
    )
