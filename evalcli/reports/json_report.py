"""What programs read: one JSON document with a `schema_version`, at any width, never coloured.

The shape is published in `docs/schemas/run_report.schema.json` and explained in
`docs/json-report.md`. Fields are added, never given another meaning. Rates are numbers and, beside
them, exact fractions as text; what nobody measured or reported is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from evalcli.errors import DeclarationError, EvalcliError, ExitStatus, Fault, ProviderError
from evalcli.records import (
    Baseline,
    BaselineMove,
    CallRecord,
    Comparison,
    GitState,
    PromptSummary,
    Run,
    RunListing,
    RunOutcome,
    Summary,
    Treatment,
    Trial,
    TrialState,
    Verdict,
    VerdictWord,
)
from evalcli.reports.retrieval_json import (
    class_drop_facts,
    question_facts,
    rank_change_facts,
    retrieval_facts,
)

SCHEMA_VERSION = 1
"""Raised when a field is taken away or comes to mean something else."""

Document = dict[str, object]


def dump_document(document: Mapping[str, object]) -> str:
    """Write a document as strict JSON in ASCII, so that it survives any pipe and locale.

    Raises:
        ValueError: a number is not finite; JSON has none of those.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=2)


def error_document(error: EvalcliError) -> Document:
    """Describe why a command gave no result."""
    faults: Sequence[Fault] = error.faults if isinstance(error, DeclarationError) else ()
    described: Document = {
        "code": error.code,
        "message": error.message,
        "advice": error.advice,
        "exit_status": int(error.exit_status),
        "faults": [
            {
                "file": fault.file,
                "line": fault.line,
                "column": fault.column,
                "path": fault.path,
                "message": fault.message,
                "advice": fault.advice,
            }
            for fault in faults
        ],
    }
    if isinstance(error, ProviderError):
        described |= {"provider": error.provider, "status": error.status, "tries": error.tries}
    return {"schema_version": SCHEMA_VERSION, "error": described}


# --- one run ----------------------------------------------------------------------------------


def run_document(outcome: RunOutcome, *, exit_status: ExitStatus | None = None) -> Document:
    """Describe a run with its prompts, comparison, verdict and baseline.

    `exit_status` is what the command ends with; left out where a stored run is shown.
    """
    trials: dict[str, list[Trial]] = {}
    for trial in sorted(outcome.trials, key=lambda trial: trial.trial):
        trials.setdefault(trial.prompt_id, []).append(trial)
    run = outcome.run
    document: Document = {
        "schema_version": SCHEMA_VERSION,
        "run": _run_facts(run),
        "summary": _summary_facts(outcome.summary),
        "prompts": [
            _prompt_facts(prompt, trials.get(prompt.prompt_id, ()), kind=run.kind)
            for prompt in outcome.summary.prompts
        ],
        "skipped": [{"id": i, "reason": reason} for i, reason in run.skipped.items()],
        "ungraded": list(run.ungraded),
        "comparison": _comparison_facts(outcome.comparison),
        "verdict": _verdict_facts(outcome.verdict),
        "baseline": _baseline_facts(
            outcome.baseline, run.baseline_source, outcome.baseline_move, outcome.baseline_note
        ),
        "notes": list(outcome.notes),
    }
    if outcome.retrieval is not None:
        document["retrieval"] = retrieval_facts(outcome.retrieval)
    if exit_status is not None:
        document["exit_status"] = int(exit_status)
    return document


def _run_facts(run: Run) -> Document:
    return {
        "id": run.run_id,
        "kind": run.kind,
        "set": run.set_identifier,
        "set_name": run.set_name,
        "target": run.target,
        "configuration": run.configuration,
        **_treatment_facts(run.treatment),
        "grader": run.grader,
        "grader_kind": run.grader_kind,
        "status": run.status.value,
        "started_at": _instant(run.started_at),
        "finished_at": _instant(run.finished_at),
        "trials": run.trials,
        "is_draft": run.is_draft,
        "is_partial": run.is_partial,
        "is_interrupted": run.is_interrupted,
        "regraded_from": run.regraded_from,
        "data_class": run.data_class,
        "scoring_version": run.scoring_version,
        "git": _git_facts(run.git),
        "limits": {
            "max_pass_rate_drop": _number(run.limits.max_pass_rate_drop),
            "max_mean_score_drop": _number(run.limits.max_mean_score_drop),
            "min_pass_rate": _number(run.limits.min_pass_rate),
            "min_mean_score": _number(run.limits.min_mean_score),
            "max_class_drop": _number(run.limits.max_class_drop),
            "require_baseline": run.limits.require_baseline,
            "fail_on_regression": run.limits.fail_on_regression,
        },
        "evalcli_version": run.evalcli_version,
    }


def _treatment_facts(treatment: Treatment) -> Document:
    return {
        "provider": treatment.provider,
        "model_requested": treatment.model,
        "models_reported": list(treatment.reported_models),
        "system": treatment.system,
        "settings": dict(treatment.settings),
    }


def _git_facts(git: GitState) -> Document:
    return {"commit": git.commit, "branch": git.branch, "is_dirty": git.is_dirty}


def _summary_facts(summary: Summary) -> Document:
    return {
        "prompts": len(summary.prompts),
        "measured": summary.measured,
        "passed": summary.passed,
        "pass_rate": _number(summary.pass_rate),
        "pass_rate_exact": _exact(summary.pass_rate),
        "mean_score": _number(summary.mean_score),
        "mean_score_exact": _exact(summary.mean_score),
        "measured_pass_rate": _number(summary.measured_pass_rate),
        "measured_mean_score": _number(summary.measured_mean_score),
        "input_tokens": summary.input_tokens,
        "output_tokens": summary.output_tokens,
        "cost_usd": _money(summary.cost_usd),
        "known_cost_usd": _money(summary.known_cost_usd),
        "refused": summary.refused,
        "cut_off": summary.cut_off,
        "unmeasured": summary.unmeasured,
        "not_graded": summary.not_graded,
    }


def _prompt_facts(prompt: PromptSummary, trials: Sequence[Trial], *, kind: str) -> Document:
    """Describe one prompt; the facts of its one trial, or of the first that did not pass."""
    telling = next((trial for trial in trials if not _has_passed(trial)), None)
    shown = telling if telling is not None else next(iter(trials), None)
    facts: Document = {
        "id": prompt.prompt_id,
        "passed": None if prompt.pass_share is None else prompt.pass_share == 1,
        "pass_share": _number(prompt.pass_share),
        "score": _number(prompt.score),
        "score_exact": _exact(prompt.score),
        **_trial_facts(shown),
    }
    if kind == "questions":
        facts |= question_facts(shown)
    if prompt.trials > 1:
        facts["trials"] = [
            {
                "trial": trial.trial,
                "passed": trial.grade.passed if trial.grade is not None else None,
                "score": _number(trial.grade.score) if trial.grade is not None else None,
                **_trial_facts(trial),
            }
            for trial in trials
        ]
    return facts


def _has_passed(trial: Trial) -> bool:
    return trial.grade is not None and trial.grade.passed


def _trial_facts(trial: Trial | None) -> Document:
    """Describe one answer and its grading; None is a trial that was not asked yet."""
    error = trial.error if trial is not None else None
    return {
        "state": trial.state.value if trial is not None else "not_asked",
        "reason": _reason(trial) if trial is not None else "",
        **_answer_facts(trial),
        **_call_facts(trial.call if trial is not None else None),
        "latency_ms": _latency_ms(trial),
        "error": None
        if error is None
        else {
            "cause": error.cause.value,
            "message": error.message,
            "provider": error.provider,
            "status": error.status,
        },
    }


def _reason(trial: Trial) -> str:
    if trial.state is TrialState.GRADED and trial.grade is not None:
        return trial.grade.reason
    return trial.error.message if trial.error is not None else ""


def _answer_facts(trial: Trial | None) -> Document:
    answer = trial.answer if trial is not None else None
    return {
        "answer": answer.text if answer is not None else None,
        "refusal": answer.refusal if answer is not None else None,
        "is_refused": trial is not None and trial.is_refused,
        "is_cut_off": trial is not None and trial.is_cut_off,
        "finish": answer.finish.value if answer is not None else None,
    }


def _call_facts(call: CallRecord | None) -> Document:
    usage = call.usage if call is not None else None
    return {
        "provider": call.provider if call is not None else None,
        "model": call.reported_model if call is not None else None,
        "input_tokens": usage.input_tokens if usage is not None else None,
        "output_tokens": usage.output_tokens if usage is not None else None,
        "cost_usd": _money(call.cost_usd) if call is not None else None,
        "tries": call.tries if call is not None else None,
        "is_cached": call is not None and call.is_cached,
        "is_fallback": call is not None and call.is_fallback,
    }


def _latency_ms(trial: Trial | None) -> float | None:
    """Give how long the answer, or the ranking, took."""
    measured = (trial.ranking or trial.call) if trial is not None else None
    latency = measured.latency_ms if measured is not None else None
    return round(latency, 3) if latency is not None and math.isfinite(latency) else None


# --- comparison, verdict, baseline ------------------------------------------------------------


def _comparison_facts(comparison: Comparison) -> Document:
    return {
        "state": comparison.state.value,
        "reason": comparison.reason,
        "common": list(comparison.common),
        "added": list(comparison.added),
        "changed": [
            {
                "id": change.prompt_id,
                "is_asked_changed": change.is_asked_changed,
                "is_graded_changed": change.is_graded_changed,
            }
            for change in comparison.changed
        ],
        "removed": list(comparison.removed),
        "newly_failing": list(comparison.newly_failing),
        "newly_passing": list(comparison.newly_passing),
        "pass_rate_before": _number(comparison.pass_rate_before),
        "pass_rate_after": _number(comparison.pass_rate_after),
        "pass_rate_drop": _number(comparison.pass_rate_drop),
        "pass_rate_drop_exact": _exact(comparison.pass_rate_drop),
        "mean_score_before": _number(comparison.mean_score_before),
        "mean_score_after": _number(comparison.mean_score_after),
        "mean_score_drop": _number(comparison.mean_score_drop),
        "mean_score_drop_exact": _exact(comparison.mean_score_drop),
        "treatment_changes": list(comparison.treatment_changes),
        "is_grading_only": comparison.is_grading_only,
        "has_baseline": comparison.has_baseline,
        "baseline_target": comparison.baseline_target,
        "baseline_grader": comparison.baseline_grader,
        "other_targets": list(comparison.other_targets),
        "class_drops": class_drop_facts(comparison.class_drops),
        "rank_changes": rank_change_facts(comparison.rank_changes),
    }


def _verdict_facts(verdict: Verdict) -> Document:
    return {
        "word": verdict.word.value,
        "gate": _gate(verdict.word, is_failed=verdict.is_gate_failed),
        "findings": [
            {
                "gate": finding.gate,
                "message": finding.message,
                "limit": _number(finding.limit),
                "actual": _number(finding.actual),
                "is_armed": finding.is_armed,
            }
            for finding in verdict.findings
        ],
    }


def _gate(word: VerdictWord | None, *, is_failed: bool) -> str | None:
    """Say `passed` or `failed`; null where the gate could not measure."""
    if word is None or word is VerdictWord.INCOMPLETE:
        return None
    return "failed" if is_failed else "passed"


def _baseline_facts(
    baseline: Baseline | None, source: str, move: BaselineMove, note: str
) -> Document:
    facts: Document = {"source": source, "move": move.value, "note": note}
    if baseline is None:
        return {"run_id": None, "set_at": None, "git": None, **facts}
    return {
        "run_id": baseline.run_id,
        "set_at": _instant(baseline.set_at),
        "git": _git_facts(baseline.git),
        **facts,
    }


# --- lists and pairs --------------------------------------------------------------------------


def run_list_document(runs: Sequence[RunListing]) -> Document:
    """Describe a list of runs, in the order given."""
    return {"schema_version": SCHEMA_VERSION, "runs": [_listing_facts(run) for run in runs]}


def _listing_facts(run: RunListing) -> Document:
    return {
        "id": run.run_id,
        "kind": run.kind,
        "set": run.set_identifier,
        "target": run.target,
        "grader": run.grader,
        "status": run.status.value,
        "started_at": _instant(run.started_at),
        "finished_at": _instant(run.finished_at),
        "prompts": run.prompts,
        "trials": run.trials,
        "measured": run.measured,
        "passed": run.passed,
        "pass_rate": _number(run.pass_rate),
        "mean_score": _number(run.mean_score),
        "cost_usd": _money(run.cost_usd),
        "known_cost_usd": _money(run.known_cost_usd),
        "state": run.state.value if run.state is not None else None,
        "verdict": run.verdict.value if run.verdict is not None else None,
        "gate": _gate(run.verdict, is_failed=run.is_gate_failed),
        "is_draft": run.is_draft,
        "is_partial": run.is_partial,
        "is_interrupted": run.is_interrupted,
        "baseline_move": run.baseline_move.value,
        "is_baseline": run.is_baseline,
    }


def comparison_document(before: RunOutcome, after: RunOutcome) -> Document:
    """Describe two runs of one set; `after`'s comparison is against `before`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "comparison": _comparison_facts(after.comparison),
        "verdict": _verdict_facts(after.verdict),
        "before": run_document(before),
        "after": run_document(after),
    }


# --- values -----------------------------------------------------------------------------------


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"


def _money(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
