"""The decision grader of a run: its profile, configuration, model and trust zone, checked."""

from __future__ import annotations

from collections.abc import Callable

from evalcli.calls.pipeline import Pipeline
from evalcli.decisions.profile_memory import remember_profile
from evalcli.decisions.service import DecisionService
from evalcli.declarations.prompt_set import DataClass, PromptSet
from evalcli.graders.decision import TASK_FULFILMENT, DecisionGrader
from evalcli.runs.setting import RunSetting


def open_judge(
    prompt_set: PromptSet,
    setting: RunSetting,
    pipeline: Pipeline,
    *,
    configuration: str | None,
) -> tuple[DecisionGrader, Callable[[], None]]:
    """Make the grader, and what notes the first stored use of its profile.

    Raises:
        DecisionError: no decision could be made.
        ConfigurationError: a key cannot be read, or an address may not be asked.
    """
    service = DecisionService(
        setting.workspace, pipeline, setting.find_profile, history=setting.history
    )
    data_class = DataClass(prompt_set.data_class)
    profile = service.assert_available(TASK_FULFILMENT, configuration, data_class).profile
    grader = DecisionGrader(service, profile, configuration=configuration, data_class=data_class)

    def remember() -> None:
        remember_profile(setting.history, profile, first_use="run", used_at=setting.now())

    return grader, remember
