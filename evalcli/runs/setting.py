"""What surrounds a run: workspace, history, clock, and who listens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalcli.declarations.profile import Profile
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.history.store import History
from evalcli.records import CallRetried, GitState, RunEvent, RunStarted, TrialFinished
from evalcli.runs.run import Listener


@dataclass(frozen=True, slots=True)
class RunSetting:
    """The surroundings that every run of a command shares.

    `find_profile` finds a decision profile by its identifier, as `Catalog.find_profile` does.
    """

    workspace: WorkspaceFile
    root: Path
    environ: Mapping[str, str]
    history: History
    git: GitState
    evalcli_version: str
    now: Callable[[], datetime]
    find_profile: Callable[[str], Profile]
    listeners: tuple[Listener, ...] = ()


def history_listener(history: History, *, is_resumed: bool = False) -> Listener:
    """Make the listener that commits what happened before anything else happens."""

    def store(event: RunEvent) -> None:
        if isinstance(event, TrialFinished):
            history.save_trial(event.run_id, event.trial)
        elif isinstance(event, RunStarted):
            if is_resumed:
                history.resume_run(event.run)
            else:
                history.start_run(event.run)

    return store


def retry_listener(listeners: tuple[Listener, ...]) -> Callable[[CallRetried], None]:
    """Make what the call pipeline tells of a retry an event like any other."""

    def tell(event: CallRetried) -> None:
        for listener in listeners:
            listener(event)

    return tell
