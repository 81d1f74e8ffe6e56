"""Runs as they can end, one of each kind, by name: what reports are looked at with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from evalcli.records import (
    Answer,
    Baseline,
    Fingerprints,
    FinishReason,
    GateLimits,
    GitState,
    RunOutcome,
    Trial,
    TrialState,
    UnmeasuredCause,
)
from tests.support.builders import (
    make_answer,
    make_baseline,
    make_call,
    make_outcome,
    make_run,
    make_trial,
    make_unmeasured_trial,
)

FORTY = (
    *(f"question-{number:02}" for number in range(1, 38)),
    "refund-window",
    "opening-hours",
    "legal-advice",
)
FOUR = ("refund-window", "opening-hours", "legal-advice", "greeting")
ARMED = GateLimits(fail_on_regression=True)
HOSTILE = (
    "[bold]no[/bold] [/INST] [red]x \x1b[31m\x1b]0;title\x07 \x9b2J \u202egnp.exe \ud800\x00\n"
)


def before(
    prompt_ids: Sequence[str], *, source: str = "history", model: str = "gpt-6-luna-2026-09-30"
) -> Baseline:
    """Make a baseline of 12 November that passed everything."""
    run = make_run(prompt_ids, run_id="5be0", started_at=datetime(2026, 11, 12, 9, 0, tzinfo=UTC))
    trials = [make_trial(i, answer=make_answer(model=model)) for i in prompt_ids]
    return make_baseline(run, trials, source=source)


def _new(text: str = "Monday to Friday.") -> Answer:
    return make_answer(text, model="gpt-6-luna-2026-11-18")


def _failing() -> list[Trial]:
    return [
        make_trial(
            "refund-window",
            passed=False,
            score="1/2",
            answer=_new("You can return items within 14 days."),
            reason='regex /30 days/i: not found in "You can return items within…"',
        ),
        make_trial(
            "opening-hours",
            passed=False,
            answer=_new("Du lundi au vendredi."),
            reason='contains "Monday": not found; the answer is in French',
        ),
        make_trial(
            "legal-advice",
            passed=False,
            answer=_new("I can't help with that."),
            reason='contains "lawyer": not found in "I can\'t help with that."',
            is_refused=True,
        ),
    ]


def _local_trial(prompt_id: str, *, passed: bool = True, reason: str = "") -> Trial:
    answer = make_answer("Paris", input_tokens=33, output_tokens=8, model="smollm2-135m")
    call = make_call(answer, provider="local", cost_usd=None, latency_ms=412.0)
    return make_trial(prompt_id, passed=passed, reason=reason, answer=answer, call=call)


def _local_trials() -> list[Trial]:
    reason = 'contains "ACKNOWLEDGED": not in "Acknowledging" (differs only in case and ending)'
    return [
        _local_trial("capital-of-france"),
        _local_trial("two-plus-two"),
        _local_trial("echo-token", passed=False, reason=reason),
    ]


def first_run() -> RunOutcome:
    """The first run on the small local model: it becomes the baseline."""
    run = make_run(
        ("capital-of-france", "two-plus-two", "echo-token"),
        run_id="7f3a",
        target="local",
        configuration="local",
        provider="local",
        provider_type="local",
        model="smollm2-135m",
    )
    return make_outcome(replace(run, set_identifier="nr.smoke"), _local_trials())


def first_run_gated() -> RunOutcome:
    """No baseline, the gate armed, and runs of the set on other targets."""
    run = make_run(FOUR, limits=ARMED)
    others = ("old-bot", "openai/gpt-6-sol")
    return make_outcome(run, [make_trial(i) for i in FOUR], other_targets=others)


def baseline_required() -> RunOutcome:
    """No baseline where one is required."""
    run = make_run(FOUR, limits=GateLimits(require_baseline=True, fail_on_regression=True))
    return make_outcome(run, [make_trial(i) for i in FOUR])


def regression() -> RunOutcome:
    """Forty prompts, three newly failing, the gate armed with a limit of five points."""
    limits = GateLimits(max_pass_rate_drop=Fraction(1, 20), fail_on_regression=True)
    run = replace(make_run(FORTY, limits=limits), workspace_limits=limits)
    trials = [make_trial(i, answer=_new()) for i in FORTY[:-3]]
    return make_outcome(run, [*trials, *_failing()], baseline=before(FORTY))


def regression_reported() -> RunOutcome:
    """A regression without --fail-on-regression, against an earlier run of another target."""
    run = replace(make_run(FOUR), baseline_source="5be0")
    trials = [*_failing(), make_trial("greeting", answer=_new())]
    baseline = replace(before(FOUR, source="5be0"), target="old-bot")
    return make_outcome(run, trials, baseline=baseline)


def passed_with_losses() -> RunOutcome:
    """Within the limits, with a newly failing, a cut-off and an added prompt."""
    run = make_run((*FORTY, "parking"), limits=ARMED)
    trials = [make_trial(i) for i in FORTY[:-2]]
    trials += [
        make_trial(
            "opening-hours", is_cut_off=True, answer=make_answer(finish=FinishReason.LENGTH)
        ),
        make_trial("legal-advice", passed=False, reason='contains "lawyer": not found'),
        make_trial("parking"),
    ]
    return make_outcome(run, trials, baseline=before(FORTY, model="gpt-6-luna"))


def passed_as_before() -> RunOutcome:
    """As good as the baseline, which it replaces."""
    run = replace(make_run(FOUR, limits=ARMED), git=GitState("b" * 40, "feature/x", True))
    return make_outcome(
        run, [make_trial(i) for i in FOUR], baseline=before(FOUR, model="gpt-6-luna")
    )


def below_floor() -> RunOutcome:
    """No drop, but fewer than the floor asks for."""
    run = make_run(FOUR, limits=GateLimits(min_pass_rate=Fraction(9, 10)))
    trials = [*_failing(), make_trial("greeting", answer=_new())]
    baseline_run = make_run(FOUR, run_id="5be0")
    return make_outcome(run, trials, baseline=make_baseline(baseline_run, trials))


def outage() -> RunOutcome:
    """The provider went away in the middle."""
    run = make_run(FORTY, run_id="40d7", limits=ARMED)
    trials = [make_trial(i) for i in FORTY[:31]]
    return make_outcome(
        run, [*trials, *(make_unmeasured_trial(i) for i in FORTY[31:])], baseline=before(FORTY)
    )


def interrupted() -> RunOutcome:
    """Stopped by a person; one answer was cut off before any text, two were not asked."""
    run = replace(make_run((*FOUR, "parking", "contact")), is_interrupted=True)
    trials = [
        make_trial("refund-window"),
        make_trial("opening-hours", passed=False, reason='contains "Monday": not found'),
        make_unmeasured_trial(
            "legal-advice",
            cause=UnmeasuredCause.CUT_OFF,
            message="openai sent no text: cut off at the token limit "
            "(finish reason length: raise max_output_tokens)",
            status=None,
            tries=1,
        ),
        make_unmeasured_trial("greeting", message="openai: connection refused", status=None),
    ]
    return make_outcome(run, trials)


def grading_failed() -> RunOutcome:
    """One answer whose decision failed."""
    run = replace(make_run(FOUR), grader_kind="decision")
    trials = [make_trial(i, yardstick="decision:judge:jev-1:v1") for i in FOUR[:3]]
    lost = make_unmeasured_trial(
        "greeting", cause=UnmeasuredCause.GRADER, message="judge said 503", answer=_new()
    )
    return make_outcome(run, [*trials, replace(lost, state=TrialState.NOT_GRADED)])


def _changed() -> dict[str, Fingerprints]:
    return {
        "refund-window": Fingerprints("asked refund-window", "new"),
        "greeting": Fingerprints("new", "graded greeting"),
    }


def mismatch() -> RunOutcome:
    """Two prompts changed and one removed, the gate armed."""
    run = make_run(FOUR, fingerprints=_changed(), limits=ARMED)
    baseline = before((*FOUR, "old-hours"), model="gpt-6-luna")
    return make_outcome(run, [make_trial(i) for i in FOUR], baseline=baseline)


def mismatch_of_file() -> RunOutcome:
    """The same against a baseline file, without the gate."""
    source = "baselines/acme.faq.json"
    run = replace(make_run(FOUR, fingerprints=_changed()), baseline_source=source)
    baseline = before((*FOUR, "old-hours"), source=source, model="gpt-6-luna")
    return make_outcome(run, [make_trial(i) for i in FOUR], baseline=baseline)


def mismatch_of_judge() -> RunOutcome:
    """No baseline of this judge, but one of another."""
    run = replace(make_run(FOUR, limits=ARMED), grader_kind="decision")
    trials = [make_trial(i, yardstick="decision:typesafe:jev-1.15.0:v1") for i in FOUR]
    kin = replace(before(FOUR, model="gpt-6-luna"), grader="decision:typesafe:jev-1.14.0:v1")
    return make_outcome(run, trials, kin=(kin,))


def unknown() -> RunOutcome:
    """A fingerprint is missing."""
    fingerprints = {"greeting": Fingerprints(None, "graded greeting")}
    run = make_run(FOUR, fingerprints=fingerprints, limits=ARMED)
    baseline = before(FOUR, model="gpt-6-luna")
    return make_outcome(run, [make_trial(i) for i in FOUR], baseline=baseline)


def mixed() -> RunOutcome:
    """The provider served two models, and a fallback helped out."""
    run = make_run(FOUR)
    trials = [make_trial(i) for i in FOUR[:3]]
    answer = make_answer(model="gpt-6-sol")
    call = make_call(answer, provider="spare", is_fallback=True)
    trials.append(make_trial("greeting", answer=answer, call=call))
    return make_outcome(run, trials, baseline=before(FOUR))


def partial() -> RunOutcome:
    """Only two prompts were chosen."""
    run = replace(make_run(FOUR[:2], limits=ARMED), is_partial=True)
    baseline = before(FOUR, model="gpt-6-luna")
    return make_outcome(run, [make_trial(i) for i in FOUR[:2]], baseline=baseline)


def trials() -> RunOutcome:
    """Three trials of each prompt, some of which failed; one cost is unknown."""
    run = make_run(FOUR, trials=3)
    made = [
        make_trial(
            prompt_id,
            trial=number,
            passed=place + number < 3,
            reason="" if place + number < 3 else 'contains "Monday": not found',
        )
        for place, prompt_id in enumerate(FOUR)
        for number in range(3)
    ]
    made[-1] = replace(made[-1], call=make_call(made[-1].answer, cost_usd=None))
    return make_outcome(run, made, baseline=before(FOUR, model="gpt-6-luna"))


def draft_with_gaps() -> RunOutcome:
    """A draft with skipped prompts and some that need another grader."""
    run = replace(
        make_run(FOUR),
        is_draft=True,
        skipped={"old-hours": "the office moved", "fax": "nobody has one"},
        ungraded=("tone", "length", "warmth"),
    )
    return make_outcome(
        run, [make_trial(i) for i in FOUR], notes=("the model alias gpt-6-luna moves",)
    )


def hostile() -> RunOutcome:
    """Markup, control and bidi characters wherever outside text can stand."""
    prompt_id = f"id {HOSTILE}"
    run = replace(
        make_run((prompt_id, "日本語のとても長い名前の質問です")),
        is_draft=True,
        skipped={HOSTILE: HOSTILE},
        target=HOSTILE,
        git=GitState(HOSTILE, HOSTILE, True),
    )
    answer = make_answer(HOSTILE, model=HOSTILE)
    made = [
        make_trial(prompt_id, passed=False, reason=HOSTILE, answer=answer),
        make_trial("日本語のとても長い名前の質問です", answer=answer),
    ]
    return make_outcome(run, made, other_targets=(HOSTILE,), notes=(HOSTILE,))


OUTCOMES: dict[str, Callable[[], RunOutcome]] = {
    make.__name__: make
    for make in (
        first_run,
        first_run_gated,
        baseline_required,
        regression,
        regression_reported,
        passed_with_losses,
        passed_as_before,
        below_floor,
        outage,
        interrupted,
        grading_failed,
        mismatch,
        mismatch_of_file,
        mismatch_of_judge,
        unknown,
        mixed,
        partial,
        trials,
        draft_with_gaps,
        hostile,
    )
}
