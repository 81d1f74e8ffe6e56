"""A comparison and its verdict in words: what was compared, what it says, what to do next.

A run that was not compared never gets a sentence that sounds like a comparison.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from evalcli.records import (
    Baseline,
    BaselineMove,
    Comparison,
    ComparisonState,
    GateFinding,
    GitState,
    Run,
    RunOutcome,
    RunStatus,
    UnmeasuredCause,
    VerdictWord,
)
from evalcli.reports.kind_words import has_questions, words_of
from evalcli.reports.number_words import count, day, names
from evalcli.reports.plain_text import plain_text
from evalcli.reports.question_changes import say_lost_and_won
from evalcli.reports.text_layout import Page

_SHORT_COMMIT = 7
_MAX_NAMED = 20

_FINDING_LEADS = {
    "max_": "REGRESSION",
    "min_": "BELOW THE FLOOR",
    "require_baseline": "NO BASELINE",
}
"""How a gate begins, and the word its finding opens with."""

_NOT_RETRIED = (400, 401, 402, 403, 404, 413, 422)
"""HTTP statuses that waiting does not cure."""

_RED = "bold red"
_YELLOW = "bold yellow"
_GREEN = "bold green"


def say_comparison(page: Page, outcome: RunOutcome) -> None:
    """Add the comparison, the verdict in one sentence, and the next command."""
    run, comparison = outcome.run, outcome.comparison
    if is_incomplete(outcome):
        _say_incomplete(page, outcome)
        return
    if is_compared(comparison):
        _say_compared(page, outcome)
    elif comparison.state in (ComparisonState.BASELINE, ComparisonState.PARTIAL) and (
        not comparison.has_baseline
    ):
        _say_first(page, outcome)
    else:
        _say_not_compared(page, outcome)
    if outcome.verdict.word is VerdictWord.PASSED:
        _say_passed(page, comparison, run)
    _say_findings(page, outcome.verdict.findings)
    if comparison.has_baseline and outcome.baseline_note:
        page.say(plain_text(outcome.baseline_note))
    _say_next(page, outcome)


def is_incomplete(outcome: RunOutcome) -> bool:
    """Whether a part of the run is not measured, so that it has no rates of its own."""
    return (
        outcome.comparison.state is ComparisonState.NOT_COMPARED
        or outcome.run.status is not RunStatus.COMPLETE
    )


def is_compared(comparison: Comparison) -> bool:
    """Whether the drops of a comparison decide."""
    return bool(comparison.common) and comparison.state in (
        ComparisonState.COMPARABLE,
        ComparisonState.PARTIAL,
    )


# --- without a comparison ---------------------------------------------------------------------


def _say_incomplete(page: Page, outcome: RunOutcome) -> None:
    run, summary = outcome.run, outcome.summary
    run_id = plain_text(run.run_id)
    page.say(
        "Nothing was compared, and no baseline changed. "
        f"What was measured is kept in run {run_id}.",
        style="bold",
    )
    missing = len(summary.prompts) - summary.measured
    command = f"`{plain_text(run.resume_command)}`"
    if run.regraded_from is not None:
        source = plain_text(run.regraded_from)
        page.say(f"{_when_to_resume(outcome)}: {command} grades the answers of run {source} again.")
        return
    what = f"the missing {missing:,}" if missing > 1 else "the missing one"
    page.say(f"{_when_to_resume(outcome)}: {command} asks only {what}.")


def _when_to_resume(outcome: RunOutcome) -> str:
    errors = [trial.error for trial in outcome.trials if trial.error is not None]
    if outcome.run.is_interrupted:
        return "It was interrupted. To go on"
    if any(error.cause is not UnmeasuredCause.PROVIDER for error in errors):
        return "To ask again"
    if any(error.status in _NOT_RETRIED for error in errors):
        return "Once that is put right"
    who = "retriever" if has_questions(outcome.run) else "provider"
    return f"When the {who} is back"


def _say_first(page: Page, outcome: RunOutcome) -> None:
    run, comparison = outcome.run, outcome.comparison
    lead = (
        "NOTHING WAS COMPARED: " if run.limits.fail_on_regression else "Nothing to compare with: "
    )
    what = plain_text(outcome.baseline_note)
    if outcome.baseline_move is BaselineMove.SET:
        what = "This run is now the baseline."
    by = ", graded by decision," if run.grader_kind == "decision" else ""
    where = f"{plain_text(run.set_identifier)} had no baseline on {plain_text(run.target)}{by} yet."
    page.say(f"{where} {what}".rstrip(), lead=lead, style=_YELLOW)
    if comparison.other_targets:
        others = _plain_names(comparison.other_targets, _MAX_NAMED)
        page.say(f"This set has runs on other targets ({others}); each is compared with its own.")


def _say_not_compared(page: Page, outcome: RunOutcome) -> None:
    comparison = outcome.comparison
    reason = plain_text(comparison.reason) or "the two runs were not measured in the same way"
    page.say(f"{reason}.", lead="NOT COMPARED: ", style=_YELLOW)
    if comparison.common and comparison.pass_rate_before is not None:
        common = count(len(comparison.common), words_of(outcome.run.kind).noun)
        page.say(
            f"For information, over the {common} that both have unchanged: "
            f"{_rates(comparison, outcome.run)}."
        )
    _say_details(page, comparison, outcome.run)


# --- with a comparison ------------------------------------------------------------------------


def _say_compared(page: Page, outcome: RunOutcome) -> None:
    comparison = outcome.comparison
    page.say(f"{baseline_words(outcome)}: {_rates(comparison, outcome.run)}")
    if comparison.state is ComparisonState.PARTIAL:
        noun = words_of(outcome.run.kind).noun
        reason = plain_text(comparison.reason) or f"only chosen {noun}s were asked"
        page.label("partial", reason, style="yellow")
    _say_details(page, comparison, outcome.run)


def baseline_words(outcome: RunOutcome) -> str:
    """Name what a run was compared with: `Against the baseline 5be0 (12 Nov, main@a41f3c2)`."""
    run, baseline = outcome.run, outcome.baseline
    if baseline is None:
        return "Against the baseline"
    facts = baseline_facts(baseline, run)
    run_id = plain_text(baseline.run_id)
    if run.has_baseline_file:
        return (
            f"Against the baseline file {plain_text(run.baseline_source)} (run {run_id}, {facts})"
        )
    if run.baseline_source == "current":
        return f"Against the baseline {run_id} ({facts})"
    if run.baseline_source == "previous":
        return f"Against the previous run {run_id} ({facts})"
    return f"Against run {run_id} ({facts})"


def baseline_facts(baseline: Baseline, run: Run) -> str:
    """Say when and on which commit a baseline was made: `12 Nov, main@a41f3c2`."""
    at = day(baseline.set_at, now=run.started_at)
    commit = commit_words(baseline.git)
    return f"{at}, {commit}" if commit else at


def commit_words(git: GitState) -> str:
    """Name a commit: `main@a41f3c2`, with a word where the tree was dirty; empty without one."""
    if git.commit is None:
        return ""
    branch = f"{plain_text(git.branch)}@" if git.branch else ""
    dirty = " with uncommitted changes" if git.is_dirty else ""
    return f"{branch}{plain_text(git.commit[:_SHORT_COMMIT])}{dirty}"


def _rates(comparison: Comparison, run: Run) -> str:
    first, second = words_of(run.kind).rates
    parts = []
    for rate, before, after in (
        (first, comparison.pass_rate_before, comparison.pass_rate_after),
        (second, comparison.mean_score_before, comparison.mean_score_after),
    ):
        if before is not None and after is not None:
            parts.append(f"{rate.name} {rate.values(before, after)}")
    return ", ".join(parts)


def say_comparison_facts(page: Page, comparison: Comparison, run: Run) -> None:
    """Add what a comparison found, without a verdict."""
    if comparison.reason:
        page.say(f"{plain_text(comparison.reason)}.", indent=2, hang=2)
    if comparison.common:
        over = count(len(comparison.common), f"unchanged {words_of(run.kind).noun}")
        page.label("rates", f"{_rates(comparison, run)} (over {over})")
    _say_details(page, comparison, run)


def _say_details(page: Page, comparison: Comparison, run: Run) -> None:
    limit = None if page.width is None else _MAX_NAMED
    if has_questions(run):
        say_lost_and_won(page, comparison, limit)
    for name, prompt_ids, style in (
        ("newly failing", () if has_questions(run) else comparison.newly_failing, "red"),
        ("newly passing", () if has_questions(run) else comparison.newly_passing, "green"),
        ("added", comparison.added, ""),
    ):
        if prompt_ids:
            page.label(name, _plain_names(prompt_ids, limit), style=style)
    if comparison.baseline_target is not None and comparison.baseline_target != run.target:
        target = plain_text(comparison.baseline_target)
        page.label("target", f"{target} → {plain_text(run.target)}", style="yellow")
    if comparison.treatment_changes:
        changes = "; ".join(plain_text(change) for change in comparison.treatment_changes)
        page.label("treatment", changes, style="yellow")


def _plain_names(items: tuple[str, ...], limit: int | None = None) -> str:
    return names([plain_text(item) for item in items], limit=limit)


def _say_passed(page: Page, comparison: Comparison, run: Run) -> None:
    """Say why the gate is content: nothing fell, or less than the limit."""
    falls = []
    first, second = words_of(run.kind).rates
    for rate, drop, limit in (
        (first, comparison.pass_rate_drop, run.limits.max_pass_rate_drop),
        (second, comparison.mean_score_drop, run.limits.max_mean_score_drop),
    ):
        if drop is not None and drop > 0:
            fell, tolerated = rate.drop(drop, limit)
            falls.append(f"the {rate.name} fell by {fell}{rate.unit} (limit {tolerated})")
    text = " and ".join(falls) or "neither rate fell"
    still = _still_worse(comparison, run)
    page.say(f"{text}{still}.", lead="PASSED: ", style=_GREEN)


def _still_worse(comparison: Comparison, run: Run) -> str:
    """Name what a contented gate does not look at, or tolerates."""
    if has_questions(run):
        lost = sum(change.is_lost for change in comparison.rank_changes)
        return f". Still, {count(lost, 'question')} {'was' if lost == 1 else 'were'} lost" * (
            lost > 0
        )
    failing = comparison.newly_failing
    if not failing:
        return ""
    verb = "fails" if len(failing) == 1 else "fail"
    return f". Still, {count(len(failing), 'prompt')} {verb} more often than before"


# --- the verdict ------------------------------------------------------------------------------


def _say_findings(page: Page, findings: Sequence[GateFinding]) -> None:
    """Add one sentence for each gate that said no."""
    for finding in findings:
        lead = next(
            (s for gate, s in _FINDING_LEADS.items() if finding.gate.startswith(gate)), None
        )
        if lead is not None:
            page.say(f"{plain_text(finding.message)}.", lead=f"{lead}: ", style=_RED)
        elif finding.is_armed:
            page.say(
                "--fail-on-regression asks for a comparison, and there was none.",
                lead="THE GATE SAYS NO: ",
                style=_RED,
            )
    if any(not finding.is_armed for finding in findings):
        what = "The regression" if any(map(_is_drop, findings)) else "This"
        page.say(f"{what} is only reported: --fail-on-regression was not given.")


def _is_drop(finding: GateFinding) -> bool:
    return finding.gate.startswith("max_")


# --- what to do next --------------------------------------------------------------------------


def _say_next(page: Page, outcome: RunOutcome) -> None:
    run, comparison = outcome.run, outcome.comparison
    gates = {finding.gate for finding in outcome.verdict.findings}
    has_fallen = any(_is_drop(finding) for finding in outcome.verdict.findings)
    has_lost = comparison.newly_failing or any(c.is_lost for c in comparison.rank_changes)
    if has_fallen or (has_lost and is_compared(comparison)):
        page.say(_where_to_look(outcome))
    elif any(gate.startswith("min_") for gate in gates):
        page.say(f"See the {_results(run)}: `evalcli history show {plain_text(run.run_id)}`.")
    if run.is_partial:
        return
    if has_fallen:
        page.say(f"If the drop is intended: {_accept_words(outcome)}")
    elif comparison.state is ComparisonState.MISMATCH:
        if comparison.is_grading_only and run.baseline_source == "current":
            page.say(
                f"Only the grading changed: `{_regrade_command(run)}` grades the baseline's "
                "answers again first."
            )
        page.say(f"Review the change, then: {_accept_words(outcome)}")
    elif comparison.state is ComparisonState.MIXED:
        page.say("Run it again when one model serves all of it and one judge grades it.")
    elif comparison.state is ComparisonState.UNKNOWN:
        return  # As a baseline it would be as unknown to every later run.
    elif not comparison.has_baseline and outcome.baseline_move is BaselineMove.NONE:
        page.say(f"To make it the baseline on purpose: {_accept_words(outcome)}")


def _where_to_look(outcome: RunOutcome) -> str:
    run, baseline = outcome.run, outcome.baseline
    run_id = plain_text(run.run_id)
    if baseline is None or run.has_baseline_file:
        # The baseline's own answers are in another history.
        return f"See the {_results(run)}: `evalcli history show {run_id}`."
    command = f"`evalcli history compare {plain_text(baseline.run_id)} {run_id}`"
    return f"See both {_results(run)} side by side: {command}."


def _results(run: Run) -> str:
    return "rankings" if has_questions(run) else "answers"


def _accept_words(outcome: RunOutcome) -> str:
    """Name the command; and the export where the baseline is a file, which stays as it is."""
    accept = f"`evalcli baseline accept {plain_text(outcome.run.run_id)}`"
    if not outcome.run.has_baseline_file:
        return f"{accept}."
    return f"{accept}, and for the file `{export_command(outcome.run)}`."


def _regrade_command(run: Run) -> str:
    """Write the command that grades the baseline's answers again before it compares."""
    grader = "" if run.grader_kind == "deterministic" else f" --grader {run.grader_kind}"
    return f"evalcli eval run {plain_text(run.set_identifier)}{grader} --regrade-baseline"


def export_command(run: Run) -> str:
    """Write the command that puts the baseline of a run's series into its file."""
    target = ""
    if run.target == run.configuration or has_questions(run):
        target = f" --configuration {shlex.quote(plain_text(run.target))}"
    file = shlex.quote(plain_text(run.baseline_source))
    return f"evalcli baseline export {plain_text(run.set_identifier)}{target} > {file}"
