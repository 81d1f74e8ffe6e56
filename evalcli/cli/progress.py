"""How far a run is, on stderr: a bar on a terminal, lines with `-v`. Listens to run events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from evalcli.cli import console
from evalcli.records import (
    CallRetried,
    RunEvent,
    RunPreparing,
    RunStarted,
    Trial,
    TrialFinished,
    TrialState,
)
from evalcli.reports.number_words import duration, score
from evalcli.reports.plain_text import plain_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_REDRAWS_PER_SECOND = 5
_MAX_REASON = 200


class ProgressListener:
    """A listener of run events and a context manager; the bar is gone when the context ends.

    With `verbosity` from 1 on each trial is a line as it ends, and so is each retry. `told` holds
    the notes of the run that were written before its first answer.
    """

    def __init__(self, *, verbosity: int = 0) -> None:
        self._is_verbose = verbosity > 0
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._failed = 0
        self._unmeasured = 0
        self._word = "fail"
        self.told: tuple[str, ...] = ()

    def __enter__(self) -> ProgressListener:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            console.set_live(None)
            self._progress.stop()
            self._progress = None

    def __call__(self, event: RunEvent) -> None:
        """Take note of one event."""
        if isinstance(event, TrialFinished):
            self._advance(event)
        elif isinstance(event, RunStarted):
            self._start(event)
        elif isinstance(event, RunPreparing):
            self._draw(plain_text(event.what), total=None, done=0)
        elif self._is_verbose:
            console.err(retry_line(event))

    def _start(self, event: RunStarted) -> None:
        self.told = event.notes
        if event.run.kind == "questions":
            self._word = "not at rank 1"
        console.err(*(plain_text(note) for note in event.notes))
        total = len(event.run.plan) * event.run.trials
        self._draw(plain_text(event.run.set_identifier), total=total, done=event.done)

    def _draw(self, what: str, *, total: int | None, done: int) -> None:
        """Draw the bar, or change what it is about; a bar without a total pulses."""
        streams = console.current_streams()
        if not streams.is_live:
            return
        if self._progress is None:
            self._progress = make_progress(streams)
            self._progress.start()
            console.set_live(self._write_above)
        elif self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total, completed=done, standing="")

    def _advance(self, event: TrialFinished) -> None:
        grade = event.trial.grade
        if event.trial.state is not TrialState.GRADED or grade is None:
            self._unmeasured += 1
        elif not grade.passed:
            self._failed += 1
        if self._is_verbose:
            console.err(trial_line(event))
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=event.done, standing=self._standing())

    def _standing(self) -> str:
        counts = ((self._failed, self._word), (self._unmeasured, "unmeasured"))
        return ", ".join(f"{number:,} {word}" for number, word in counts if number)

    def _write_above(self, lines: Sequence[str]) -> None:
        from rich.text import Text

        if self._progress is not None:
            for line in lines:
                self._progress.console.print(Text(line), soft_wrap=True)


def make_progress(streams: console.Streams) -> Progress:
    """Make a bar on stderr; each task has a field `standing` for what went wrong so far."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    canvas = Console(
        file=streams.stderr,
        force_terminal=True,
        color_system="standard" if streams.has_color else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[standing]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=canvas,
        transient=True,
        expand=True,
        refresh_per_second=_REDRAWS_PER_SECOND,
        # Nothing is swapped under other writers: all of stderr goes through the console module.
        redirect_stdout=False,
        redirect_stderr=False,
    )


def trial_line(event: TrialFinished) -> str:
    """Write one finished trial as a line: `12/40  refund-window  FAIL  0.50  1.1 s  reason`."""
    trial = event.trial
    total = f"{event.total:,}"
    parts = [f"{event.done:>{len(total)},}/{total}", plain_text(trial.prompt_id)]
    if trial.trial:
        parts.append(f"trial {trial.trial + 1}")
    parts += _outcome_words(trial)
    measured = trial.ranking or trial.call
    if measured is not None and measured.latency_ms is not None:
        parts.append(duration(measured.latency_ms))
    reason = trial.error.message if trial.error is not None else ""
    if trial.grade is not None:
        reason = trial.grade.reason
    if reason:
        parts.append(plain_text(reason, limit=_MAX_REASON))
    return "  ".join(parts)


def _outcome_words(trial: Trial) -> list[str]:
    if trial.state is not TrialState.GRADED or trial.grade is None:
        return [trial.state.value.replace("_", " ")]
    if trial.grade.question is not None:
        rank = trial.grade.question.first_hit
        return ["hit" if trial.grade.passed else "MISS" if rank is None else f"rank {rank}"]
    return ["pass" if trial.grade.passed else "FAIL", score(trial.grade.score, digits=2)]


def retry_teller(verbosity: int) -> Callable[[CallRetried], None] | None:
    """Make what writes each retry as a line; None where nobody asked for them with `-v`."""
    return (lambda event: console.err(retry_line(event))) if verbosity > 0 else None


def retry_line(event: CallRetried) -> str:
    """Write that a call is tried again, `openai: 503 …; try 2 in 1.5 s`, or who is instead."""
    message = plain_text(event.message, limit=_MAX_REASON)
    wait = duration(event.wait_s * 1000)
    provider = plain_text(event.provider)
    lead = "" if message.startswith(provider) else f"{provider}: "
    if event.fallback is not None:
        return f"{lead}{message}; asking the fallback {plain_text(event.fallback)}"
    return f"{lead}{message}; try {event.tries + 1} in {wait}"
