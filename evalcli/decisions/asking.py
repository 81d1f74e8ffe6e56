"""One decision asked of one model and its fallbacks: natively, or by chat for hard labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeVar

from evalcli.calls.failures import FailureKind, failure_kind
from evalcli.calls.pipeline import CallResult, Pipeline
from evalcli.decisions.by_chat import (
    ReplyFaultError,
    UnusableReply,
    chat_request,
    read_reply,
)
from evalcli.decisions.planning import DecisionPlan, Segment
from evalcli.declarations.resolution import ResolvedConfiguration
from evalcli.errors import ProviderError
from evalcli.records import (
    Answer,
    CallRecord,
    DecisionAnswer,
    DecisionRequest,
    FinishReason,
    Operation,
    ProbabilityKind,
    QuestionsRequest,
    Usage,
)

NumberT = TypeVar("NumberT", int, Decimal)


@dataclass(frozen=True, slots=True)
class Asked:
    """What came back, not verified yet: answers, a provider's error, or an unusable reply.

    `record` counts all requests. `cost_usd` is what a result says of the cost. `fault` is why a
    reply could not be used, empty where it could; `said` is what it was, fit to be shown, and
    `is_repeated` says that the model had a second chance.
    """

    record: CallRecord
    answers: Mapping[str, DecisionAnswer] = field(default_factory=dict)
    probability_kind: ProbabilityKind = ProbabilityKind.NONE
    cost_usd: Decimal | None = None
    error: ProviderError | None = None
    fault: str = ""
    said: str = ""
    is_repeated: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether a provider failed, so that the next one in the chain is asked."""
        return self.error is not None and failure_kind(self.error) is FailureKind.FAILED


class Asker:
    """Asks by a plan; remembers which models take no temperature."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._without_temperature: set[tuple[str, str]] = set()

    async def ask(self, plan: DecisionPlan, request: DecisionRequest) -> Asked:
        """Ask the plan's segments one after the other, while providers fail."""
        first, *rest = plan.segments
        asked = await self._ask_segment(first, plan, request)
        for segment in rest:
            if asked.error is None or not asked.has_failed:
                break
            self._pipeline.tell_of_fallback(asked.record, asked.error, segment.target.provider)
            asked = _after(asked, await self._ask_segment(segment, plan, request))
        return asked

    async def _ask_segment(
        self, segment: Segment, plan: DecisionPlan, request: DecisionRequest
    ) -> Asked:
        if segment.operation is Operation.DECISION:
            return await self._ask_natively(segment.target, plan, request)
        return await self._ask_by_chat(segment.target, plan, request)

    async def _ask_natively(
        self, target: ResolvedConfiguration, plan: DecisionPlan, request: DecisionRequest
    ) -> Asked:
        result = await self._pipeline.ask_decision(
            target,
            QuestionsRequest(target.model_id, request.subject, plan.profile.questions),
            data_class=plan.data_class,
            caller=request.caller,
            caller_operation=request.caller_operation,
        )
        if result.decision is None:
            return Asked(result.record, error=result.error)
        return Asked(
            result.record,
            result.decision.answers,
            result.decision.probability_kind,
            result.record.cost_usd,
        )

    # --- by chat --------------------------------------------------------------------------------

    async def _ask_by_chat(
        self, target: ResolvedConfiguration, plan: DecisionPlan, request: DecisionRequest
    ) -> Asked:
        """Ask for hard labels; where the reply cannot be used, say why and ask once more."""
        call = await self._chat(target, plan, request)
        if call.answer is None:
            return Asked(call.record, error=call.error)
        asked = self._read_answer(plan, request, call.record, call.answer)
        if not asked.fault or _is_withheld(call.answer):
            return asked
        again = await self._chat(
            target, plan, request, unusable=UnusableReply(call.answer.text or "", asked.fault)
        )
        record = join_calls((call, again))
        if again.answer is None:
            return Asked(record, error=again.error)
        asked = self._read_answer(plan, request, record, again.answer)
        return replace(asked, is_repeated=True)

    async def _chat(
        self,
        target: ResolvedConfiguration,
        plan: DecisionPlan,
        request: DecisionRequest,
        *,
        unusable: UnusableReply | None = None,
    ) -> CallResult:
        """Send one request, at temperature 0; without one to a model that says it takes none."""
        legs = {(leg.provider, leg.model_id) for leg in target.legs}
        with_temperature = not legs & self._without_temperature
        call = await self._send(target, plan, request, unusable, with_temperature)
        if not with_temperature or not _is_about_temperature(call.error):
            return call
        self._without_temperature.add((call.record.provider, call.record.requested_model))
        again = await self._send(target, plan, request, unusable, with_temperature=False)
        return replace(again, record=join_calls((call, again)))

    async def _send(
        self,
        target: ResolvedConfiguration,
        plan: DecisionPlan,
        request: DecisionRequest,
        unusable: UnusableReply | None,
        with_temperature: bool,
    ) -> CallResult:
        asked = chat_request(
            target,
            plan.profile,
            request.subject,
            with_temperature=with_temperature,
            unusable=unusable,
        )
        return await self._pipeline.ask_chat(
            target,
            asked,
            data_class=plan.data_class,
            caller=request.caller,
            caller_operation=request.caller_operation,
        )

    def _read_answer(
        self, plan: DecisionPlan, request: DecisionRequest, record: CallRecord, answer: Answer
    ) -> Asked:
        """Read the labels out of a chat model's answer; what it said is kept where it has none."""
        answers: Mapping[str, DecisionAnswer] = {}
        fault = _why_empty(answer)
        if not fault:
            try:
                answers = read_reply(plan.profile, answer.text or "")
            except ReplyFaultError as exc:
                was_cut_off = answer.finish is FinishReason.LENGTH
                fault = "it was cut off at the token limit" if was_cut_off else str(exc)
        said = ""
        if fault:
            said = self._pipeline.clean(
                record.provider,
                answer.text or answer.refusal or "",
                private=request.subject.texts(),
            )
        return Asked(record, answers, cost_usd=record.usage.cost_usd, fault=fault, said=said)


def _why_empty(answer: Answer) -> str:
    """Say why an answer has no text; empty where it has one."""
    if answer.text is not None and answer.text.strip():
        return ""
    if answer.finish is FinishReason.CONTENT_FILTER:
        return "a content filter blocked it"
    if answer.refusal is not None or answer.finish is FinishReason.REFUSAL:
        return "the model refused"
    if answer.finish is FinishReason.LENGTH:
        return "it was cut off at the token limit before any text"
    return "it has no text"


def _is_withheld(answer: Answer) -> bool:
    """Whether a filter or a refusal stands against the request: asking again does not help."""
    return answer.refusal is not None or answer.finish in (
        FinishReason.CONTENT_FILTER,
        FinishReason.REFUSAL,
    )


def _is_about_temperature(error: ProviderError | None) -> bool:
    if error is None or failure_kind(error) is not FailureKind.REFUSED:
        return False
    return error.status in (400, 422) and "temperature" in error.detail.lower()


# --- several calls, one decision ------------------------------------------------------------------


def join_calls(calls: Sequence[CallResult]) -> CallRecord:
    """Make one record of the calls that a decision took: the last one's, with all requests.

    Tokens and costs are summed over the calls that were answered, and unknown where one of them
    reported none.
    """
    answered = [call.record for call in calls if call.answer is not None]
    return replace(
        calls[-1].record,
        tries=sum(call.record.tries for call in calls),
        usage=_sum_usages([record.usage for record in answered]),
        cost_usd=_sum_known([record.cost_usd for record in answered]),
    )


def _after(before: Asked, asked: Asked) -> Asked:
    """Add what a segment that failed took to what the next one gave; chain the errors."""
    spent = [
        one.record for one in (before, asked) if one.error is None or one.record.usage != _UNKNOWN
    ]
    record = replace(
        asked.record,
        tries=before.record.tries + asked.record.tries,
        usage=_sum_usages([record.usage for record in spent]),
        cost_usd=_sum_known([record.cost_usd for record in spent]),
    )
    if asked.error is not None and before.error is not None:
        asked.error.__cause__ = before.error
        asked.error.message = f"{asked.error.message}; before that, {before.error.message}"
    return replace(asked, record=record)


_UNKNOWN = Usage()


def _sum_usages(usages: Sequence[Usage]) -> Usage:
    if len(usages) == 1:
        return usages[0]
    return Usage(
        input_tokens=_sum_known([usage.input_tokens for usage in usages]),
        output_tokens=_sum_known([usage.output_tokens for usage in usages]),
        cached_input_tokens=_sum_known([usage.cached_input_tokens for usage in usages]),
        cache_write_tokens=_sum_known([usage.cache_write_tokens for usage in usages]),
        reasoning_tokens=_sum_known([usage.reasoning_tokens for usage in usages]),
        cost_usd=_sum_known([usage.cost_usd for usage in usages]),
    )


def _sum_known(values: Sequence[NumberT | None]) -> NumberT | None:
    """Sum numbers; None where there is none, or where one is unknown."""
    total: NumberT | None = None
    for value in values:
        if value is None:
            return None
        total = value if total is None else total + value
    return total
