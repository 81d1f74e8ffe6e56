"""Which grader a run has, checked before the first completion is paid for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalcli.calls.pipeline import Pipeline
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.errors import UsageError
from evalcli.graders.deterministic import DeterministicGrader
from evalcli.runs.options import DECISION, DETERMINISTIC
from evalcli.runs.setting import RunSetting

if TYPE_CHECKING:
    from evalcli.graders.decision import DecisionGrader


@dataclass(frozen=True, slots=True)
class RunGrader:
    """A grader, and which prompts it can grade.

    `kind` is what was asked for. `remember` notes the first stored use of what it grades by; it
    is called once the run is stored.
    """

    kind: str
    grader: DeterministicGrader | DecisionGrader
    grades: Callable[[GoldenPrompt], bool]
    remember: Callable[[], None]


def open_grader(
    kind: str,
    prompt_set: PromptSet,
    setting: RunSetting,
    pipeline: Pipeline,
    *,
    configuration: str | None,
) -> RunGrader:
    """Make the grader of a run; profile, configuration, model and trust zone are checked here.

    `configuration` is the one that judges, None for `decision.configuration`.

    Raises:
        UsageError: a judge was named for a grader that has none.
        DecisionError: no decision could be made.
        ConfigurationError: a key cannot be read, or an address may not be asked.
    """
    if kind == DETERMINISTIC:
        if configuration is not None:
            raise UsageError(
                "--grader-configuration is for the decision grader",
                advice=f"add `--grader {DECISION}`, or leave it out",
            )
        return RunGrader(
            kind, DeterministicGrader(prompt_set), lambda p: bool(p.assertions), lambda: None
        )
    from evalcli.runs.judging import open_judge  # a run that needs no judge loads none of it

    grader, remember = open_judge(prompt_set, setting, pipeline, configuration=configuration)
    return RunGrader(kind, grader, lambda _: True, remember)
