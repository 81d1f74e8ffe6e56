"""Builders of records for tests: all fields have a plain value, a test names only what matters.

`make_outcome` puts a run together with the real summary, comparison and gate, so that what the
reports are tested on is what a run really hands them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from evalcli.comparison.baseline_move import baseline_of_run, plan_baseline_move
from evalcli.comparison.gate import compare_run, judge_run
from evalcli.comparison.summary import summarize_trials
from evalcli.records import (
    Answer,
    Baseline,
    CallRecord,
    Fingerprints,
    FinishReason,
    GateLimits,
    GitState,
    Grade,
    Operation,
    PlannedPrompt,
    Run,
    RunListing,
    RunOutcome,
    RunStatus,
    Summary,
    Treatment,
    Trial,
    TrialError,
    TrialState,
    UnmeasuredCause,
    Usage,
    VerdictWord,
)

STARTED_AT = datetime(2026, 11, 18, 14, 2, 0, tzinfo=UTC)


def make_answer(
    text: str | None = "Monday to Friday.",
    *,
    finish: FinishReason = FinishReason.STOP,
    refusal: str | None = None,
    input_tokens: int | None = 150,
    output_tokens: int | None = 30,
    model: str | None = "gpt-6-luna",
) -> Answer:
    """Make an answer as an adapter would return it."""
    return Answer(
        text=text,
        finish=finish,
        refusal=refusal,
        model=model,
        usage=Usage(input_tokens=input_tokens, output_tokens=output_tokens),
    )


def make_call(
    answer: Answer | None = None,
    *,
    provider: str = "openai",
    tries: int = 1,
    latency_ms: float | None = 900.0,
    cost_usd: str | None = "0.0001",
    is_cached: bool = False,
    is_fallback: bool = False,
) -> CallRecord:
    """Make the record of the call that brought an answer."""
    return CallRecord(
        operation=Operation.CHAT,
        provider=provider,
        requested_model="gpt-6-luna",
        reported_model=answer.model if answer is not None else None,
        tries=tries,
        latency_ms=latency_ms,
        usage=answer.usage if answer is not None else Usage(),
        cost_usd=Decimal(cost_usd) if cost_usd is not None else None,
        is_cached=is_cached,
        is_fallback=is_fallback,
    )


def make_trial(
    prompt_id: str = "opening-hours",
    *,
    passed: bool = True,
    score: Fraction | str | None = None,
    reason: str = "",
    trial: int = 0,
    answer: Answer | None = None,
    call: CallRecord | None = None,
    is_refused: bool = False,
    is_cut_off: bool = False,
    yardstick: str = "deterministic",
) -> Trial:
    """Make a graded trial."""
    given = answer if answer is not None else make_answer()
    return Trial(
        prompt_id=prompt_id,
        trial=trial,
        state=TrialState.GRADED,
        answer=given,
        grade=Grade(
            passed=passed,
            score=Fraction(score) if score is not None else Fraction(int(passed)),
            reason=reason,
            yardstick=yardstick,
        ),
        call=call if call is not None else make_call(given),
        is_refused=is_refused,
        is_cut_off=is_cut_off,
        finished_at=STARTED_AT + timedelta(seconds=5),
    )


def make_unmeasured_trial(
    prompt_id: str = "opening-hours",
    *,
    message: str = 'openai said 503 "The server is overloaded"',
    cause: UnmeasuredCause = UnmeasuredCause.PROVIDER,
    provider: str | None = "openai",
    status: int | None = 503,
    trial: int = 0,
    tries: int = 3,
    answer: Answer | None = None,
    at: datetime = STARTED_AT + timedelta(seconds=11),
) -> Trial:
    """Make a trial without a gradable answer."""
    return Trial(
        prompt_id=prompt_id,
        trial=trial,
        state=TrialState.UNMEASURED,
        answer=answer,
        error=TrialError(cause, message, provider=provider, status=status),
        call=make_call(answer, tries=tries, latency_ms=None, cost_usd=None),
        finished_at=at,
    )


def make_plan(
    prompt_ids: Sequence[str], *, fingerprints: Mapping[str, Fingerprints] | None = None
) -> tuple[PlannedPrompt, ...]:
    """Make a plan; without `fingerprints` a prompt's are made of its id."""
    own = fingerprints or {}
    return tuple(
        PlannedPrompt(i, own.get(i, Fingerprints(asked=f"asked {i}", graded=f"graded {i}")))
        for i in prompt_ids
    )


def make_run(
    prompt_ids: Sequence[str] = ("opening-hours",),
    *,
    run_id: str = "91c2",
    target: str = "support-bot",
    provider: str = "openai",
    provider_type: str = "openai",
    model: str = "gpt-6-luna",
    configuration: str | None = "support-bot",
    trials: int = 1,
    limits: GateLimits | None = None,
    fingerprints: Mapping[str, Fingerprints] | None = None,
    started_at: datetime = STARTED_AT,
) -> Run:
    """Make a complete run of `acme.faq`; change further fields with `dataclasses.replace`."""
    return Run(
        run_id=run_id,
        kind="prompts",
        set_identifier="acme.faq",
        set_name="FAQ answers",
        target=target,
        grader="deterministic",
        grader_kind="deterministic",
        status=RunStatus.COMPLETE,
        started_at=started_at,
        finished_at=started_at + timedelta(seconds=30),
        plan=make_plan(prompt_ids, fingerprints=fingerprints),
        trials=trials,
        configuration=configuration,
        treatment=Treatment(
            provider=provider, provider_type=provider_type, model=model, trials=trials
        ),
        limits=limits or GateLimits(),
        evalcli_version="0.1.0",
        git=GitState(commit="a41f3c2d5e6f", branch="main", is_dirty=False),
    )


def make_summary(run: Run, trials: Sequence[Trial]) -> Summary:
    """Sum a run up as evalcli does."""
    return summarize_trials(run.plan, trials, run.trials)


def make_baseline(
    run: Run, trials: Sequence[Trial], *, baseline_id: int | None = 1, source: str = "history"
) -> Baseline:
    """Make the baseline that a complete run amounts to."""
    baseline = baseline_of_run(run, make_summary(run, trials))
    return replace(baseline, baseline_id=baseline_id, source=source)


def make_outcome(
    run: Run,
    trials: Sequence[Trial],
    *,
    baseline: Baseline | None = None,
    kin: Sequence[Baseline] = (),
    other_targets: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> RunOutcome:
    """End a run as evalcli does: sum up, compare, judge, and plan what the baseline does."""
    summary = make_summary(run, trials)
    run = replace(
        run,
        status=RunStatus.COMPLETE if summary.is_complete else RunStatus.INCOMPLETE,
        grader=(summary.yardsticks[0] if len(summary.yardsticks) == 1 else run.grader_kind),
        treatment=replace(run.treatment, reported_models=summary.reported_models),
    )
    comparison = compare_run(run, summary, baseline, kin=kin, other_targets=other_targets)
    verdict = judge_run(run, summary, comparison)
    move, _, note = plan_baseline_move(run, summary, comparison, verdict, baseline)
    return RunOutcome(
        run=run,
        trials=tuple(trials),
        summary=summary,
        comparison=comparison,
        verdict=verdict,
        baseline=baseline,
        baseline_move=move,
        baseline_note=note,
        notes=tuple(notes),
    )


def make_listing(
    run_id: str = "91c2",
    *,
    status: RunStatus = RunStatus.COMPLETE,
    started_at: datetime = STARTED_AT,
    prompts: int = 40,
    measured: int = 40,
    passed: int = 37,
    verdict: VerdictWord | None = VerdictWord.PASSED,
) -> RunListing:
    """Make one line of a list of runs; change further fields with `dataclasses.replace`."""
    is_complete = status is RunStatus.COMPLETE
    return RunListing(
        run_id=run_id,
        kind="prompts",
        set_identifier="acme.faq",
        target="support-bot",
        grader="deterministic",
        status=status,
        started_at=started_at,
        finished_at=started_at + timedelta(seconds=30),
        prompts=prompts,
        trials=1,
        measured=measured,
        passed=passed,
        pass_rate=Fraction(passed, prompts) if is_complete else None,
        mean_score=Fraction(passed, prompts) if is_complete else None,
        verdict=verdict,
    )
