"""What a run can be told, checked before anything is spent. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from evalcli.declarations.resolution import known_names
from evalcli.declarations.workspace import EvalSettings
from evalcli.errors import UsageError
from evalcli.records import GateLimits

Limit = str | int | float | Decimal | Fraction
"""A rate or drop in 0..1; text and decimals are exact, a float means its shortest decimal."""

DETERMINISTIC = "deterministic"
DECISION = "decision"
GRADERS = (DETERMINISTIC, DECISION)

_NAMES = (
    "configuration",
    "model",
    "provider",
    "grader",
    "grader_configuration",
    "baseline",
    "resume",
)
_MAX_TRIALS = 1000
_MAX_CONCURRENCY = 1024
_MAX_DECIMALS = 30


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `run_prompts`; None means: as the workspace says.

    `grader_configuration` is the configuration that judges, for the decision grader.
    `regrade_baseline` first grades the baseline's answers by the present grader.
    `baseline` is `current`, `previous`, a run id (or unique prefix), or the path of a baseline
    file (a name with `/` or ending in `.json`). `resume` is the id of an incomplete run.
    """

    configuration: str | None = None
    model: str | None = None
    provider: str | None = None
    system: str | None = None
    only: tuple[str, ...] = ()
    grader: str | None = None
    grader_configuration: str | None = None
    trials: int | None = None
    concurrency: int | None = None
    fail_on_regression: bool = False
    max_pass_rate_drop: Limit | None = None
    max_mean_score_drop: Limit | None = None
    min_pass_rate: Limit | None = None
    min_mean_score: Limit | None = None
    require_baseline: bool = False
    baseline: str | None = None
    regrade_baseline: bool = False
    is_draft: bool = False
    resume: str | None = None


_STORED = (
    "configuration",
    "model",
    "provider",
    "system",
    "only",
    "grader",
    "grader_configuration",
    "trials",
    "fail_on_regression",
    "max_pass_rate_drop",
    "max_mean_score_drop",
    "min_pass_rate",
    "min_mean_score",
    "require_baseline",
    "baseline",
    "is_draft",
)


def check_options(options: RunOptions) -> None:
    """Refuse option values that cannot work.

    Raises:
        UsageError: an unknown grader, or a number out of range.
    """
    check_names(options, _NAMES)
    check_grader(options.grader or DETERMINISTIC)
    _check_count("--trials", options.trials, _MAX_TRIALS)
    check_concurrency(options.concurrency)
    if options.regrade_baseline and options.baseline not in (None, "current"):
        raise UsageError(
            "--regrade-baseline is for the current baseline: the answers of another are not there "
            "to be graded again",
            advice="leave out --baseline, or regrade the run it names with `evalcli eval regrade`",
        )
    check_only(options.only)


def check_concurrency(concurrency: int | None) -> None:
    """Refuse a number of requests at once that cannot work.

    Raises:
        UsageError: it is out of range.
    """
    _check_count("--concurrency", concurrency, _MAX_CONCURRENCY)


def _check_count(name: str, value: int | None, most: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UsageError(f"{name} {value} is out of range", advice=f"give 1 to {most}")


def check_names(options: object, names: Iterable[str]) -> None:
    """Refuse what is given as a name and names nothing, such as a variable that was never set.

    Raises:
        UsageError: one is empty, or no text.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise UsageError(
                f"--{name.replace('_', '-')} {value!r} is no name",
                advice="name one, or leave it out",
            )


def check_only(ids: Sequence[str]) -> None:
    """Refuse an id that is chosen twice.

    Raises:
        UsageError: one is.
    """
    if isinstance(ids, str):
        raise UsageError(f"only is the text {ids!r}", advice="give the ids as a tuple")
    repeated = sorted({name for name in ids if ids.count(name) > 1})
    if repeated:
        raise UsageError(f"--only names {', '.join(repeated)} twice", advice="name each id once")


def check_grader(name: str) -> None:
    """Refuse a grader that does not exist, with a pointer where one can be given."""
    if name == "llm_judge":
        raise UsageError(
            'grader "llm_judge" does not exist',
            advice="the decision grader judges with a model: write `--grader decision`",
        )
    if name not in GRADERS:
        raise UsageError(f'unknown grader "{name}"', advice=known_names(GRADERS, name))


def read_limits(options: RunOptions, settings: EvalSettings) -> tuple[GateLimits, GateLimits]:
    """Put together the limits of this run, and those of the workspace alone.

    Raises:
        UsageError: a limit is not a finite number in 0..1.
    """
    workspace = GateLimits(
        max_pass_rate_drop=Fraction(settings.max_pass_rate_drop),
        max_mean_score_drop=Fraction(settings.max_mean_score_drop),
        min_pass_rate=_optional(settings.min_pass_rate),
        min_mean_score=_optional(settings.min_mean_score),
        require_baseline=settings.require_baseline,
    )
    given = {
        name: read_limit(f"--{name.replace('_', '-')}", value)
        for name in (
            "max_pass_rate_drop",
            "max_mean_score_drop",
            "min_pass_rate",
            "min_mean_score",
        )
        if (value := getattr(options, name)) is not None
    }
    return (
        GateLimits(
            max_pass_rate_drop=given.get("max_pass_rate_drop", workspace.max_pass_rate_drop),
            max_mean_score_drop=given.get("max_mean_score_drop", workspace.max_mean_score_drop),
            min_pass_rate=given.get("min_pass_rate", workspace.min_pass_rate),
            min_mean_score=given.get("min_mean_score", workspace.min_mean_score),
            require_baseline=options.require_baseline or workspace.require_baseline,
            fail_on_regression=options.fail_on_regression,
        ),
        workspace,
    )


def read_limit(name: str, value: Limit) -> Fraction:
    """Read one rate or drop exactly.

    Raises:
        UsageError: not a finite number in 0..1.
    """
    number: Fraction | Decimal | int | None
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        number = value
    else:
        number = _read_decimal(str(value))
    if number is None or not 0 <= number <= 1:
        raise UsageError(
            f"{name} {value} is not a limit", advice="give a number from 0 to 1, such as 0.05"
        )
    return Fraction(number)


def _read_decimal(text: str) -> Decimal | None:
    """Read a finite decimal of bounded length; None for anything else.

    `1e-999999999` is a number in 0..1, and as a fraction more digits than memory.
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    return number if isinstance(exponent, int) and exponent >= -_MAX_DECIMALS else None


def stored_options(options: RunOptions, *, keep_texts: bool) -> Mapping[str, object]:
    """Turn what was given into plain JSON values, for a later --resume."""
    return plain_options(options, [name for name in _STORED if keep_texts or name != "system"])


def plain_options(options: object, names: Iterable[str]) -> Mapping[str, object]:
    """Turn what was given of the named options into plain JSON values."""
    kept: dict[str, object] = {}
    for name in names:
        value = getattr(options, name)
        if _is_left_out(value):
            continue
        if isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, Fraction | Decimal | float):
            value = str(value)
        kept[name] = value
    return kept


def resumed_options(given: RunOptions, stored: Mapping[str, object]) -> RunOptions:
    """Fill in what the resumed command does not repeat."""
    return replace(given, **missing_options(given, stored, _STORED))  # type: ignore[arg-type]  # values come from the same fields


def missing_options(
    given: object, stored: Mapping[str, object], names: Collection[str]
) -> dict[str, object]:
    """Take from stored values of `plain_options` those that are not given now."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name in names and _is_left_out(getattr(given, name))
    }


def _is_left_out(value: object) -> bool:
    return value is None or value is False or value == ()  # and not 0, which equals False


def _optional(value: Decimal | None) -> Fraction | None:
    return None if value is None else Fraction(value)
