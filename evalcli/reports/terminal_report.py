"""What a person sees of a run: what ran, what stands out, numbers, comparison, verdict, next."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from evalcli.declarations.resolution import LOCAL_MODEL
from evalcli.declarations.retriever import BUILTIN_RETRIEVER
from evalcli.records import Run, RunOutcome, Summary
from evalcli.reports.comparison_words import is_incomplete, say_comparison
from evalcli.reports.kind_words import has_questions
from evalcli.reports.number_words import count, money, names, percent, score
from evalcli.reports.plain_text import plain_text
from evalcli.reports.prompt_rows import say_rows, say_unmeasured
from evalcli.reports.question_rows import say_questions
from evalcli.reports.retrieval_report import (
    question_heading,
    say_figures,
    say_scoring_notes,
)
from evalcli.reports.text_layout import Page, Report

_MAX_NAMED = 10


def render_run(outcome: RunOutcome, *, verbose: bool = False, told: Collection[str] = ()) -> Report:
    """Render a run that has just ended; `verbose` lists every prompt of a large one too.

    `told` holds notes that were told before its first answer, and need not be told again.
    """
    return Report(partial(_write_run, outcome, verbose, told))


def _write_run(outcome: RunOutcome, verbose: bool, told: Collection[str], page: Page) -> None:
    say_heading(page, outcome)
    say_results(page, outcome, show_all=verbose)
    say_unmeasured(page, outcome)
    say_left_out(page, outcome.run)
    say_numbers(page, outcome)
    say_comparison_and_notes(page, outcome, show_all=verbose, told=told)
    if has_questions(outcome.run) and outcome.run.target == BUILTIN_RETRIEVER:
        page.say(
            f"{BUILTIN_RETRIEVER} searches evalcli's own manual, for trying retrieval out; declare "
            "your retrievers in evalcli.yaml."
        )
    treatment = outcome.run.treatment
    if treatment.is_on_this_machine and treatment.model == LOCAL_MODEL:
        page.say(
            f"{LOCAL_MODEL} is a small model for trying evalcli out; point a configuration at "
            "your own with `evalcli init`."
        )


# --- the parts, which stored runs have too ----------------------------------------------------


def say_heading(page: Page, outcome: RunOutcome) -> None:
    """Add the line that says what ran, and how much of it stands out."""
    run, summary = outcome.run, outcome.summary
    if has_questions(run):
        page.heading(question_heading(outcome))
        page.blank()
        return
    parts = [plain_text(run.set_identifier), count(len(run.plan), "prompt")]
    if run.trials > 1:
        parts.append(f"{run.trials} trials each")
    parts += [target_words(run), plain_text(run.grader)]
    if run.regraded_from:
        parts.append(f"answers of {plain_text(run.regraded_from)}, graded again")
    if run.is_draft:
        parts.append("draft")
    if run.is_partial:
        parts.append("only chosen prompts")
    if is_incomplete(outcome):
        parts.append(f"INCOMPLETE: {summary.measured:,} of {len(run.plan):,} measured")
    else:
        parts.append(_standing_out(summary))
    page.heading([part for part in parts if part])
    page.blank()


def say_results(page: Page, outcome: RunOutcome, *, show_all: bool = False) -> None:
    """Add the table of prompts or questions; all of them with `show_all`."""
    if has_questions(outcome.run):
        say_questions(page, outcome, show_all=show_all)
    else:
        say_rows(page, outcome, show_all=show_all)


def say_comparison_and_notes(
    page: Page, outcome: RunOutcome, *, show_all: bool, told: Collection[str] = ()
) -> None:
    """Add the comparison, and what a person should know of a run beyond its numbers.

    A note on a run of prompts says what its baseline was made of, and so goes before; notes on
    questions are about the retriever and the scoring.
    """
    notes = [plain_text(note) for note in outcome.notes if note not in told]
    if has_questions(outcome.run):
        say_comparison(page, outcome)
        for note in notes:
            page.say(note)
        say_scoring_notes(page, outcome, show_all=show_all)
        return
    for note in notes:
        page.say(note)
    say_comparison(page, outcome)


def target_words(run: Run) -> str:
    """Name what was asked: `support-bot (gpt-6-luna)`, and that it runs on this machine."""
    target, model = plain_text(run.target), plain_text(run.treatment.model or "")
    is_local = run.treatment.is_on_this_machine
    facts = [model] if model and model not in target else []
    if is_local:
        facts.append("on this machine")
    name = f"configuration {target}" if is_local and run.configuration == run.target else target
    return f"{name} ({', '.join(facts)})" if facts else name


def _standing_out(summary: Summary) -> str:
    failing = len(summary.prompts) - summary.passed
    counts = (
        (failing, "fails" if failing == 1 else "fail"),
        (summary.refused, "refused"),
        (summary.cut_off, "cut off"),
    )
    return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def say_left_out(page: Page, run: Run) -> None:
    """Add the prompts that the set skips, and those that this grader cannot grade."""
    for prompt_id, reason in run.skipped.items():
        page.say(f"skipped {plain_text(prompt_id)}: {plain_text(reason)}", indent=2, hang=2)
    if run.ungraded:
        ids = names([plain_text(i) for i in run.ungraded], limit=_MAX_NAMED)
        one = len(run.ungraded) == 1
        page.say(
            f"{count(len(run.ungraded), 'prompt')} {'has' if one else 'have'} only a reference: "
            f"{'it needs' if one else 'they need'} `--grader decision` ({ids})",
            indent=2,
            hang=2,
        )
    page.blank()


def say_numbers(page: Page, outcome: RunOutcome) -> None:
    """Add pass rate, mean score, cost and run id; no rate where the run has none."""
    run, summary = outcome.run, outcome.summary
    if has_questions(run):
        say_figures(page, outcome)
        return
    facts = []
    if summary.pass_rate is not None and not is_incomplete(outcome):
        how_many = f"{summary.passed:,} of {len(summary.prompts):,}"
        if run.trials > 1:
            how_many = f"{how_many} passed every trial"
        facts.append(("Pass rate", f"{percent(summary.pass_rate)}  {how_many}"))
    if summary.mean_score is not None and not is_incomplete(outcome):
        facts.append(("Mean score", score(summary.mean_score)))
    if summary.measured or summary.known_cost_usd is not None:
        facts.append(("Cost", cost_words(run, summary)))
    facts.append(("Run", plain_text(run.run_id)))
    page.facts(facts)
    page.blank()


def cost_words(run: Run, summary: Summary) -> str:
    """Write what a run cost: known, known in part, unknown, or none."""
    if not summary.known_cost_usd:
        if run.treatment.is_on_this_machine:
            return "none (local)"
        if run.treatment.is_recorded:
            return "none (recorded)"
    if summary.cost_usd is not None:
        return money(summary.cost_usd)
    if summary.known_cost_usd is not None:
        return f"at least {money(summary.known_cost_usd)}, part of it is unknown"
    return "unknown"
