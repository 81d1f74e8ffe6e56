"""What happens in a run, in order."""

from __future__ import annotations

from dataclasses import dataclass

from evalcli.records.runs import Run
from evalcli.records.trials import Trial


@dataclass(frozen=True, slots=True)
class RunPreparing:
    """Something is built or loaded before the run starts, which can take a while."""

    what: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run is stored; `done` counts trials that an earlier session already measured.

    `notes` say what a person should know before the first answer.
    """

    run: Run
    done: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """One trial is stored."""

    run_id: str
    trial: Trial
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call failed and is tried again after `wait_s` seconds, or `fallback` is asked instead."""

    provider: str
    message: str
    tries: int
    wait_s: float
    fallback: str | None = None


RunEvent = RunPreparing | RunStarted | TrialFinished | CallRetried
