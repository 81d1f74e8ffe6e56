"""Finding runs: by id, by age, by series. Faults of the file are explained by the caller."""

from __future__ import annotations

from collections.abc import Sequence

from sqlite_utils import Database

from evalcli.errors import UsageError
from evalcli.history.cells import need_integer, need_text, read_text, text_cell
from evalcli.history.run_rows import LISTING_COLUMNS, PlanCells, Row
from evalcli.records import regrade_command, resume_command

_LAST_CHARACTER = "\U0010ffff"
_BEYOND_ALL = 2**62
_NAMES_SHOWN = 6

_NEWEST = "SELECT run_id FROM runs ORDER BY started_at DESC, run_number DESC LIMIT 1"

_LATEST_COMPARABLE = """
SELECT run_id FROM runs
WHERE set_identifier = ? AND target = ? AND status = 'complete'
  AND is_draft = 0 AND is_partial = 0 AND state <> 'mixed' AND run_number < ?
ORDER BY started_at DESC, run_number DESC LIMIT 1
"""

_MEASURED = """
SELECT count(*) AS measured, coalesce(sum(passed), 0) AS passed FROM (
    SELECT min(passed) AS passed FROM trials WHERE run_id = ? AND state = 'graded'
    GROUP BY prompt_id HAVING count(*) >= ?
)
"""


def find_run_id(db: Database, wanted: str) -> str:
    """Find the id of a run by itself, by a unique beginning of it, or by `latest`.

    Raises:
        UsageError: there is none, or more than one.
    """
    if wanted == "latest":
        newest = list(db.query(_NEWEST))
        if not newest:
            raise UsageError(
                "the history has no run yet", advice="make one with `evalcli eval run SET`"
            )
        return need_text(newest[0]["run_id"])
    found = _find_by_id(db, wanted) or _find_by_beginning(db, wanted.lower())
    if not found:
        raise UsageError(f'the history has no run "{wanted}"', advice="see `evalcli history list`")
    names = [need_text(row["run_id"]) for row in found]
    if len(names) > 1:
        more = " and more" if len(names) == _NAMES_SHOWN else ""
        raise UsageError(
            f'"{wanted}" is the beginning of several runs: {", ".join(names)}{more}',
            advice="write more of the id",
        )
    return names[0]


def _find_by_id(db: Database, run_id: str) -> list[Row]:
    return list(db.query("SELECT run_id FROM runs WHERE run_id = ?", (text_cell(run_id),)))


def _find_by_beginning(db: Database, prefix: str) -> list[Row]:
    if not prefix:
        return []
    cells = (text_cell(prefix), text_cell(prefix + _LAST_CHARACTER), _NAMES_SHOWN)
    return list(
        db.query(
            "SELECT run_id FROM runs WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT ?",
            cells,
        )
    )


def load_run_rows(db: Database, run_id: str) -> tuple[Row, Sequence[PlanCells], Sequence[Row]]:
    """Load a run's row, its plan and what it leaves out, both in order."""
    (row,) = db.query("SELECT * FROM runs WHERE run_id = ?", (run_id,))
    plan = db.conn.execute(
        "SELECT prompt_id, asked_fingerprint, graded_fingerprint FROM run_prompts "
        "WHERE run_id = ? ORDER BY position",
        (run_id,),
    )
    left_out = db.query("SELECT * FROM run_omissions WHERE run_id = ? ORDER BY position", (run_id,))
    return row, plan.fetchall(), list(left_out)


def find_run_number(db: Database, run_id: str) -> int | None:
    """Find the number of a run in the order of their starts; None where there is no such run."""
    rows = list(db.query("SELECT run_number FROM runs WHERE run_id = ?", (run_id,)))
    return need_integer(rows[0]["run_number"]) if rows else None


def find_latest_id(
    db: Database, set_identifier: str, target: str, before_number: int | None
) -> str | None:
    """Find the newest run that a new one can be compared with, of lower number if one is given."""
    before = _BEYOND_ALL if before_number is None else before_number
    cells = (text_cell(set_identifier), text_cell(target), before)
    found = list(db.query(_LATEST_COMPARABLE, cells))
    return need_text(found[0]["run_id"]) if found else None


def find_other_targets(db: Database, set_identifier: str, target: str) -> tuple[str, ...]:
    """Name the other targets that a set has runs of, in order of name."""
    rows = db.query(
        "SELECT DISTINCT target FROM runs WHERE set_identifier = ? AND target <> ? ORDER BY target",
        (text_cell(set_identifier), text_cell(target)),
    )
    return tuple(need_text(row["target"]) for row in rows)


def list_run_rows(
    db: Database, set_identifier: str | None, kind: str | None, limit: int
) -> list[Row]:
    """List rows of `LISTING_COLUMNS`, newest first."""
    filters = {"set_identifier": text_cell(set_identifier), "kind": text_cell(kind)}
    given = {name: cell for name, cell in filters.items() if cell is not None}
    where = f"WHERE {' AND '.join(f'{name} = ?' for name in given)} " if given else ""
    return list(
        db.query(
            f"SELECT {', '.join(LISTING_COLUMNS)} FROM runs {where}"  # noqa: S608 - own names
            "ORDER BY started_at DESC, run_number DESC LIMIT ?",
            (*given.values(), limit),
        )
    )


def count_measured(db: Database, row: Row) -> tuple[int, int]:
    """Count measured and passed prompts of a run; (0, 0) where its row has the numbers."""
    if row["measured"] is not None:
        return 0, 0
    (counts,) = db.query(_MEASURED, (row["run_id"], row["trials"]))
    return need_integer(counts["measured"]), need_integer(counts["passed"])


def find_kept(db: Database, run_id: str) -> tuple[int, str]:
    """Count the stored trials of a run, and give the command that goes on with it."""
    (row,) = db.query(
        "SELECT count(t.trial) AS kept, r.kind, r.set_identifier, r.target, r.grader_kind, "
        "r.regraded_from FROM runs AS r "
        "LEFT JOIN trials AS t ON t.run_id = r.run_id WHERE r.run_id = ?",
        (run_id,),
    )
    kind, identifier, target = (
        need_text(row[name]) for name in ("kind", "set_identifier", "target")
    )
    source = read_text(row["regraded_from"])
    if source is not None:
        command = regrade_command(source, need_text(row["grader_kind"]))
    else:
        command = resume_command(kind, identifier, target, run_id)
    return need_integer(row["kept"]), command
