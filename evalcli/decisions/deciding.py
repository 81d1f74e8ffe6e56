"""One decision from request to history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalcli.calls.pipeline import Pipeline
from evalcli.decisions.ad_hoc import is_ad_hoc
from evalcli.decisions.requirements import read_requirements
from evalcli.decisions.service import DecisionService, ProfileFinder
from evalcli.declarations.profile import Profile
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.history.store import History
from evalcli.records import (
    CallRetried,
    DecisionAvailability,
    DecisionOutcome,
    DecisionRequest,
    JudgedDecision,
    StoredDecision,
)


@dataclass(frozen=True, slots=True)
class DecisionSetting:
    """Where decisions are made. With a `history`, versions of profiles are checked by it.

    Decisions are stored there where `is_stored`.
    """

    workspace: WorkspaceFile
    root: Path | None
    environ: Mapping[str, str]
    find_profile: ProfileFinder
    now: Callable[[], datetime]
    history: History | None = None
    is_stored: bool = True
    on_retry: Callable[[CallRetried], None] | None = None

    def open_pipeline(self) -> Pipeline:
        """Make the way to the providers; it is opened and closed as a context manager."""
        return Pipeline(
            self.workspace, root=self.root, environ=self.environ, on_retry=self.on_retry
        )

    def make_service(self, pipeline: Pipeline, profile: str | Profile) -> DecisionService:
        """Make the service for a profile; one that is declared nowhere has no past."""
        return DecisionService(
            self.workspace,
            pipeline,
            self.find_profile,
            history=None if is_ad_hoc(profile) else self.history,
        )

    def record(
        self,
        request: DecisionRequest,
        available: DecisionAvailability,
        outcome: DecisionOutcome,
        *,
        batch: str | None = None,
        line: int | None = None,
    ) -> StoredDecision:
        """Describe a decision, made or failed, as the history keeps it."""
        return StoredDecision(
            made_at=self.now(),
            profile=available.profile.identifier,
            version=available.profile.version,
            configuration=available.configuration,
            data_class=available.data_class.value,
            subject=request.subject,
            outcome=outcome,
            batch=batch,
            line=line,
        )

    def store(self, decisions: Sequence[StoredDecision]) -> None:
        """Keep decisions, where decisions are kept."""
        if self.history is not None and self.is_stored and decisions:
            self.history.save_decisions(decisions)


async def decide_once(
    request: DecisionRequest, setting: DecisionSetting, *, require: Sequence[str] = ()
) -> JudgedDecision:
    """Make one decision, keep it, and compare it with what the caller requires.

    Raises:
        UsageError: a requirement cannot be judged; nothing was sent.
        DecisionError, ConfigurationError: as `DecisionService.evaluate`; a failure is kept, too.
    """
    async with setting.open_pipeline() as pipeline:
        service = setting.make_service(pipeline, request.profile)
        available = service.assert_available(
            request.profile, request.configuration, request.data_class
        )
        requirements = read_requirements(require, available.profile)
        outcome = await service.ask(request)
    setting.store((setting.record(request, available, outcome),))
    if outcome.result is None:
        raise outcome.error or RuntimeError("a decision has neither a result nor an error")
    judged = tuple(one.judge(outcome.result.answers) for one in requirements)
    return JudgedDecision(available.profile, outcome.result, judged)
