"""What became of a batch of decisions, for a terminal and for programs."""

from __future__ import annotations

from functools import partial

from evalcli.records import BatchOutcome
from evalcli.reports.number_words import count, money
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page, Report

SCHEMA_VERSION = 1
"""Raised when a field is taken away or comes to mean something else."""


def render_batch(outcome: BatchOutcome) -> Report:
    """Render how many lines were decided, what failed, and what it took."""
    return Report(partial(_write, outcome))


def _write(outcome: BatchOutcome, page: Page) -> None:
    available = outcome.available
    profile = available.profile
    page.heading(
        [
            f"{plain_text(profile.identifier)} v{profile.version}",
            f"{plain_text(available.configuration)} ({plain_text(available.model)}, "
            f"{plain_text(available.provider)})",
            f"{count(outcome.lines, 'line')} in {plain_text(outcome.output)}",
        ]
    )
    page.blank()
    if outcome.resumed_after:
        page.label("there before", f"{outcome.resumed_after:,}")
    failures = sum(outcome.failed.values())
    page.label("decided", f"{outcome.lines - failures:,}")
    if failures:
        codes = ", ".join(f"{plain_text(code)} {n:,}" for code, n in outcome.failed.items())
        first = (
            "" if outcome.first_failed is None else f", the first is line {outcome.first_failed:,}"
        )
        page.label("failed", f"{failures:,} ({codes}){first}", style="bold red")
    for one in outcome.requirements:
        text = plain_text(one.requirement)
        if one.first_unmet is None:
            page.label("met", text)
        else:
            where = f"{count(one.unmet, 'line')}, the first is line {one.first_unmet:,}"
            page.label("NOT MET", f"{text}: {where}", style="bold red")
    known = [n for n in (outcome.input_tokens, outcome.output_tokens) if n is not None]
    # What a failed line took is not in its output, and so in no sum of a batch that goes on.
    of = " for those decided" if failures else ""
    page.label("tokens", f"{sum(known):,}{of}" if known else "unknown")
    page.label("cost", "unknown" if outcome.cost_usd is None else f"{money(outcome.cost_usd)}{of}")


def batch_document(outcome: BatchOutcome) -> dict[str, object]:
    """Describe a batch; its lines stand in its output.

    Source: docs/schemas/decision_report.schema.json.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "batch": {
            "output": outcome.output,
            "lines": outcome.lines,
            "resumed_after": outcome.resumed_after,
            "failed": dict(outcome.failed),
            "first_failed": outcome.first_failed,
            "below_requirement": outcome.below_requirement,
            "requirements": [
                {
                    "requirement": one.requirement,
                    "unmet": one.unmet,
                    "first_unmet": one.first_unmet,
                }
                for one in outcome.requirements
            ],
            "input_tokens": outcome.input_tokens,
            "output_tokens": outcome.output_tokens,
            "cost_usd": None if outcome.cost_usd is None else f"{outcome.cost_usd:f}",
        },
        "exit_status": int(outcome.exit_status),
    }
