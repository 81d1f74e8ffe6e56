"""A run is one row and its plan, and comes back as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalcli.history.run_rows import (
    OUTCOME_COLUMNS,
    omission_rows,
    outcome_cells,
    plan_rows,
    read_outcome,
    read_run,
    run_cells,
)
from evalcli.records import (
    BaselineMove,
    Comparison,
    ComparisonState,
    PlannedPrompt,
    Run,
    RunStatus,
    StoredOutcome,
    Verdict,
    VerdictWord,
)
from tests.support.builders import make_run, make_summary, make_trial
from tests.support.record_strategies import any_text, records_of

_OMISSION_COLUMNS = ("run_id", "position", "prompt_id", "why", "reason")

plans: st.SearchStrategy[object] = st.lists(
    records_of(PlannedPrompt), max_size=3, unique_by=lambda planned: planned.prompt_id
).map(tuple)


def stored_and_read(run: Run, *, keep_texts: bool = True, is_alive: bool = False) -> Run:
    row: dict[str, Any] = dict(run_cells(run, keep_texts=keep_texts))
    plan = [(prompt_id, asked, graded) for _, _, prompt_id, asked, graded in plan_rows(run)]
    left_out = [dict(zip(_OMISSION_COLUMNS, cells, strict=True)) for cells in omission_rows(run)]
    return read_run(row, plan, left_out, is_alive=is_alive)


@given(records_of(Run, {"plan": plans}))
def test_every_field_of_a_run_comes_back(run: Run) -> None:
    assert stored_and_read(run, is_alive=True) == run


def test_a_running_run_that_no_process_is_at_is_interrupted() -> None:
    run = Run(**{**_fields(make_run()), "status": RunStatus.RUNNING})
    kept = stored_and_read(run, is_alive=False)
    assert (kept.status, kept.is_interrupted) == (RunStatus.INCOMPLETE, True)


def test_without_texts_a_system_prompt_is_not_kept() -> None:
    values = _fields(make_run())
    values["treatment"] = type(values["treatment"])(system="Be brief.", system_fingerprint="v1:1")
    values["options"] = {"system": "Be brief.", "only": ["a"]}
    kept = stored_and_read(Run(**values), keep_texts=False)
    assert (kept.treatment.system, kept.treatment.system_fingerprint) == (None, "v1:1")
    assert kept.options == {"only": ["a"]}


@given(records_of(Comparison), records_of(Verdict), st.sampled_from(list(BaselineMove)), any_text)
def test_the_end_of_a_run_comes_back(
    comparison: Comparison, verdict: Verdict, move: BaselineMove, note: str
) -> None:
    cells: dict[str, Any] = dict(
        outcome_cells(make_summary(make_run(), [make_trial()]), comparison, verdict, move, note)
    )
    assert read_outcome(cells) == StoredOutcome(comparison, verdict, move, note)


def test_the_columns_of_the_end_are_all_named() -> None:
    summary = make_summary(make_run(), [make_trial()])
    comparison, verdict = Comparison(ComparisonState.BASELINE), Verdict(VerdictWord.PASSED)
    cells = outcome_cells(summary, comparison, verdict, BaselineMove.NONE, "")
    assert tuple(cells) == OUTCOME_COLUMNS


def _fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in Run.__slots__}
