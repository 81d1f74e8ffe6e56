"""Decision servers: TypeSafe and every other System One server, and the decision sidecar.

Source: reference "Wire formats", 12 and 14.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from evalcli.declarations.profile import Question, ScoreQuestion, YesNoQuestion
from evalcli.errors import ConfigurationError
from evalcli.protocols import ProviderSetup
from evalcli.providers.native_decision import (
    AnswerFields,
    NativeDecisionProvider,
    read_choice_or_score,
)
from evalcli.records import DecisionAnswer, ProbabilityKind, QuestionsRequest

TYPESAFE_BASE_URL: Final = "https://api.typesafe.ai/v1"
SIDECAR_BASE_URL: Final = "http://127.0.0.1:8082"

_ALIASES: Final = frozenset({"jev-latest", "jev-preview"})


class TypeSafe(NativeDecisionProvider):
    """Asks a System One server through `POST {base_url}/systemone`.

    Any server that speaks it can be named as `base_url`: llama.cpp, OpenRouter, Databricks, local
    ones. `confidence`, `probabilities` and `legend` may be missing; `confidence` means something
    else at each server and is never computed here.

    Raises:
        ConfigurationError: the address cannot be used, or TypeSafe itself is asked without a key.
    """

    default_base_url = TYPESAFE_BASE_URL
    path = "/systemone"
    request_id_header = "x-typesafe-request-id"

    def __init__(self, setup: ProviderSetup) -> None:
        if setup.entry.base_url is None and setup.api_key is None:
            raise ConfigurationError(
                f'provider "{setup.name}" has neither api_key nor base_url',
                advice="write `api_key: env:TYPESAFE_API_KEY`, or the base_url of another server",
            )
        host = f".{urlsplit(setup.entry.base_url or TYPESAFE_BASE_URL).hostname or ''}"
        if host.endswith(".typesafe.ai"):
            self.probability_kind = ProbabilityKind.CALIBRATED
        super().__init__(setup)

    def write_request(self, request: QuestionsRequest) -> Mapping[str, object]:
        """Write `model`, `state` and `questions`."""
        return {
            "model": request.model,
            "state": request.subject.fields(),
            "questions": {
                key: _system_one_question(question) for key, question in request.questions.items()
            },
        }

    def read_answer(self, question: Question, fields: AnswerFields) -> DecisionAnswer:
        """Read an answer of the type that belongs to the question."""
        if not isinstance(question, YesNoQuestion):
            return read_choice_or_score(question, fields)
        fields.check_type("noul")
        return DecisionAnswer(
            value=fields.number("noul"), confidence=fields.optional_number("confidence")
        )

    def model_notes(self, model: str) -> tuple[str, ...]:
        """Warn of an alias: what it stands for changes without notice."""
        if model.rpartition("/")[2] not in _ALIASES:
            return ()
        return (
            f'"{model}" is an alias that moves without notice; name a version, such as the one '
            "that answers, before thresholds are tuned on it",
        )


def _system_one_question(question: Question) -> dict[str, object]:
    instructions = question.instructions
    if isinstance(question, YesNoQuestion):
        written: dict[str, object] = {"type": "noul", "instructions": instructions}
        meanings = {"true": question.yes, "false": question.no}
        criteria = {answer: meaning for answer, meaning in meanings.items() if meaning is not None}
        return {**written, "criteria": criteria} if criteria else written
    if isinstance(question, ScoreQuestion):
        return {"type": "score", "instructions": instructions, "criteria": list(question.levels)}
    return {
        "type": "choice",
        "instructions": instructions,
        "criteria": {option: question.descriptions.get(option) for option in question.options},
    }


class DecisionSidecar(NativeDecisionProvider):
    """Asks a decision sidecar through `POST {base_url}/decide`; its numbers are not calibrated."""

    default_base_url = SIDECAR_BASE_URL
    path = "/decide"

    def write_request(self, request: QuestionsRequest) -> Mapping[str, object]:
        """Write `state` and `questions`; the server has one model, so none is named."""
        return {
            "state": request.subject.fields(),
            "questions": {
                key: _sidecar_question(question) for key, question in request.questions.items()
            },
        }

    def read_answer(self, question: Question, fields: AnswerFields) -> DecisionAnswer:
        """Read an answer of the type that belongs to the question."""
        if not isinstance(question, YesNoQuestion):
            return read_choice_or_score(question, fields)
        fields.check_type(question.type)
        return DecisionAnswer(
            value=fields.number("probability_of_yes"),
            confidence=fields.optional_number("confidence"),
        )


def _sidecar_question(question: Question) -> dict[str, object]:
    return question.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {
        "type": question.type
    }
