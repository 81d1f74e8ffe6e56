"""Which models answer by a profile, and whether they may: all that needs no subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from evalcli.calls.pipeline import Pipeline
from evalcli.calls.trust import check_reachable, more_sensitive
from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import (
    ResolvedConfiguration,
    can_chat,
    find_configuration,
    known_names,
    resolve_configuration,
)
from evalcli.declarations.workspace import WorkspaceFile
from evalcli.errors import ConfigurationError, DecisionCode, DecisionError, TrustZoneError
from evalcli.records import Operation


@dataclass(frozen=True, slots=True)
class Segment:
    """Models that are asked in the same way, the first one and then its fallbacks.

    `operation` is DECISION for native decisions, CHAT for hard labels from a chat model.
    """

    operation: Operation
    target: ResolvedConfiguration


@dataclass(frozen=True, slots=True)
class DecisionPlan:
    """How decisions by a profile are made on a configuration; resolved and checked once.

    `data_class` is the most sensitive that the call may carry. `segments` are asked one after the
    other while providers fail.
    """

    profile: Profile
    configuration: str
    data_class: DataClass
    segments: tuple[Segment, ...]
    notes: tuple[str, ...] = ()


def plan_decision(
    workspace: WorkspaceFile,
    pipeline: Pipeline,
    profile: Profile,
    *,
    configuration: str | None = None,
    data_class: DataClass | None = None,
) -> DecisionPlan:
    """Resolve the configuration once, and refuse what can be refused before the first request.

    Raises:
        DecisionError: NO_CONFIGURATION, UNKNOWN_CONFIGURATION, MODEL_CANNOT_DECIDE, or
            DATA_CLASS_NOT_PERMITTED.
        ConfigurationError: a key cannot be read, or an address may not be asked.
    """
    name = configuration if configuration is not None else workspace.decision.configuration
    if name is None:
        raise DecisionError(
            DecisionCode.NO_CONFIGURATION,
            "no configuration is named, and the one for runs is never taken for decisions",
            advice="name one (--configuration, of a run --grader-configuration), or set "
            "decision.configuration in evalcli.yaml "
            f"({known_names(workspace.configurations)})",
        )
    target = _resolve(workspace, name)
    carried = profile.data_class
    if data_class is not None:
        carried = more_sensitive(carried, data_class)
    try:
        check_reachable(target, carried)
    except TrustZoneError as exc:
        raise DecisionError(
            DecisionCode.DATA_CLASS_NOT_PERMITTED, exc.message, advice=exc.advice
        ) from exc
    segments = tuple(_segments(pipeline, target))
    notes: list[str] = []
    for segment in segments:
        pipeline.check(segment.target, data_class=carried, operation=segment.operation)
        notes += pipeline.model_notes(segment.target)
    return DecisionPlan(profile, name, carried, segments, tuple(dict.fromkeys(notes)))


def _resolve(workspace: WorkspaceFile, name: str) -> ResolvedConfiguration:
    try:
        find_configuration(workspace, name)
    except ConfigurationError as exc:
        raise DecisionError(
            DecisionCode.UNKNOWN_CONFIGURATION, exc.message, advice=exc.advice
        ) from exc
    try:
        return resolve_configuration(workspace, configuration=name, wanted="decision")
    except ConfigurationError as exc:
        raise DecisionError(
            DecisionCode.MODEL_CANNOT_DECIDE,
            f'configuration "{name}": {exc.message}',
            advice=exc.advice,
        ) from exc


def _segments(pipeline: Pipeline, target: ResolvedConfiguration) -> list[Segment]:
    """Put what is asked in the same way together, in the order of the fallback chain."""
    legs = [(way_of(pipeline, leg), leg) for leg in target.legs]
    segments = []
    for operation, group in groupby(legs, key=lambda pair: pair[0]):
        first, *rest = (leg for _, leg in group)
        segments.append(Segment(operation, replace(first, fallbacks=tuple(rest))))
    return segments


def way_of(pipeline: Pipeline, leg: ResolvedConfiguration) -> Operation:
    """Say how a model answers: natively where it declares `decision`, else by chat.

    A model that declares nothing chats; where its adapter does nothing but decide, it decides.

    Raises:
        DecisionError: MODEL_CANNOT_DECIDE.
        ConfigurationError: the adapter cannot be made.
    """
    declared = leg.model.capabilities if leg.model is not None else ()
    adapter = f'the type "{leg.entry.type}" of provider "{leg.provider}"'
    if "decision" in declared:
        if pipeline.can_do(leg, Operation.DECISION):
            return Operation.DECISION
        raise _cannot(
            leg,
            f"declares `decision`, and {adapter} makes no decisions",
            "take `decision` off its capabilities, or name a decision server",
        )
    if not can_chat(leg.model):
        raise _cannot(
            leg,
            f"declares {', '.join(declared)}, and neither `decision` nor `chat`",
            "name a configuration whose model decides or chats",
        )
    if pipeline.can_do(leg, Operation.CHAT):
        return Operation.CHAT
    if not declared and pipeline.can_do(leg, Operation.DECISION):
        return Operation.DECISION
    raise _cannot(
        leg,
        f"declares `chat`, and {adapter} does not chat",
        "write `capabilities: [decision]` in its entry",
    )


def _cannot(leg: ResolvedConfiguration, why: str, advice: str) -> DecisionError:
    return DecisionError(
        DecisionCode.MODEL_CANNOT_DECIDE, f'model "{leg.model_id}" {why}', advice=advice
    )
