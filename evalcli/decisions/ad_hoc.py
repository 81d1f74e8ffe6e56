"""A profile for questions that are declared nowhere: asked once, by hand."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from evalcli.declarations.profile import Profile
from evalcli.declarations.scalars import ValueFaultError
from evalcli.errors import UsageError

AD_HOC = "ad_hoc"
"""The identifier of such a profile; it is never remembered."""


def is_ad_hoc(profile: str | Profile) -> bool:
    """Whether a profile was made here; a declared one that is called so is as good as any other."""
    return isinstance(profile, Profile) and profile.identifier == AD_HOC


def make_ad_hoc_profile(
    *,
    yes_no: str | None = None,
    choice: str | None = None,
    options: Sequence[str] = (),
    score: str | None = None,
    levels: Sequence[str] = (),
) -> Profile:
    """Make a profile of one question of a type, each under the name of its type.

    Raises:
        UsageError: no question is given, or one has too few or too many options or levels.
    """
    if options and choice is None:
        raise UsageError("--option belongs to --choice", advice="give the question with --choice")
    if levels and score is None:
        raise UsageError("--level belongs to --score", advice="give the question with --score")
    questions: dict[str, dict[str, object]] = {}
    if yes_no is not None:
        questions["yes_no"] = {"type": "yes_no", "instructions": yes_no}
    if choice is not None:
        questions["choice"] = {"type": "choice", "instructions": choice, "options": tuple(options)}
    if score is not None:
        questions["score"] = {"type": "score", "instructions": score, "levels": tuple(levels)}
    if not questions:
        raise UsageError(
            "nothing is asked", advice="name a profile, or give --yes-no, --choice or --score"
        )
    fields = {"kind": "profile", "identifier": AD_HOC, "version": 1, "questions": questions}
    try:
        return Profile.model_validate(fields)
    except ValidationError as exc:
        raise _usage_error(exc) from exc


def _usage_error(exc: ValidationError) -> UsageError:
    first = exc.errors()[0]
    cause = first.get("ctx", {}).get("error")
    fault = cause if isinstance(cause, ValueFaultError) else None
    path = [str(part) for part in first["loc"]] + [str(p) for p in (fault.path if fault else ())]
    kind = next((name for name in ("yes_no", "choice", "score") if name in path), "question")
    message = fault.message if fault is not None else first["msg"]
    where = next((f" {noun}" for noun in ("options", "levels") if noun in path), "")
    option = f"--{kind.replace('_', '-')}"
    return UsageError(f"{option}:{where} {message}", advice=fault.advice if fault else "")
