"""evalcli.runs.plan."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evalcli.declarations.prompt_set import AssertionDeclaration, GoldenPrompt, PromptSet
from evalcli.declarations.resolution import ResolvedConfiguration
from evalcli.declarations.workspace import ProviderEntry
from evalcli.errors import UsageError
from evalcli.records import Answer, Trial, TrialState
from evalcli.runs.plan import RunPlan, plan_run, what_is_missing

CHECK = (AssertionDeclaration(body={"contains": "x"}),)
TARGET = ResolvedConfiguration(
    target="bot",
    provider="main",
    entry=ProviderEntry(type="openai"),
    model_id="m",
    system="Base.",
    seed=5,
)


def plan(prompts: Sequence[GoldenPrompt], *, only: Sequence[str] = (), trials: int = 1) -> RunPlan:
    prompt_set = PromptSet(kind="prompts", identifier="a.b", name="Example", prompts=tuple(prompts))
    return plan_run(
        prompt_set,
        TARGET,
        grades=lambda prompt: bool(prompt.assertions),
        graded_fingerprint=lambda prompt: f"graded {prompt.id}",
        only=only,
        trials=trials,
    )


A = GoldenPrompt(id="a", prompt="A?", assertions=CHECK)
B = GoldenPrompt(id="b", prompt="B?", system="Own.", assertions=CHECK)
REFERENCE_ONLY = GoldenPrompt(id="r", prompt="R?", reference="r")
SKIPPED = GoldenPrompt(id="s", prompt="S?", assertions=CHECK, skip="off")


def test_jobs_come_in_the_set_s_order_with_one_seed_a_trial() -> None:
    jobs = plan([B, A], trials=2).jobs

    assert [(j.prompt.id, j.trial, j.request.seed) for j in jobs] == [
        ("b", 0, 5),
        ("a", 0, 5),
        ("b", 1, 6),
        ("a", 1, 6),
    ]
    assert [j.request.system for j in jobs[:2]] == ["Own.", "Base."]


def test_what_is_left_out_is_named_and_not_planned() -> None:
    planned = plan([A, REFERENCE_ONLY, SKIPPED])

    assert [p.prompt_id for p in planned.prompts] == ["a"]
    assert planned.ungraded == ("r",)
    assert planned.skipped == {"s": "off"}
    assert planned.is_partial is False


def test_only_keeps_the_set_s_order() -> None:
    planned = plan([A, B], only=["b", "a"])

    assert [p.prompt_id for p in planned.prompts] == ["a", "b"]
    assert planned.is_partial is True


@pytest.mark.parametrize(
    ("prompts", "only", "told"),
    [
        ([A], ["aa"], 'write "a"'),
        ([A, SKIPPED], ["s"], "is skipped: off"),
        ([REFERENCE_ONLY], [], "--grader decision"),
        ([SKIPPED], [], "1 skipped"),
        ([A, REFERENCE_ONLY], ["r"], "--grader decision"),
    ],
)
def test_selection_that_leaves_nothing_is_refused(
    prompts: list[GoldenPrompt], only: list[str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        plan(prompts, only=only)


def test_only_what_is_missing_is_left() -> None:
    planned = plan([A, B], trials=2)
    failed = Trial("b", 0, TrialState.NOT_GRADED, answer=Answer("text"))
    unkept = Trial("b", 1, TrialState.NOT_GRADED, answer=Answer(None))
    trials = [
        Trial("a", 0, TrialState.GRADED, answer=Answer("text")),
        Trial("a", 1, TrialState.UNMEASURED),
        failed,
        unkept,
    ]

    left = what_is_missing(planned, trials)

    assert [(j.prompt.id, j.trial, j.answered) for j in left.jobs] == [
        ("b", 0, failed),
        ("a", 1, None),
        ("b", 1, None),
    ]
    assert left.prompts == planned.prompts
