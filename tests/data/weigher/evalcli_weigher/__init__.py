"""An example of another native decision model: a server that weighs labels.

It is asked `POST {base_url}/weigh {"about": {...}, "questions": [{"key", "text", "labels"}]}` and
answers `{"answers": {key: {"weights": {label: number}}}}`, with weights that add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalcli.declarations.profile import ChoiceQuestion, Question, YesNoQuestion
from evalcli.providers.native_decision import (
    AnswerFaultError,
    AnswerFields,
    NativeDecisionProvider,
)
from evalcli.records import DecisionAnswer, QuestionsRequest


class Weigher(NativeDecisionProvider):
    """Asks a server that weighs labels; `type: weigher` in `evalcli.yaml`."""

    path = "/weigh"

    def write_request(self, request: QuestionsRequest) -> Mapping[str, object]:
        """Write the subject, and the labels of each question."""
        return {
            "model": request.model,
            "about": request.subject.fields(),
            "questions": [
                {"key": key, "text": question.instructions, "labels": _labels(question)}
                for key, question in request.questions.items()
            ],
        }

    def read_answer(self, question: Question, fields: AnswerFields) -> DecisionAnswer:
        """Turn weights into the answer that belongs to the question."""
        weights = fields.numbers("weights")
        if not weights:
            raise AnswerFaultError("`weights` is missing")
        if isinstance(question, YesNoQuestion):
            return DecisionAnswer(value=weights.get("yes", 0.0), probabilities=weights)
        if isinstance(question, ChoiceQuestion):
            heaviest = max(weights, key=lambda label: weights[label])
            return DecisionAnswer(choice=heaviest, probabilities=weights)
        try:
            value = sum(int(level) * weight for level, weight in weights.items())
        except ValueError:
            raise AnswerFaultError("a weight is of no level") from None
        return DecisionAnswer(value=value, probabilities=weights)


def _labels(question: Question) -> list[str]:
    if isinstance(question, YesNoQuestion):
        return ["yes", "no"]
    if isinstance(question, ChoiceQuestion):
        return list(question.options)
    return [str(index) for index in range(len(question.levels))]
