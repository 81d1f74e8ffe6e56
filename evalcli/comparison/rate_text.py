"""What the rates of a run, their drops and their limits are called in a finding. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalcli.number_text import format_points, format_rates, format_scores

_SHOWN_NAMES = 20


def format_names(names: Sequence[str]) -> str:
    """List names, at most twenty of them and then how many more there are."""
    shown = ", ".join(names[:_SHOWN_NAMES])
    hidden = len(names) - _SHOWN_NAMES
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def format_count(count: int, noun: str) -> str:
    """Write a count with its noun: `1 prompt`, `2 prompts`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@dataclass(frozen=True, slots=True)
class RateWords:
    """How one of the two rates of a run is called and shown, and how its limits are called.

    `short_name` is for tables. The gates are the names of its limits: as options with hyphens, as
    settings of the workspace below `eval`.
    """

    name: str
    short_name: str
    drop_gate: str
    floor_gate: str
    is_score: bool = False

    def format_values(self, *values: Fraction) -> tuple[str, ...]:
        """Write values of the rate."""
        return (format_scores if self.is_score else format_rates)(*values)

    def describe_drop(self, drop: Fraction, limit: Fraction, *, is_setting: bool) -> str:
        """Say that the rate fell by more than its limit, and where the limit stands."""
        unit = "" if self.is_score else " points"
        shown, shown_limit = (format_scores if self.is_score else format_points)(drop, limit)
        key = limit_key(self.drop_gate, is_setting=is_setting)
        return f"the {self.name} fell by {shown}{unit}, the limit is {shown_limit} ({key})"

    def describe_floor(
        self, rate: Fraction, floor: Fraction, *, scope: str = "", is_setting: bool
    ) -> str:
        """Say that the rate is below its floor; `scope` says over which prompts, if not all."""
        shown, shown_floor = self.format_values(rate, floor)
        key = limit_key(self.floor_gate, is_setting=is_setting)
        return f"the {self.name}{scope} is {shown}, the floor is {shown_floor} ({key})"


def limit_key(gate: str, *, is_setting: bool) -> str:
    """Write a limit as a person set it: `eval.max_pass_rate_drop`, `--max-pass-rate-drop`."""
    return f"eval.{gate}" if is_setting else f"--{gate.replace('_', '-')}"


_PROMPT_RATES = (
    RateWords("pass rate", "pass rate", "max_pass_rate_drop", "min_pass_rate"),
    RateWords("mean score", "mean score", "max_mean_score_drop", "min_mean_score", is_score=True),
)
_QUESTION_RATES = (
    RateWords("top-1 hit rate", "top-1", "max_top1_drop", "min_top1_rate"),
    RateWords("top-3 hit rate", "top-3", "max_top3_drop", "min_top3_rate"),
)


def rate_words(kind: str) -> tuple[RateWords, RateWords]:
    """Choose the words for the two rates that a run of this kind stores.

    They stand for pass rate and mean score, which for `questions` are hit rates.
    """
    return _QUESTION_RATES if kind == "questions" else _PROMPT_RATES
