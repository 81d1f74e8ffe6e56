"""One job to one graded record.

What counts as an answer is decided here, once: an answer that is empty, blocked, cut off before
any text or a tool call without text is *unmeasured*; a refusal and a cut-off answer are graded
and named.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from evalcli.calls.pipeline import CallResult
from evalcli.declarations.prompt_set import GoldenPrompt
from evalcli.errors import DecisionError
from evalcli.protocols import Grader
from evalcli.records import (
    Answer,
    FinishReason,
    Grade,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
    request_sha256,
)
from evalcli.runs.plan import Job

_REFUSED_WITHOUT_TEXT = Grade(
    passed=False, score=Fraction(0), reason="refused, without a text", yardstick=""
)
_CUT_OFF = "cut off at the token limit (finish reason length: raise max_output_tokens)"


async def perform_job(
    job: Job,
    ask: Callable[[Job], Awaitable[CallResult]],
    grader: Grader,
    now: Callable[[], datetime],
) -> Trial:
    """Ask for one answer and grade it; every failure of a provider becomes a value."""
    if job.answered is not None:
        return await grade_trial(job.prompt, job.answered, grader, job.request.system, now)
    result = await ask(job)
    answer = result.answer
    error = unmeasured_reason(result)
    graded = answer if error is None else None
    trial = Trial(
        prompt_id=job.prompt.id,
        trial=job.trial,
        state=TrialState.UNMEASURED,
        answer=answer,
        error=error,
        call=result.record,
        is_refused=graded is not None and is_refusal(graded),
        is_cut_off=graded is not None and graded.finish is FinishReason.LENGTH,
        finished_at=now(),
        request_sha256=request_sha256(job.request.system, job.request.prompt),
    )
    if graded is None:
        return trial
    return await grade_trial(job.prompt, trial, grader, job.request.system, now)


async def grade_trial(
    prompt: GoldenPrompt,
    trial: Trial,
    grader: Grader,
    system: str | None,
    now: Callable[[], datetime],
) -> Trial:
    """Grade the answer that a trial holds; a failed decision leaves it not graded.

    `system` is the system prompt the call ran with. A refusal without any text fails.

    Raises:
        ValueError: the trial holds no answer.
    """
    if trial.answer is None:
        raise ValueError(f"trial {trial.trial} of {trial.prompt_id!r} holds no answer")
    text = gradable_text(trial.answer)
    try:
        grade = (
            _REFUSED_WITHOUT_TEXT
            if text is None
            else await grader.grade(prompt, text, system=system)
        )
    except DecisionError as exc:
        failure = TrialError(UnmeasuredCause.GRADER, exc.message)
        return replace(
            trial, state=TrialState.NOT_GRADED, grade=None, error=failure, finished_at=now()
        )
    return replace(trial, state=TrialState.GRADED, grade=grade, error=None, finished_at=now())


def is_refusal(answer: Answer) -> bool:
    """Whether the provider marks the answer as a refusal."""
    return answer.refusal is not None or answer.finish is FinishReason.REFUSAL


def gradable_text(answer: Answer) -> str | None:
    """Choose the text that is graded: the answer, else the refusal; None where there is none."""
    for text in (answer.text, answer.refusal):
        if text is not None and text.strip():
            return text
    return None


def unmeasured_reason(result: CallResult) -> TrialError | None:
    """Say why a call gave no gradable answer; None where it gave one."""
    answer = result.answer
    provider = result.record.provider
    if answer is None:
        error = result.error
        return TrialError(
            UnmeasuredCause.PROVIDER,
            str(error) if error is not None else f"{provider} gave no answer",
            provider=provider,
            status=error.status if error is not None else None,
        )
    if answer.finish is FinishReason.CONTENT_FILTER:
        return TrialError(
            UnmeasuredCause.FILTERED,
            f"{provider} blocked the answer: finish reason {answer.finish_raw or 'content_filter'}",
            provider=provider,
        )
    if answer.finish is FinishReason.ERROR:
        return TrialError(
            UnmeasuredCause.PROVIDER,
            f"{provider} broke the answer off (finish reason {answer.finish_raw or 'error'})",
            provider=provider,
        )
    if is_refusal(answer) or gradable_text(answer) is not None:
        return None
    return _without_text(answer, provider)


def _without_text(answer: Answer, provider: str) -> TrialError:
    if answer.has_tool_calls:
        return TrialError(
            UnmeasuredCause.TOOL_CALL,
            f"{provider} answered with a tool call and no text",
            provider=provider,
        )
    if answer.finish is FinishReason.LENGTH:
        spent = " while reasoning" if _has_reasoned(answer) else ""
        return TrialError(
            UnmeasuredCause.CUT_OFF,
            f"{provider} sent no text: {_CUT_OFF}{spent}",
            provider=provider,
        )
    what = "only reasoning, no answer" if _has_reasoned(answer) else "an empty answer"
    return TrialError(UnmeasuredCause.EMPTY, f"{provider} sent {what}", provider=provider)


def _has_reasoned(answer: Answer) -> bool:
    return bool(answer.reasoning) or bool(answer.usage.reasoning_tokens)
