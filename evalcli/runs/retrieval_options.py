"""What a run of questions can be told, checked before anything is asked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction

from evalcli.declarations.workspace import EvalSettings
from evalcli.records import GateLimits
from evalcli.runs.options import (
    Limit,
    check_concurrency,
    check_names,
    check_only,
    missing_options,
    plain_options,
    read_limit,
)


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """Options of `run_retrieval`; None means: as the workspace says.

    `cutoffs` are those of the hit rates, without order, empty for 1, 3, 5 and 10. `baseline` and
    `resume` are as in `RunOptions`.
    """

    cutoffs: tuple[int, ...] = ()
    only: tuple[str, ...] = ()
    concurrency: int | None = None
    fail_on_regression: bool = False
    max_top1_drop: Limit | None = None
    max_top3_drop: Limit | None = None
    max_class_drop: Limit | None = None
    min_top1_rate: Limit | None = None
    min_top3_rate: Limit | None = None
    require_baseline: bool = False
    baseline: str | None = None
    is_draft: bool = False
    resume: str | None = None


_NOT_STORED = ("concurrency", "resume")
_STORED = tuple(f.name for f in fields(RetrievalOptions) if f.name not in _NOT_STORED)


def check_retrieval_options(options: RetrievalOptions) -> None:
    """Refuse option values that cannot work.

    Raises:
        UsageError: a number is out of range, or a question is named twice.
    """
    check_names(options, ("baseline", "resume"))
    check_concurrency(options.concurrency)
    check_only(options.only)


def read_retrieval_limits(
    options: RetrievalOptions, settings: EvalSettings
) -> tuple[GateLimits, GateLimits]:
    """Put together the limits of this run, and those of the workspace alone.

    Raises:
        UsageError: a limit is not a finite number in 0..1.
    """
    workspace = GateLimits(
        max_pass_rate_drop=Fraction(settings.max_top1_drop),
        max_mean_score_drop=Fraction(settings.max_top3_drop),
        min_pass_rate=_exact(settings.min_top1_rate),
        min_mean_score=_exact(settings.min_top3_rate),
        max_class_drop=_exact(settings.max_class_drop),
        require_baseline=settings.require_baseline,
    )
    given = {
        field: read_limit(f"--{name.replace('_', '-')}", value)
        for field, name in _LIMITS.items()
        if (value := getattr(options, name)) is not None
    }
    limits = replace(
        workspace,
        **given,
        require_baseline=options.require_baseline or workspace.require_baseline,
        fail_on_regression=options.fail_on_regression,
    )
    return limits, workspace


_LIMITS = {
    "max_pass_rate_drop": "max_top1_drop",
    "max_mean_score_drop": "max_top3_drop",
    "min_pass_rate": "min_top1_rate",
    "min_mean_score": "min_top3_rate",
    "max_class_drop": "max_class_drop",
}
"""Limit of a run to the option that sets it."""


def stored_retrieval_options(options: RetrievalOptions) -> Mapping[str, object]:
    """Turn what was given into plain JSON values, for a later --resume."""
    return plain_options(options, _STORED)


def resumed_retrieval_options(
    given: RetrievalOptions, stored: Mapping[str, object]
) -> RetrievalOptions:
    """Fill in what the resumed command does not repeat."""
    return replace(given, **missing_options(given, stored, _STORED))  # type: ignore[arg-type]  # values come from the same fields


def _exact(value: Decimal | None) -> Fraction | None:
    return None if value is None else Fraction(value)
