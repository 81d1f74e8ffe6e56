"""Baselines as rows of the history. Versions are only ever added; the newest of a series counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlite_utils import Database

from evalcli.errors import HistoryError
from evalcli.history.cells import (
    Cell,
    exact_cell,
    flag_cell,
    json_cell,
    need_exact,
    need_integer,
    need_text,
    need_time,
    read_record,
    read_text,
    real_cell,
    text_cell,
    time_cell,
)
from evalcli.history.run_rows import Row, read_git
from evalcli.records import Baseline, BaselineMove, BaselinePrompt, Fingerprints, Treatment

_CURRENT = """
SELECT baseline_id FROM baselines
WHERE set_identifier = ? AND target = ? AND grader = ? AND baseline_id <= ?
ORDER BY baseline_id DESC LIMIT 1
"""

_CURRENT_RUN = """
SELECT run_id FROM baselines WHERE set_identifier = ? AND target = ? AND grader = ?
ORDER BY baseline_id DESC LIMIT 1
"""

_CURRENT_OF_KIND = """
SELECT max(baseline_id) AS baseline_id FROM baselines
WHERE set_identifier = ? AND target = ? AND grader_kind = ? AND baseline_id <= ?
GROUP BY grader ORDER BY 1 DESC
"""

_ALL_CURRENT = """
SELECT max(baseline_id) AS baseline_id FROM baselines
WHERE :set IS NULL OR set_identifier = :set
GROUP BY set_identifier, target, grader ORDER BY 1 DESC
"""

_PROMPTS = """
SELECT prompt_id, asked_fingerprint, graded_fingerprint, pass_share_exact, score_exact, run_id
FROM baseline_prompts WHERE baseline_id = ? ORDER BY position
"""

_NEWEST = 2**62


def newest_id(db: Database) -> int:
    """Find the id of the newest baseline of any series; 0 where there is none."""
    (row,) = db.query("SELECT coalesce(max(baseline_id), 0) AS newest FROM baselines")
    return need_integer(row["newest"])


def current_id(
    db: Database, set_identifier: str, target: str, grader: str, as_of: int | None = None
) -> int | None:
    """Find the newest version of a series, or the newest up to `as_of`."""
    cells = (text_cell(set_identifier), text_cell(target), text_cell(grader))
    found = list(db.query(_CURRENT, (*cells, _NEWEST if as_of is None else as_of)))
    return need_integer(found[0]["baseline_id"]) if found else None


def current_run_id(db: Database, set_identifier: str, target: str, grader: str) -> str | None:
    """Find the run that the newest version of a series was made of."""
    cells = (text_cell(set_identifier), text_cell(target), text_cell(grader))
    found = list(db.query(_CURRENT_RUN, cells))
    return need_text(found[0]["run_id"]) if found else None


def current_ids_of_kind(
    db: Database, set_identifier: str, target: str, grader_kind: str, as_of: int | None
) -> list[int]:
    """Find the newest version of every yardstick of one kind of grader, newest first."""
    cells = (text_cell(set_identifier), text_cell(target), text_cell(grader_kind))
    found = db.query(_CURRENT_OF_KIND, (*cells, _NEWEST if as_of is None else as_of))
    return [need_integer(row["baseline_id"]) for row in found]


def all_current_ids(db: Database, set_identifier: str | None) -> list[int]:
    """Find the newest version of every series, of one set or of all, newest first."""
    found = db.query(_ALL_CURRENT, {"set": text_cell(set_identifier)})
    return [need_integer(row["baseline_id"]) for row in found]


def load_rows(db: Database, baseline_id: int) -> Baseline:
    """Load one version with its prompts.

    Raises:
        HistoryError: the history has no such version.
    """
    rows = list(db.query("SELECT * FROM baselines WHERE baseline_id = ?", (baseline_id,)))
    if not rows:
        raise HistoryError(f"baseline {baseline_id} is not in this history")
    # Tuples, since there are hundreds: half the time of rows by name.
    prompts = db.conn.execute(_PROMPTS, (baseline_id,))
    return _read_baseline(rows[0], [_read_prompt(*cells) for cells in prompts])


def insert_rows(db: Database, baseline: Baseline, how: BaselineMove, *, keep_texts: bool) -> int:
    """Add a version and give its id; the caller holds the transaction."""
    treatment = baseline.treatment if keep_texts else replace(baseline.treatment, system=None)
    cells: dict[str, Cell] = {
        "set_identifier": text_cell(baseline.set_identifier),
        "target": text_cell(baseline.target),
        "grader": text_cell(baseline.grader),
        "grader_kind": text_cell(baseline.grader.partition(":")[0]),
        "kind": baseline.kind,
        "set_at": time_cell(baseline.set_at),
        "how": how.value,
        "run_id": baseline.run_id,
        "scoring_version": baseline.scoring_version,
        "git_commit": text_cell(baseline.git.commit),
        "git_branch": text_cell(baseline.git.branch),
        "git_is_dirty": flag_cell(baseline.git.is_dirty),
        "evalcli_version": baseline.evalcli_version,
        "treatment": json_cell(treatment),
    }
    baseline_id = need_integer(db.table("baselines").insert(cells).last_pk)
    db.conn.executemany(
        "INSERT INTO baseline_prompts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        _prompt_rows(baseline_id, baseline.prompts.values()),
    )
    return baseline_id


def _prompt_rows(baseline_id: int, prompts: Iterable[BaselinePrompt]) -> Iterable[tuple[Cell, ...]]:
    for position, prompt in enumerate(prompts):
        yield (
            baseline_id,
            position,
            text_cell(prompt.prompt_id),
            real_cell(prompt.pass_share),
            exact_cell(prompt.pass_share),
            real_cell(prompt.score),
            exact_cell(prompt.score),
            prompt.run_id,
            text_cell(prompt.fingerprints.asked),
            text_cell(prompt.fingerprints.graded),
        )


def _read_baseline(row: Row, prompts: Iterable[BaselinePrompt]) -> Baseline:
    return Baseline(
        set_identifier=need_text(row["set_identifier"]),
        target=need_text(row["target"]),
        grader=need_text(row["grader"]),
        kind=need_text(row["kind"]),
        prompts={prompt.prompt_id: prompt for prompt in prompts},
        run_id=need_text(row["run_id"]),
        set_at=need_time(row["set_at"]),
        treatment=read_record(Treatment, row["treatment"]),
        scoring_version=need_integer(row["scoring_version"]),
        git=read_git(row),
        baseline_id=need_integer(row["baseline_id"]),
        evalcli_version=need_text(row["evalcli_version"]),
    )


def _read_prompt(
    prompt_id: Cell, asked: Cell, graded: Cell, share: Cell, score: Cell, run_id: Cell
) -> BaselinePrompt:
    return BaselinePrompt(
        prompt_id=need_text(prompt_id),
        fingerprints=Fingerprints(read_text(asked), read_text(graded)),
        pass_share=need_exact(share),
        score=need_exact(score),
        run_id=need_text(run_id),
    )
