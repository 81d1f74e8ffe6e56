"""What a person sees of a retrieval run, beyond what all runs show."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from evalcli.records import RunOutcome, Summary, Trial
from evalcli.reports.comparison_words import is_incomplete
from evalcli.reports.number_words import count, duration, money
from evalcli.reports.plain_text import plain_text
from evalcli.reports.rate_table import say_rates
from evalcli.reports.text_layout import Page

_TENTHS_BELOW_MS = 10


def question_heading(outcome: RunOutcome) -> list[str]:
    """Give the parts of the line that says what was asked of what."""
    run = outcome.run
    kind = plain_text(run.treatment.settings.get("type", ""))
    target = plain_text(run.target)
    parts = [plain_text(run.set_identifier), count(len(run.plan), "question")]
    parts.append(f"{target} ({kind})" if kind else target)
    if outcome.documents is not None:
        parts.append(count(outcome.documents, "document"))
    if run.is_draft:
        parts.append("draft")
    if run.is_partial:
        parts.append("only chosen questions")
    if is_incomplete(outcome):
        parts.append(f"INCOMPLETE: {outcome.summary.measured:,} of {len(run.plan):,} measured")
    return parts


def say_figures(page: Page, outcome: RunOutcome) -> None:
    """Add hit rates and the other figures; none where the run has no rates of its own."""
    summary = outcome.retrieval
    facts: list[tuple[str, str]] = []
    if summary is not None and not is_incomplete(outcome):
        say_rates(page, summary)
    facts += _cost_facts(outcome.summary)
    facts += _latency_facts(outcome.trials)
    facts.append(("Run", plain_text(outcome.run.run_id)))
    page.facts(facts)
    page.blank()


def _cost_facts(summary: Summary) -> list[tuple[str, str]]:
    """Give the cost where a provider was asked; most retrievers cost nothing that is known."""
    if summary.cost_usd is not None:
        return [("Cost", money(summary.cost_usd))]
    if summary.known_cost_usd is not None:
        return [("Cost", f"at least {money(summary.known_cost_usd)}, part of it is unknown")]
    return []


def _latency_facts(trials: Iterable[Trial]) -> list[tuple[str, str]]:
    known = [
        trial.ranking.latency_ms
        for trial in trials
        if trial.ranking is not None and trial.ranking.latency_ms is not None
    ]
    return [("Latency", f"{_short_time(median(known))} median")] if known else []


def _short_time(milliseconds: float) -> str:
    """Write a time that may be far below a millisecond."""
    if milliseconds < _TENTHS_BELOW_MS:
        return f"{milliseconds:.1f} ms"
    return duration(milliseconds)


def say_scoring_notes(page: Page, outcome: RunOutcome, *, show_all: bool) -> None:
    """Say what the scoring left out; with `show_all` also what is nothing to wonder at."""
    rankings = [trial.ranking for trial in outcome.trials if trial.ranking is not None]
    surplus = sum(ranking.surplus > 0 for ranking in rankings)
    repeated = sum(ranking.repeated > 0 for ranking in rankings)
    below = sum(ranking.below_min_score > 0 for ranking in rankings)
    if surplus:
        got = f"{count(surplus, 'question')} got more results than the limit that was asked for"
        page.say(f"{got}; what is beyond it was cut.")
    if repeated and show_all:
        got = f"{count(repeated, 'question')} got a document more than once"
        page.say(f"{got}; only its first place counts.")
    if below and show_all:
        floor = plain_text(outcome.run.treatment.settings.get("min_score", ""))
        got = f"{count(below, 'question')} got results below the min_score {floor}".rstrip()
        page.say(f"{got}; they do not count.")
