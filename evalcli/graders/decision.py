"""The decision grader: asks the decision service how well an answer fulfils its task.

It evaluates no assertion. A failed decision is not a failed prompt: it raises, and the trial is
stored as not graded.
"""

from __future__ import annotations

from fractions import Fraction

from evalcli.comparison.fingerprint import fingerprint_of
from evalcli.declarations.profile import Profile, ScoreQuestion
from evalcli.declarations.prompt_set import DataClass, GoldenPrompt
from evalcli.errors import UsageError
from evalcli.protocols import Decider
from evalcli.records import DecisionRequest, DecisionResult, Grade, Subject

TASK_FULFILMENT = "nr.task_fulfilment"
"""The built-in profile that the grader asks."""

PASS_SCORE = Fraction(3, 5)
"""A scaled level from which on an answer passes."""


class DecisionGrader:
    """Grades by one score question of a profile, on the configuration that judges.

    `configuration` is None for the one that `decision.configuration` names. The judge gets the
    task with the system prompt the call ran with, the answer as candidate, and the reference as
    evidence.

    Raises:
        UsageError: the profile has not exactly one question, a score.
    """

    def __init__(
        self,
        decider: Decider,
        profile: Profile,
        *,
        configuration: str | None,
        data_class: DataClass,
    ) -> None:
        self._key, question = next(iter(profile.questions.items()))
        if len(profile.questions) != 1 or not isinstance(question, ScoreQuestion):
            raise UsageError(
                f'profile "{profile.identifier}" cannot grade',
                advice="a profile that grades has exactly one question, of type score",
            )
        self._levels = question.levels
        self._top = len(question.levels) - 1
        self._decider = decider
        self._profile = profile
        self._configuration = configuration
        self._data_class = data_class

    async def grade(self, prompt: GoldenPrompt, answer_text: str, *, system: str | None) -> Grade:
        """Ask for one decision; see `Grader.grade`.

        Raises:
            DecisionError: there is no decision, so there is no grade.
        """
        result = await self._decider.evaluate(
            DecisionRequest(
                profile=self._profile,
                subject=Subject(
                    task=task_text(prompt.prompt, system),
                    candidate=answer_text,
                    evidence=() if prompt.reference is None else (prompt.reference,),
                ),
                configuration=self._configuration,
                data_class=self._data_class,
                caller="evalcli",
                caller_operation="eval.grade",
            )
        )
        return self._grade_of(result)

    def graded_fingerprint(self, prompt: GoldenPrompt) -> str | None:
        """Fingerprint the reference and the profile's content."""
        return fingerprint_of(
            "decision", {"reference": prompt.reference, "profile": self._profile.content()}
        )

    async def aclose(self) -> None:
        """Nothing is held: the pipeline belongs to the run."""

    def _grade_of(self, result: DecisionResult) -> Grade:
        value = result.answer(self._key).value
        # The service has verified that a score has a finite value in range.
        level = Fraction(str(value)) if value is not None else Fraction(0)
        score = level / self._top
        return Grade(
            passed=score >= PASS_SCORE,
            score=score,
            reason=self._reason(level, is_passed=score >= PASS_SCORE),
            yardstick=yardstick_of(result),
            call=result.call,
        )

    def _reason(self, level: Fraction, *, is_passed: bool) -> str:
        """Say the level, or the two it lies between, in the profile's words."""
        below = level.numerator // level.denominator
        shown = _short(level)
        mark = "" if is_passed else f" (passes from {_short(PASS_SCORE * self._top)})"
        words = self._levels[below]
        if level != below:
            words = f"{words} / {self._levels[below + 1]}"
        return f"level {shown} of {self._top}{mark}: {words}"


def _short(level: Fraction) -> str:
    return f"{float(level):.2f}".rstrip("0").rstrip(".")


def task_text(prompt: str, system: str | None) -> str:
    """Put the task together: what the call ran with, so that ignored instructions count."""
    return prompt if not system else f"Instructions:\n{system}\n\nTask:\n{prompt}"


def yardstick_of(result: DecisionResult) -> str:
    """Name what graded: `decision:<provider>:<model as reported>:v<profile version>`."""
    model = result.model if result.model is not None else result.call.requested_model
    return f"decision:{result.provider}:{model}:v{result.version}"
