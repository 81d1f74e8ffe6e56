"""One trial as one row of the history, and back.

Where texts are not kept, a row holds no answer, reasoning or refusal and no excerpt of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

from evalcli.history.cells import (
    Cell,
    decimal_cell,
    exact_cell,
    integer_cell,
    json_cell,
    need_integer,
    need_text,
    plain_json_cell,
    read_decimal,
    read_exact,
    read_integer,
    read_optional,
    read_record,
    read_records,
    read_text,
    read_time,
    real_cell,
    text_cell,
    time_cell,
)
from evalcli.history.ranking_cells import ranking_cell, read_ranking, read_score, score_cell
from evalcli.records import (
    Answer,
    AssertionOutcome,
    CallRecord,
    FinishReason,
    Grade,
    Operation,
    Ranking,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
    Usage,
)

Row = Mapping[str, object]

_KEY_COLUMNS = ("run_id", "prompt_id", "trial")
_STATE_COLUMNS = (
    "state",
    "is_refused",
    "is_cut_off",
    "finished_at",
    "request_sha256",
)
_GRADE_COLUMNS = (
    "passed",
    "score",
    "score_exact",
    "yardstick",
    "reason",
    "outcomes",
    "grading_call",
)
_ERROR_COLUMNS = ("cause", "error_message", "error_provider", "error_status")
_CALL_COLUMNS = (
    "operation",
    "provider",
    "requested_model",
    "reported_model",
    "tries",
    "latency_ms",
    "cost_usd",
    "request_id",
    "caller",
    "caller_operation",
    "is_cached",
    "is_fallback",
)
_USAGE_COLUMNS = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "reported_cost_usd",
)
_QUESTION_COLUMNS = (
    "form",
    "hard_class",
    "first_hit",
    "reciprocal_rank",
    "ndcg",
    "question_score",
    "ranking",
)
_ANSWER_COLUMNS = (
    "finish",
    "finish_raw",
    "has_text",
    "has_tool_calls",
    "system_fingerprint",
    "answer_facts",
    "answer",
    "reasoning",
    "refusal",
)
TRIAL_COLUMNS = (
    *_KEY_COLUMNS,
    *_STATE_COLUMNS,
    *_GRADE_COLUMNS,
    *_ERROR_COLUMNS,
    *_CALL_COLUMNS,
    *_USAGE_COLUMNS,
    *_QUESTION_COLUMNS,
    *_ANSWER_COLUMNS,
)

# Sequence of the parts in `trial_cells`. A graded row is never overwritten.
SAVE_TRIAL = (
    f"INSERT INTO trials ({', '.join(TRIAL_COLUMNS)}) "  # noqa: S608 - names from this module
    f"VALUES ({', '.join('?' * len(TRIAL_COLUMNS))}) "
    "ON CONFLICT (run_id, prompt_id, trial) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in TRIAL_COLUMNS[len(_KEY_COLUMNS) :])
    + " WHERE trials.state <> 'graded'"
)

_GRADING_FAILED = "the grading failed"


@dataclass(frozen=True, slots=True)
class _AnswerFacts:
    """What an answer says of itself; kept apart only where its call says something else."""

    model: str | None
    request_id: str | None
    usage: Usage


def trial_cells(run_id: str, trial: Trial, *, keep_texts: bool) -> tuple[Cell, ...]:
    """Turn a trial into the cells of its row, in the order of `TRIAL_COLUMNS`."""
    call, answer = trial.call, trial.answer
    usage = call.usage if call is not None else (answer.usage if answer is not None else Usage())
    return (
        run_id,
        text_cell(trial.prompt_id),
        trial.trial,
        trial.state.value,
        int(trial.is_refused),
        int(trial.is_cut_off),
        time_cell(trial.finished_at),
        trial.request_sha256,
        *_grade_cells(trial.grade, keep_texts),
        *_error_cells(trial.error, keep_texts),
        *_call_cells(call, trial.ranking),
        integer_cell(usage.input_tokens),
        integer_cell(usage.output_tokens),
        integer_cell(usage.cached_input_tokens),
        integer_cell(usage.cache_write_tokens),
        integer_cell(usage.reasoning_tokens),
        decimal_cell(usage.cost_usd),
        *_question_cells(trial.grade, trial.ranking, keep_texts),
        *_answer_cells(answer, call, keep_texts),
    )


def _grade_cells(grade: Grade | None, keep_texts: bool) -> tuple[Cell, ...]:
    if grade is None:
        return (None,) * len(_GRADE_COLUMNS)
    return (
        int(grade.passed),
        real_cell(grade.score),
        exact_cell(grade.score),
        text_cell(grade.yardstick),
        text_cell(grade.reason if keep_texts else _reason_without_excerpt(grade)),
        _outcomes_cell(grade.outcomes, keep_texts) if grade.outcomes else None,
        None if grade.call is None else json_cell(grade.call),
    )


def _outcomes_cell(outcomes: Sequence[AssertionOutcome], keep_texts: bool) -> Cell:
    return plain_json_cell(
        [
            {
                "type": outcome.type,
                "passed": outcome.passed,
                "reason": outcome.reason if keep_texts else "",
                "is_evaluated": outcome.is_evaluated,
            }
            for outcome in outcomes
        ]
    )


def _reason_without_excerpt(grade: Grade) -> str:
    """Say which kinds of assertions failed; what was seen is not kept, ids of documents are."""
    if grade.question is not None:
        return grade.reason
    failed = [outcome.type for outcome in grade.outcomes if not outcome.passed]
    if not failed:
        return ""
    return f"{len(failed)} of {len(grade.outcomes)} assertions failed: {', '.join(failed)}"


def _error_cells(error: TrialError | None, keep_texts: bool) -> tuple[Cell, ...]:
    if error is None:
        return (None,) * len(_ERROR_COLUMNS)
    return (
        error.cause.value,
        text_cell(error.message if keep_texts else _message_without_quote(error)),
        text_cell(error.provider),
        integer_cell(error.status),
    )


def _message_without_quote(error: TrialError) -> str:
    """Say why without a text of a model; messages of providers about errors stay."""
    if error.cause is UnmeasuredCause.GRADER:
        return _GRADING_FAILED  # it may quote what the judge said
    if error.status == HTTPStatus.OK:
        # A reply that could not be read is quoted, and an answer may be in it.
        return error.message.partition(': "')[0]
    return error.message


def _call_cells(call: CallRecord | None, ranking: Ranking | None) -> tuple[Cell, ...]:
    if call is None:
        latency_ms = ranking.latency_ms if ranking is not None else None
        return tuple(latency_ms if name == "latency_ms" else None for name in _CALL_COLUMNS)
    return (
        call.operation.value,
        text_cell(call.provider),
        text_cell(call.requested_model),
        text_cell(call.reported_model),
        call.tries,
        call.latency_ms,
        decimal_cell(call.cost_usd),
        text_cell(call.request_id),
        text_cell(call.caller),
        text_cell(call.caller_operation),
        int(call.is_cached),
        int(call.is_fallback),
    )


def _question_cells(
    grade: Grade | None, ranking: Ranking | None, keep_texts: bool
) -> tuple[Cell, ...]:
    if ranking is None and (grade is None or grade.question is None):
        return (None,) * len(_QUESTION_COLUMNS)
    score = grade.question if grade is not None else None
    return (
        *(
            (None,) * 5
            if score is None
            else (
                text_cell(score.form),
                text_cell(score.hard_class),
                score.first_hit,
                score.reciprocal_rank,
                score.ndcg,
            )
        ),
        score_cell(score),
        ranking_cell(ranking, keep_texts=keep_texts),
    )


def _answer_cells(
    answer: Answer | None, call: CallRecord | None, keep_texts: bool
) -> tuple[Cell, ...]:
    if answer is None:
        return (None,) * len(_ANSWER_COLUMNS)
    is_as_call = call is not None and (
        (answer.model, answer.request_id, answer.usage)
        == (call.reported_model, call.request_id, call.usage)
    )
    facts = None if is_as_call else _AnswerFacts(answer.model, answer.request_id, answer.usage)
    return (
        answer.finish.value,
        text_cell(answer.finish_raw),
        int(answer.text is not None),
        int(answer.has_tool_calls),
        text_cell(answer.system_fingerprint),
        None if facts is None else json_cell(facts),
        *(
            text_cell(text) if keep_texts else None
            for text in (answer.text, answer.reasoning, answer.refusal)
        ),
    )


def read_trial(row: Row) -> Trial:
    """Turn a row into the trial it was; texts that are not kept are None."""
    call = _read_call(row)
    return Trial(
        prompt_id=need_text(row["prompt_id"]),
        trial=need_integer(row["trial"]),
        state=TrialState(need_text(row["state"])),
        answer=_read_answer(row, call),
        grade=_read_grade(row),
        error=_read_error(row),
        call=call,
        is_refused=bool(row["is_refused"]),
        is_cut_off=bool(row["is_cut_off"]),
        finished_at=read_time(row["finished_at"]),
        ranking=read_ranking(row["ranking"]),
        request_sha256=read_text(row["request_sha256"]),
    )


def _read_usage(row: Row) -> Usage:
    return Usage(
        input_tokens=read_integer(row["input_tokens"]),
        output_tokens=read_integer(row["output_tokens"]),
        cached_input_tokens=read_integer(row["cached_input_tokens"]),
        cache_write_tokens=read_integer(row["cache_write_tokens"]),
        reasoning_tokens=read_integer(row["reasoning_tokens"]),
        cost_usd=read_decimal(row["reported_cost_usd"]),
    )


def _read_call(row: Row) -> CallRecord | None:
    if row["operation"] is None:
        return None
    latency = row["latency_ms"]
    return CallRecord(
        operation=Operation(need_text(row["operation"])),
        provider=need_text(row["provider"]),
        requested_model=need_text(row["requested_model"]),
        reported_model=read_text(row["reported_model"]),
        tries=need_integer(row["tries"]),
        latency_ms=float(latency) if isinstance(latency, int | float) else None,
        usage=_read_usage(row),
        cost_usd=read_decimal(row["cost_usd"]),
        request_id=read_text(row["request_id"]),
        caller=read_text(row["caller"]),
        caller_operation=read_text(row["caller_operation"]),
        is_cached=bool(row["is_cached"]),
        is_fallback=bool(row["is_fallback"]),
    )


def _read_answer(row: Row, call: CallRecord | None) -> Answer | None:
    if row["finish"] is None:
        return None
    facts = _read_facts(row, call)
    return Answer(
        text=read_text(row["answer"]),
        finish=FinishReason(need_text(row["finish"])),
        finish_raw=read_text(row["finish_raw"]),
        reasoning=read_text(row["reasoning"]),
        refusal=read_text(row["refusal"]),
        has_tool_calls=bool(row["has_tool_calls"]),
        model=facts.model,
        usage=facts.usage,
        request_id=facts.request_id,
        system_fingerprint=read_text(row["system_fingerprint"]),
    )


def _read_facts(row: Row, call: CallRecord | None) -> _AnswerFacts:
    if row["answer_facts"] is not None:
        return read_record(_AnswerFacts, row["answer_facts"])
    if call is not None:
        return _AnswerFacts(call.reported_model, call.request_id, call.usage)
    return _AnswerFacts(None, None, Usage())


def _read_grade(row: Row) -> Grade | None:
    score = read_exact(row["score_exact"])
    if score is None:
        return None
    return Grade(
        passed=bool(row["passed"]),
        score=score,
        reason=need_text(row["reason"]),
        yardstick=need_text(row["yardstick"]),
        outcomes=_read_outcomes(row["outcomes"]),
        question=read_score(row["question_score"]),
        call=read_optional(CallRecord, row["grading_call"]),
    )


@lru_cache(maxsize=1024)  # most prompts of a run pass the same kinds of assertions
def _read_outcomes(cell: object) -> tuple[AssertionOutcome, ...]:
    return read_records(AssertionOutcome, cell)


def _read_error(row: Row) -> TrialError | None:
    if row["cause"] is None:
        return None
    return TrialError(
        cause=UnmeasuredCause(need_text(row["cause"])),
        message=need_text(row["error_message"]),
        provider=read_text(row["error_provider"]),
        status=read_integer(row["error_status"]),
    )
