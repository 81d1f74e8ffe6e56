"""The decision service: checks a request, asks whichever model is configured, verifies.

It answers; it never decides what follows from an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from evalcli.calls.failures import FailureKind, failure_kind
from evalcli.calls.pipeline import Pipeline
from evalcli.decisions.asking import Asked, Asker
from evalcli.decisions.planning import DecisionPlan, plan_decision
from evalcli.decisions.profile_memory import check_profile_memory
from evalcli.decisions.verify import find_answer_faults
from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.scalars import cite
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import (
    DecisionCode,
    DecisionError,
    DeclarationError,
    ProviderError,
    UsageError,
)
from evalcli.history.store import History
from evalcli.records import (
    CallRecord,
    DecisionAvailability,
    DecisionOutcome,
    DecisionRequest,
    DecisionResult,
    Subject,
)

ProfileFinder = Callable[[str], Profile]
"""Finds a profile by its identifier, as `Catalog.find_profile` does. It raises UsageError where
there is none, DeclarationError where it was set aside or withheld."""

_FAULTS_SHOWN = 3


class DecisionService:
    """Makes decisions on the configurations of a workspace.

    With a `history`, a version of a profile that has changed since its first stored use is
    refused. A profile and a configuration are resolved and checked once for all requests that
    name them.
    """

    def __init__(
        self,
        workspace: WorkspaceFile,
        pipeline: Pipeline,
        find_profile: ProfileFinder,
        *,
        history: History | None = None,
    ) -> None:
        self._workspace = workspace
        self._pipeline = pipeline
        self._find_profile = find_profile
        self._history = history
        self._asker = Asker(pipeline)
        self._plans: dict[tuple[object, str | None, DataClass | None], DecisionPlan] = {}

    def assert_available(
        self,
        profile: str | Profile,
        configuration: str | None = None,
        data_class: DataClass | None = None,
    ) -> DecisionAvailability:
        """Check all that needs no subject; see `protocols.Decider`. Opens no connection.

        Raises:
            DecisionError: UNKNOWN_PROFILE, INVALID_PROFILE, NO_CONFIGURATION,
                UNKNOWN_CONFIGURATION, MODEL_CANNOT_DECIDE or DATA_CLASS_NOT_PERMITTED.
            ConfigurationError: a key cannot be read, or an address may not be asked.
        """
        plan = self._plan(profile, configuration, data_class)
        first = plan.segments[0]
        return DecisionAvailability(
            profile=plan.profile,
            configuration=plan.configuration,
            provider=first.target.provider,
            model=first.target.model_id,
            operation=first.operation,
            data_class=plan.data_class,
            notes=plan.notes,
        )

    async def evaluate(self, request: DecisionRequest) -> DecisionResult:
        """Make one decision.

        Raises:
            DecisionError: as `assert_available`, MISSING_SUBJECT_FIELD, REJECTED, INVALID_ANSWER
                or FAILED; what a provider said is chained.
            BudgetError, TrustZoneError: denied inside the call pipeline.
        """
        outcome = await self.ask(request)
        if outcome.result is not None:
            return outcome.result
        raise outcome.error or RuntimeError("a decision has neither a result nor an error")

    async def ask(self, request: DecisionRequest) -> DecisionOutcome:
        """Make one decision; what fails after something was sent is a value, with its call.

        Raises:
            DecisionError, ConfigurationError: before anything was sent; as `evaluate`.
        """
        plan = self._plan(request.profile, request.configuration, request.data_class)
        check_subject(plan.profile, request.subject)
        asked = await self._asker.ask(plan, request)
        error = self._error_of(asked, plan.profile, request.subject)
        if error is not None:
            return DecisionOutcome(asked.record, error=error)
        return DecisionOutcome(asked.record, result=_result_of(asked, plan))

    def _plan(
        self, profile: str | Profile, configuration: str | None, data_class: DataClass | None
    ) -> DecisionPlan:
        # The plan keeps its profile alive, so that the id stays this profile's.
        key = (profile if isinstance(profile, str) else id(profile), configuration, data_class)
        plan = self._plans.get(key)
        if plan is None:
            found = profile if isinstance(profile, Profile) else self._find(profile)
            if self._history is not None:
                check_profile_memory(self._history, found)
            plan = self._plans[key] = plan_decision(
                self._workspace,
                self._pipeline,
                found,
                configuration=configuration,
                data_class=data_class,
            )
        return plan

    def _find(self, identifier: str) -> Profile:
        try:
            return self._find_profile(identifier)
        except UsageError as exc:
            raise DecisionError(
                DecisionCode.UNKNOWN_PROFILE, exc.message, advice=exc.advice
            ) from exc
        except DeclarationError as exc:
            first = f": {exc.faults[0]}" if exc.faults else ""
            raise DecisionError(
                DecisionCode.INVALID_PROFILE,
                f"{exc.message}{first}",
                advice=exc.advice or "`evalcli profiles validate` says every fault",
            ) from exc

    def _error_of(self, asked: Asked, profile: Profile, subject: Subject) -> DecisionError | None:
        """Say why there is no decision; None where there is one."""
        if asked.error is not None:
            return _provider_error(asked.error, asked.record)
        record = asked.record

        def quote(text: str) -> str:
            clean = self._pipeline.clean(record.provider, text, private=subject.texts())
            return cite(clean)

        faults = (
            () if asked.fault else find_answer_faults(profile.questions, asked.answers, quote=quote)
        )
        if not asked.fault and not faults:
            return None
        who = f"{record.provider} ({quote(record.reported_model or record.requested_model)})"
        if asked.fault:
            twice = ", asked twice" if asked.is_repeated else ""
            said = f': "{asked.said}"' if asked.said else ""
            return DecisionError(
                DecisionCode.INVALID_ANSWER,
                f"{who} gave no valid answer{twice}; {asked.fault}{said}",
                advice="try a model that is better at following a schema",
            )
        more = len(faults) - _FAULTS_SHOWN
        words = "; ".join(faults[:_FAULTS_SHOWN])
        if more > 0:
            words += f"; and {more} more faults"
        return DecisionError(DecisionCode.INVALID_ANSWER, f"{who} gave no valid answer: {words}")


def check_subject(profile: Profile, subject: Subject) -> None:
    """Check that a subject has the fields a profile requires.

    Raises:
        DecisionError: MISSING_SUBJECT_FIELD, naming all that lack.
    """
    missing = [name.value for name in profile.requires if not subject.has(name)]
    if missing:
        raise DecisionError(
            DecisionCode.MISSING_SUBJECT_FIELD,
            f'profile "{profile.identifier}" requires {" and ".join(missing)}, which the subject '
            "lacks",
            advice="give it; an empty text is present, no passage is no evidence",
        )


def _provider_error(error: ProviderError, record: CallRecord) -> DecisionError:
    kind = failure_kind(error)
    if kind is FailureKind.NO_ANSWER:
        code = DecisionCode.INVALID_ANSWER
    elif kind is FailureKind.REFUSED and not record.is_fallback:
        code = DecisionCode.REJECTED
    else:
        code = DecisionCode.FAILED
    decision_error = DecisionError(code, error.message, advice=error.advice)
    decision_error.__cause__ = error
    return decision_error


def _result_of(asked: Asked, plan: DecisionPlan) -> DecisionResult:
    record = asked.record
    return DecisionResult(
        profile=plan.profile.identifier,
        version=plan.profile.version,
        configuration=plan.configuration,
        provider=record.provider,
        model=record.reported_model,
        probability_kind=asked.probability_kind,
        answers={key: asked.answers[key] for key in plan.profile.questions},
        input_tokens=record.usage.input_tokens,
        output_tokens=record.usage.output_tokens,
        cost_usd=asked.cost_usd,
        call=record,
        notes=plan.notes,
    )
