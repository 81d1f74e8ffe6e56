"""A batch: many decisions by one profile, in order, in bounded memory, resumable after a kill."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalcli.comparison.fingerprint import profile_fingerprint
from evalcli.decisions.ad_hoc import is_ad_hoc
from evalcli.decisions.batch_input import CheckedInput, check_input, read_subjects
from evalcli.decisions.batch_output import BatchOutput, Line, open_output
from evalcli.decisions.batch_tally import Tally
from evalcli.decisions.deciding import DecisionSetting
from evalcli.decisions.profile_memory import remember_profile
from evalcli.decisions.requirements import read_requirements
from evalcli.decisions.service import DecisionService
from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.errors import InterruptedRunError, UsageError
from evalcli.records import (
    BatchOutcome,
    BatchProgress,
    DecisionAvailability,
    DecisionOutcome,
    DecisionRequest,
    StoredDecision,
    Subject,
)
from evalcli.reports.decision_json import result_facts

_AHEAD = 4
"""Lines under way for each one that may be asked at once: a slow one holds up no other soon."""

_DEFAULT_CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """What is to be decided: a file of subjects, and where the results go.

    `concurrency` is None for the provider's.
    """

    profile: str | Profile
    source: Path
    output: Path
    configuration: str | None = None
    data_class: DataClass | None = None
    require: Sequence[str] = ()
    concurrency: int | None = None


async def decide_batch(
    order: BatchOrder,
    setting: DecisionSetting,
    *,
    listener: Callable[[BatchProgress], None] | None = None,
) -> BatchOutcome:
    """Decide about every line of a file; go on where an earlier batch of the same stopped.

    Raises:
        DecisionError, ConfigurationError, UsageError, DeclarationError: nothing was sent.
        InterruptedRunError: cancelled; the lines that are written stay.
        OutputError, HistoryError: a result cannot be kept; the lines before it are.
    """
    _check_order(order)
    async with setting.open_pipeline() as pipeline:
        service = setting.make_service(pipeline, order.profile)
        available = service.assert_available(order.profile, order.configuration, order.data_class)
        tally = Tally(read_requirements(order.require, available.profile), total=0)
        checked = await check_input(order.source, available.profile)
        tally.total = checked.lines
        with open_output(order.output, _identity(available, checked), keep=tally.add) as output:
            before = tally.done
            if not is_ad_hoc(order.profile):
                _remember(available.profile, setting)
            batch = _Batch(order, setting, service, available, output, tally, listener)
            await batch.perform(read_subjects(checked, after=before))
    return _outcome(order, available, tally, before)


class _Batch:
    """The lines of one batch on their way: asked at once, written in order."""

    def __init__(
        self,
        order: BatchOrder,
        setting: DecisionSetting,
        service: DecisionService,
        available: DecisionAvailability,
        output: BatchOutput,
        tally: Tally,
        listener: Callable[[BatchProgress], None] | None,
    ) -> None:
        self._order = order
        self._setting = setting
        self._service = service
        self._available = available
        self._output = output
        self._tally = tally
        self._tell = listener or (lambda _: None)
        entry = setting.workspace.providers.get(available.provider)
        default = entry.concurrency if entry is not None else _DEFAULT_CONCURRENCY
        self._concurrency = order.concurrency or default
        self._slots = asyncio.Semaphore(self._concurrency)
        self._unsaved: list[StoredDecision] = []
        self._news = asyncio.Event()

    async def perform(self, subjects: Iterator[tuple[int, Subject]]) -> None:
        """Ask about every subject, so many at once, and write each result in its turn."""
        waiting: deque[asyncio.Task[Line]] = deque()
        self._tell(self._tally.progress())
        try:
            while self._refill(waiting, subjects):
                await self._news.wait()
                self._news.clear()
                self._keep_ready(waiting)
        except BaseException as exc:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            if not isinstance(exc, asyncio.CancelledError):
                raise
            with suppress(asyncio.CancelledError):
                self._keep_ready(waiting)
            raise self._interrupted() from exc

    def _refill(
        self, waiting: deque[asyncio.Task[Line]], subjects: Iterator[tuple[int, Subject]]
    ) -> bool:
        while len(waiting) < self._concurrency * _AHEAD:
            following = next(subjects, None)
            if following is None:
                break
            task = asyncio.create_task(self._decide(*following))
            task.add_done_callback(lambda _: self._news.set())
            waiting.append(task)
        return bool(waiting)

    def _keep_ready(self, waiting: deque[asyncio.Task[Line]]) -> None:
        """Commit what has been decided to the history, then write the lines whose turn it is."""
        unsaved, self._unsaved = self._unsaved, []
        self._setting.store(unsaved)
        lines: list[Line] = []
        while waiting and waiting[0].done() and not waiting[0].cancelled():
            if waiting[0].exception() is not None:
                break
            lines.append(waiting.popleft().result())
        if lines:
            self._output.add(lines)
            for line in lines:
                self._tally.add(line)
            self._tell(self._tally.progress())
        if waiting and waiting[0].done():
            waiting[0].result()  # Raises what ended it, now that the lines before it are kept.

    async def _decide(self, number: int, subject: Subject) -> Line:
        order = self._order
        request = DecisionRequest(
            order.profile, subject, order.configuration, order.data_class, caller="batch"
        )
        async with self._slots:
            outcome = await self._service.ask(request)
        self._unsaved.append(
            self._setting.record(
                request, self._available, outcome, batch=self._output.batch, line=number
            )
        )
        return _line_of(outcome)

    def _interrupted(self) -> InterruptedRunError:
        done, total = self._tally.done, self._tally.total
        return InterruptedRunError(
            f"interrupted after {done:,} of {total:,} lines, which are kept",
            run_id="",
            advice="the same command goes on from there",
        )


def _line_of(outcome: DecisionOutcome) -> Line:
    if outcome.result is not None:
        return result_facts(outcome.result)
    if outcome.error is None:
        raise RuntimeError("a decision has neither a result nor an error")
    return {"error": {"code": outcome.error.code.value}}


def _check_order(order: BatchOrder) -> None:
    if order.concurrency is not None and order.concurrency < 1:
        raise UsageError("--concurrency must be 1 or more", advice="leave it out for the default")
    if _is_same_file(order.output, order.source):
        raise UsageError(
            "--output is the file that --batch reads", advice="name another file for the results"
        )


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # One is not there, or is no path: whoever opens it says so.
        return False


def _identity(available: DecisionAvailability, checked: CheckedInput) -> dict[str, object]:
    return {
        "input_sha256": checked.sha256,
        "profile": available.profile.identifier,
        "version": available.profile.version,
        "fingerprint": profile_fingerprint(available.profile),
        "configuration": available.configuration,
        "provider": available.provider,
        "model": available.model,
        "data_class": available.data_class.value,
    }


def _remember(profile: Profile, setting: DecisionSetting) -> None:
    """Remember the version of a profile at its first stored use."""
    if setting.history is not None and setting.is_stored:
        remember_profile(setting.history, profile, first_use="batch", used_at=setting.now())


def _outcome(
    order: BatchOrder, available: DecisionAvailability, tally: Tally, before: int
) -> BatchOutcome:
    def tokens(name: str) -> int | None:
        value = tally.sums[name] if has_decided else None
        return None if value is None else int(value)

    has_decided = tally.done > tally.failed.total()

    return BatchOutcome(
        available=available,
        output=str(order.output),
        lines=tally.done,
        resumed_after=before,
        failed=dict(sorted(tally.failed.items())),
        below_requirement=tally.below,
        input_tokens=tokens("input_tokens"),
        output_tokens=tokens("output_tokens"),
        cost_usd=tally.sums["cost_usd"] if has_decided else None,
        requirements=tally.by_requirement(),
        first_failed=tally.first_failed,
    )
