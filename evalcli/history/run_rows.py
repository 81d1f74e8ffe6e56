"""One run as rows of the history, and back: its facts, its plan, its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from evalcli.history.cells import (
    Cell,
    decimal_cell,
    exact_cell,
    flag_cell,
    integer_cell,
    json_cell,
    limit_cell,
    need_exact,
    need_integer,
    need_text,
    need_time,
    read_decimal,
    read_exact,
    read_flag,
    read_integer,
    read_json,
    read_record,
    read_text,
    read_texts,
    read_time,
    real_cell,
    text_cell,
    time_cell,
)
from evalcli.records import (
    BaselineMove,
    Comparison,
    ComparisonState,
    Fingerprints,
    GateLimits,
    GitState,
    PlannedPrompt,
    Run,
    RunListing,
    RunStatus,
    StoredOutcome,
    Summary,
    Treatment,
    Verdict,
    VerdictWord,
)

Row = Mapping[str, object]
PlanCells = tuple[Cell, Cell, Cell]

LISTING_COLUMNS = (
    "run_id",
    "kind",
    "set_identifier",
    "target",
    "grader",
    "status",
    "started_at",
    "finished_at",
    "prompts",
    "trials",
    "measured",
    "passed",
    "pass_rate_exact",
    "mean_score_exact",
    "cost_usd",
    "known_cost_usd",
    "state",
    "verdict",
    "is_gate_failed",
    "is_draft",
    "is_partial",
    "is_interrupted",
    "baseline_move",
    "provider",
    "model",
    "git_commit",
    "git_branch",
    "git_is_dirty",
    "regraded_from",
)


def run_cells(run: Run, *, keep_texts: bool) -> dict[str, Cell]:
    """Turn a run's own facts into cells of `runs`; its plan has rows of its own."""
    treatment = run.treatment if keep_texts else replace(run.treatment, system=None)
    options = {name: v for name, v in run.options.items() if keep_texts or name != "system"}
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "set_identifier": text_cell(run.set_identifier),
        "set_name": text_cell(run.set_name),
        "target": text_cell(run.target),
        "grader": text_cell(run.grader),
        "grader_kind": text_cell(run.grader_kind),
        "status": run.status.value,
        "started_at": time_cell(run.started_at),
        "finished_at": time_cell(run.finished_at),
        "is_draft": int(run.is_draft),
        "is_partial": int(run.is_partial),
        "is_interrupted": int(run.is_interrupted),
        "prompts": len(run.plan),
        "trials": run.trials,
        "configuration": text_cell(run.configuration),
        "provider": text_cell(treatment.provider),
        "model": text_cell(treatment.model),
        "git_commit": text_cell(run.git.commit),
        "git_branch": text_cell(run.git.branch),
        "git_is_dirty": flag_cell(run.git.is_dirty),
        "scoring_version": run.scoring_version,
        "data_class": run.data_class,
        "evalcli_version": run.evalcli_version,
        "regraded_from": run.regraded_from,
        "baseline_as_of": run.baseline_as_of,
        "baseline_id": run.baseline_id,
        "baseline_source": text_cell(run.baseline_source),
        "max_pass_rate_drop": limit_cell(run.limits.max_pass_rate_drop),
        "max_mean_score_drop": limit_cell(run.limits.max_mean_score_drop),
        "min_pass_rate": limit_cell(run.limits.min_pass_rate),
        "min_mean_score": limit_cell(run.limits.min_mean_score),
        "max_class_drop": limit_cell(run.limits.max_class_drop),
        "require_baseline": int(run.limits.require_baseline),
        "fail_on_regression": int(run.limits.fail_on_regression),
        "reported_models": json_cell(treatment.reported_models),
        "workspace_limits": json_cell(run.workspace_limits),
        "options": json_cell(options),
        "treatment": json_cell(treatment),
    }


def plan_rows(run: Run) -> Iterable[tuple[Cell, ...]]:
    """Turn a run's plan into rows of `run_prompts`, in that table's order of columns."""
    for position, planned in enumerate(run.plan):
        prints = planned.fingerprints
        yield (
            run.run_id,
            position,
            text_cell(planned.prompt_id),
            text_cell(prints.asked),
            text_cell(prints.graded),
        )


def omission_rows(run: Run) -> Iterable[tuple[Cell, ...]]:
    """Turn what a run leaves out into rows of `run_omissions`, in that table's order."""
    left_out: list[tuple[str, str, str | None]] = [
        *((prompt_id, "skipped", reason) for prompt_id, reason in run.skipped.items()),
        *((prompt_id, "ungraded", None) for prompt_id in run.ungraded),
    ]
    for position, (prompt_id, why, reason) in enumerate(left_out):
        yield run.run_id, position, text_cell(prompt_id), why, text_cell(reason)


def outcome_cells(
    summary: Summary,
    comparison: Comparison,
    verdict: Verdict,
    move: BaselineMove,
    note: str,
    notes: Sequence[str] = (),
) -> dict[str, Cell]:
    """Turn the end of a run into cells of `runs`."""
    return {
        "state": comparison.state.value,
        "verdict": verdict.word.value,
        "is_gate_failed": int(verdict.is_gate_failed),
        "baseline_move": move.value,
        "baseline_note": text_cell(note),
        "measured": summary.measured,
        "passed": summary.passed,
        **_rate_cells("pass_rate", summary.pass_rate),
        **_rate_cells("mean_score", summary.mean_score),
        **_rate_cells("measured_pass_rate", summary.measured_pass_rate),
        **_rate_cells("measured_mean_score", summary.measured_mean_score),
        "input_tokens": integer_cell(summary.input_tokens),
        "output_tokens": integer_cell(summary.output_tokens),
        "cost_usd": decimal_cell(summary.cost_usd),
        "known_cost_usd": decimal_cell(summary.known_cost_usd),
        "refused": summary.refused,
        "cut_off": summary.cut_off,
        "unmeasured": summary.unmeasured,
        "not_graded": summary.not_graded,
        "has_fallback": int(summary.has_fallback),
        **_rate_cells("pass_rate_before", comparison.pass_rate_before),
        **_rate_cells("pass_rate_after", comparison.pass_rate_after),
        **_rate_cells("mean_score_before", comparison.mean_score_before),
        **_rate_cells("mean_score_after", comparison.mean_score_after),
        "verdict_details": json_cell(verdict),
        "comparison": json_cell(comparison),
        "notes": json_cell(notes),
    }


def _rate_cells(name: str, value: Fraction | None) -> dict[str, Cell]:
    return {name: real_cell(value), f"{name}_exact": exact_cell(value)}


OUTCOME_COLUMNS = (
    "state",
    "verdict",
    "is_gate_failed",
    "baseline_move",
    "baseline_note",
    "measured",
    "passed",
    "pass_rate",
    "pass_rate_exact",
    "mean_score",
    "mean_score_exact",
    "measured_pass_rate",
    "measured_pass_rate_exact",
    "measured_mean_score",
    "measured_mean_score_exact",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "known_cost_usd",
    "refused",
    "cut_off",
    "unmeasured",
    "not_graded",
    "has_fallback",
    "pass_rate_before",
    "pass_rate_before_exact",
    "pass_rate_after",
    "pass_rate_after_exact",
    "mean_score_before",
    "mean_score_before_exact",
    "mean_score_after",
    "mean_score_after_exact",
    "verdict_details",
    "comparison",
    "notes",
)
"""What `outcome_cells` fills; empty while a run is under way."""


def read_run(
    row: Row, plan: Sequence[PlanCells], omissions: Sequence[Row], *, is_alive: bool
) -> Run:
    """Turn rows into the run they were.

    Shapes: `plan` holds prompt id, asked and graded fingerprint of each prompt, in order.
    `is_alive` says whether a process is at it; a run that no process is at is not running.
    """
    status, is_interrupted = _present_status(row, is_alive)
    return Run(
        run_id=need_text(row["run_id"]),
        kind=need_text(row["kind"]),
        set_identifier=need_text(row["set_identifier"]),
        set_name=need_text(row["set_name"]),
        target=need_text(row["target"]),
        grader=need_text(row["grader"]),
        grader_kind=need_text(row["grader_kind"]),
        status=status,
        started_at=need_time(row["started_at"]),
        plan=tuple(_read_planned(*cells) for cells in plan),
        trials=need_integer(row["trials"]),
        finished_at=read_time(row["finished_at"]),
        configuration=read_text(row["configuration"]),
        treatment=read_record(Treatment, row["treatment"]),
        scoring_version=need_integer(row["scoring_version"]),
        data_class=need_text(row["data_class"]),
        is_draft=bool(row["is_draft"]),
        is_partial=bool(row["is_partial"]),
        is_interrupted=is_interrupted,
        skipped={
            need_text(left["prompt_id"]): need_text(left["reason"])
            for left in omissions
            if left["why"] == "skipped"
        },
        ungraded=tuple(
            need_text(left["prompt_id"]) for left in omissions if left["why"] == "ungraded"
        ),
        limits=_read_limits(row),
        workspace_limits=read_record(GateLimits, row["workspace_limits"]),
        options=_read_options(row["options"]),
        baseline_as_of=need_integer(row["baseline_as_of"]),
        baseline_id=read_integer(row["baseline_id"]),
        baseline_source=need_text(row["baseline_source"]),
        evalcli_version=need_text(row["evalcli_version"]),
        git=read_git(row),
        regraded_from=read_text(row["regraded_from"]),
    )


def _present_status(row: Row, is_alive: bool) -> tuple[RunStatus, bool]:
    """Tell a run's status and whether it was interrupted, a killed process included."""
    status = RunStatus(need_text(row["status"]))
    if status is RunStatus.RUNNING and not is_alive:
        return RunStatus.INCOMPLETE, True
    return status, bool(row["is_interrupted"])


def _read_planned(prompt_id: Cell, asked: Cell, graded: Cell) -> PlannedPrompt:
    return PlannedPrompt(need_text(prompt_id), Fingerprints(read_text(asked), read_text(graded)))


def read_git(row: Row) -> GitState:
    """Read the commit a row was made on."""
    return GitState(
        commit=read_text(row["git_commit"]),
        branch=read_text(row["git_branch"]),
        is_dirty=read_flag(row["git_is_dirty"]),
    )


def _read_limits(row: Row) -> GateLimits:
    return GateLimits(
        max_pass_rate_drop=need_exact(row["max_pass_rate_drop"]),
        max_mean_score_drop=need_exact(row["max_mean_score_drop"]),
        min_pass_rate=read_exact(row["min_pass_rate"]),
        min_mean_score=read_exact(row["min_mean_score"]),
        max_class_drop=read_exact(row["max_class_drop"]),
        require_baseline=bool(row["require_baseline"]),
        fail_on_regression=bool(row["fail_on_regression"]),
    )


def _read_options(cell: object) -> Mapping[str, object]:
    options = read_json(cell)
    return options if isinstance(options, dict) else {}


def read_listing(row: Row, *, is_alive: bool, counts: tuple[int, int]) -> RunListing:
    """Turn a row of `LISTING_COLUMNS` into a line of a list.

    `counts` is how many prompts are measured and passed, where the run did not get to its end.
    """
    status, is_interrupted = _present_status(row, is_alive)
    state, verdict = read_text(row["state"]), read_text(row["verdict"])
    return RunListing(
        run_id=need_text(row["run_id"]),
        kind=need_text(row["kind"]),
        set_identifier=need_text(row["set_identifier"]),
        target=need_text(row["target"]),
        grader=need_text(row["grader"]),
        status=status,
        started_at=need_time(row["started_at"]),
        finished_at=read_time(row["finished_at"]),
        prompts=need_integer(row["prompts"]),
        trials=need_integer(row["trials"]),
        measured=counts[0] if row["measured"] is None else need_integer(row["measured"]),
        passed=counts[1] if row["passed"] is None else need_integer(row["passed"]),
        pass_rate=read_exact(row["pass_rate_exact"]),
        mean_score=read_exact(row["mean_score_exact"]),
        cost_usd=read_decimal(row["cost_usd"]),
        known_cost_usd=read_decimal(row["known_cost_usd"]),
        state=None if state is None else ComparisonState(state),
        verdict=None if verdict is None else VerdictWord(verdict),
        is_gate_failed=bool(row["is_gate_failed"]),
        is_draft=bool(row["is_draft"]),
        is_partial=bool(row["is_partial"]),
        is_interrupted=is_interrupted,
        baseline_move=BaselineMove(read_text(row["baseline_move"]) or BaselineMove.NONE),
        provider=read_text(row["provider"]),
        model=read_text(row["model"]),
        git=read_git(row),
        regraded_from=read_text(row["regraded_from"]),
    )


def read_outcome(row: Row) -> StoredOutcome | None:
    """Turn a row into what the run was told at its end; None while it has not ended."""
    if row["comparison"] is None:
        return None
    return StoredOutcome(
        comparison=read_record(Comparison, row["comparison"]),
        verdict=read_record(Verdict, row["verdict_details"]),
        baseline_move=BaselineMove(need_text(row["baseline_move"])),
        baseline_note=need_text(row["baseline_note"]),
        notes=read_texts(row["notes"]),
    )
