"""The table of a run: one row a prompt, and what was not measured, grouped by cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import (
    Answer,
    PromptSummary,
    RunOutcome,
    Trial,
    TrialState,
    UnmeasuredCause,
)
from evalcli.reports.kind_words import words_of
from evalcli.reports.number_words import count, duration, money, names, score, second
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page, cut_to_width, pad_to_width, wrap_text

SMALL_RUN = 20
"""Runs of up to this many prompts are listed whole, larger ones by what stands out."""

MAX_STANDING_OUT = 50
"""A larger run lists at most this many rows, and says how many more there are."""

_MAX_PADDED_ID = 64
_MIN_REASON_WIDTH = 24
_QUOTE_LIMIT = 60
_MAX_NAMED = 10
_GAP = "   "


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One measured prompt as it is shown.

    `rank` sorts what stands out: newly failing, failing, refused or cut off, then the rest.
    """

    prompt_id: str
    result: str
    score: str
    latency: str
    tokens: str
    cost: str
    reason: str
    rank: int

    @property
    def stands_out(self) -> bool:
        """Whether the row is shown in a large run."""
        return self.rank < _ORDINARY

    @property
    def has_failed(self) -> bool:
        """Whether a trial of the prompt did not pass."""
        return self.rank <= _FAILING


_NEWLY_FAILING, _FAILING, _NOTABLE, _ORDINARY = range(4)


def trials_by_prompt(trials: Iterable[Trial]) -> Mapping[str, Sequence[Trial]]:
    """Sort trials to their prompts, in order of their number."""
    found: dict[str, list[Trial]] = defaultdict(list)
    for trial in sorted(trials, key=lambda trial: trial.trial):
        found[trial.prompt_id].append(trial)
    return found


def prompt_rows(outcome: RunOutcome) -> list[PromptRow]:
    """Make the rows of all measured prompts, in the set's order."""
    trials = trials_by_prompt(outcome.trials)
    newly_failing = frozenset(outcome.comparison.newly_failing)
    return [
        _prompt_row(
            prompt, trials[prompt.prompt_id], is_newly_failing=prompt.prompt_id in newly_failing
        )
        for prompt in outcome.summary.prompts
        if prompt.pass_share is not None and prompt.score is not None
    ]


def _prompt_row(
    prompt: PromptSummary, trials: Sequence[Trial], *, is_newly_failing: bool
) -> PromptRow:
    calls = [trial.call for trial in trials if trial.call is not None]
    latencies = [call.latency_ms for call in calls if call.latency_ms is not None]
    tokens = [trial_tokens(trial) for trial in trials]
    known_tokens = [number for number in tokens if number is not None]
    costs = [call.cost_usd for call in calls]
    known_costs = [cost for cost in costs if cost is not None]
    is_passed = prompt.pass_share == 1
    if not is_passed:
        rank = _NEWLY_FAILING if is_newly_failing else _FAILING
    else:
        is_notable = any(trial.is_refused or trial.is_cut_off for trial in trials)
        rank = _NOTABLE if is_notable else _ORDINARY
    if prompt.trials > 1:
        result = f"{prompt.passed} of {prompt.trials} trials"
    else:
        result = "pass" if is_passed else "FAIL"
    return PromptRow(
        prompt_id=plain_text(prompt.prompt_id),
        result=result,
        score=score(prompt.score or Fraction(0), digits=2),
        latency=duration(sum(latencies) / len(latencies)) if latencies else "–",
        tokens=f"{sum(known_tokens):,} tok" if len(known_tokens) == len(trials) else "– tok",
        cost=money(sum(known_costs, Decimal(0))) if len(known_costs) == len(trials) else "–",
        reason=_row_reason(trials),
        rank=rank,
    )


def trial_tokens(trial: Trial) -> int | None:
    """Add up the tokens of one answer; None where one of the two numbers is not known."""
    usage = trial.call.usage if trial.call is not None else None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _row_reason(trials: Sequence[Trial]) -> str:
    """Say what there is to say of a prompt: its first failed trial, else what is notable."""
    failed = [t for t in trials if t.grade is not None and not t.grade.passed]
    for trial in failed or [t for t in trials if t.is_refused or t.is_cut_off] or trials[:1]:
        reason = trial_reason(trial)
        if reason and len(trials) > 1:
            return f"trial {trial.trial + 1}: {reason}"
        return reason
    return ""


def trial_reason(trial: Trial) -> str:
    """Say in one line what stands out about one trial; empty where nothing does."""
    reason = plain_text(trial.grade.reason) if trial.grade is not None else ""
    if trial.error is not None:
        reason = plain_text(trial.error.message)
    marks = []
    if trial.is_refused:
        quote = _refusal_quote(trial.answer)
        marks.append(f'refused: "{quote}"' if quote else "refused")
        # Which assertions a refusal misses says less than its own words.
        reason = ""
    if trial.is_cut_off:
        marks.append("cut off")
    if trial.call is not None and trial.call.is_fallback:
        marks.append(f"served by the fallback {plain_text(trial.call.provider)}")
    if trial.call is not None and trial.call.is_cached:
        marks.append("from the cache")
    if reason:
        marks.append(reason)
    return "; ".join(marks)


def _refusal_quote(answer: Answer | None) -> str:
    text = (answer.refusal or answer.text or "") if answer is not None else ""
    return plain_text(" ".join(text[: 4 * _QUOTE_LIMIT].split()), limit=_QUOTE_LIMIT)


# --- the table --------------------------------------------------------------------------------


def say_rows(page: Page, outcome: RunOutcome, *, show_all: bool = False) -> None:
    """Add the table: all prompts of a small run, else what stands out and the count of the rest."""
    rows = prompt_rows(outcome)
    if not rows:
        return
    is_whole = show_all or len(outcome.run.plan) <= SMALL_RUN
    shown = rows if is_whole else sorted((r for r in rows if r.stands_out), key=lambda r: r.rank)
    if not is_whole:
        shown = shown[:MAX_STANDING_OUT]
    _say_table(page, shown, has_costs=_has_costs(outcome))
    if not is_whole:
        _say_rest(page, rows, shown, outcome.run.run_id)
    page.blank()


def _has_costs(outcome: RunOutcome) -> bool:
    """Whether a column of costs says anything: not for unknown ones, nor on this machine."""
    is_local = outcome.run.treatment.is_on_this_machine
    return outcome.summary.known_cost_usd is not None and not is_local


def _say_rest(
    page: Page, rows: Sequence[PromptRow], shown: Sequence[PromptRow], run_id: str
) -> None:
    hidden = len(rows) - len(shown)
    if not hidden:
        return
    shown_failing = sum(row.has_failed for row in shown)
    more_failing = sum(row.has_failed for row in rows) - shown_failing
    parts = []
    if more_failing:
        parts.append(f"{more_failing:,} more fail")
    if hidden > more_failing:
        parts.append(f"{hidden - more_failing:,} pass")
    where = f"`evalcli history show {plain_text(run_id)}`"
    page.say(f"… {', '.join(parts)} (all: {where})", indent=2, hang=2)


def _say_table(page: Page, rows: Sequence[PromptRow], *, has_costs: bool) -> None:
    if not rows:
        return
    id_width = _id_width([row.prompt_id for row in rows], page.width)
    cells = [
        [row.score, row.latency, row.tokens, *([row.cost] if has_costs else [])] for row in rows
    ]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*cells, strict=True)]
    result_width = max(cell_len(row.result) for row in rows)
    if page.width is not None:
        taken = 2 + id_width + len(_GAP) + result_width
        widths = widths[: _columns_that_fit(widths, page.width - taken)]
    for row, numbers in zip(rows, cells, strict=True):
        prompt_id = row.prompt_id
        if page.width is not None:
            prompt_id = cut_to_width(prompt_id, id_width)
        line = Text(f"  {pad_to_width(prompt_id, id_width)}{_GAP}")
        style = "bold red" if row.has_failed else "yellow" if row.stands_out else "green"
        line.append(row.result, style=style)
        line.append(" " * (result_width - cell_len(row.result)))
        for number, width in zip(numbers, widths, strict=False):
            line.append(_GAP + pad_to_width(number, width, is_right=True))
        _end_row(page, line, row.reason)


def _columns_that_fit(widths: Sequence[int], room: int) -> int:
    """Count the columns that a narrow terminal has room for: cost goes first, then tokens."""
    number = len(widths)
    while number and sum(width + len(_GAP) for width in widths[:number]) > room:
        number -= 1
    return number


def _id_width(ids: Sequence[str], width: int | None) -> int:
    longest = max(cell_len(prompt_id) for prompt_id in ids)
    if width is None:
        return min(longest, _MAX_PADDED_ID)
    return min(longest, max(14, width // 4))


def _end_row(page: Page, line: Text, reason: str) -> None:
    """Put the reason behind its row, or under it where there is no room for a column."""
    if not reason:
        page.lines.append(line)
        return
    if page.width is None:
        line.append(_GAP + reason)
        page.lines.append(line)
        return
    used = cell_len(line.plain) + len(_GAP)
    if page.width - used >= _MIN_REASON_WIDTH:
        first, *rest = wrap_text(reason, page.width - used)
        line.append(_GAP + first)
        page.lines.append(line)
    else:
        page.lines.append(line)
        used = 6
        rest = wrap_text(reason, page.width - used)
    page.lines.extend(Text(" " * used + piece) for piece in rest)


# --- what was not measured --------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Prompts that lack a grade for the same reason."""

    cause: UnmeasuredCause
    message: str
    prompt_ids: list[str]
    tries: set[int]
    last_at: datetime | None = None


def say_unmeasured(page: Page, outcome: RunOutcome) -> None:
    """Add what was not measured, by cause with counts, and what was never asked."""
    groups = _groups(outcome.trials)
    noun = words_of(outcome.run.kind).noun
    for group in groups:
        what = _what_happened(group.cause, is_one=len(group.prompt_ids) == 1)
        what = f"{what}: {group.message}{_tries_words(group)}"
        _say_group(page, noun, group.prompt_ids, what)
    missing = _never_asked(outcome)
    if missing:
        what = f"{'was' if len(missing) == 1 else 'were'} not asked yet"
        _say_group(page, noun, missing, what)
    if groups or missing:
        page.blank()


def _say_group(page: Page, noun: str, prompt_ids: Sequence[str], what: str) -> None:
    page.say(f"{count(len(prompt_ids), noun)} {what}", style="yellow", indent=2, hang=2)
    named = names([plain_text(prompt_id) for prompt_id in prompt_ids], limit=_MAX_NAMED)
    page.say(named, indent=4)


def _what_happened(cause: UnmeasuredCause, *, is_one: bool) -> str:
    if cause is UnmeasuredCause.PROVIDER:
        return "was not answered" if is_one else "were not answered"
    if cause is UnmeasuredCause.GRADER:
        return f"{'was' if is_one else 'were'} answered, but not graded"
    return f"{'has' if is_one else 'have'} no gradable answer"


def _groups(trials: Iterable[Trial]) -> list[_Group]:
    found: dict[tuple[UnmeasuredCause, str], _Group] = {}
    for trial in trials:
        if trial.state is TrialState.GRADED:
            continue
        cause = trial.error.cause if trial.error is not None else UnmeasuredCause.EMPTY
        message = plain_text(trial.error.message) if trial.error is not None else "no reason given"
        group = found.setdefault((cause, message), _Group(cause, message, [], set()))
        if trial.prompt_id not in group.prompt_ids[-1:]:
            group.prompt_ids.append(trial.prompt_id)
        if trial.call is not None:
            group.tries.add(trial.call.tries)
        if trial.finished_at is not None:
            group.last_at = max(group.last_at or trial.finished_at, trial.finished_at)
    return sorted(found.values(), key=lambda group: -len(group.prompt_ids))


def _tries_words(group: _Group) -> str:
    """Say how often it was tried and until when; only for what a provider did."""
    if group.cause is not UnmeasuredCause.PROVIDER or not group.tries:
        return ""
    least, most = min(group.tries), max(group.tries)
    tries = count(most, "try") if most == 1 else f"{most} tries"
    words = f"{tries} each" if least == most else f"{least} to {most} tries"
    if len(group.prompt_ids) == 1:
        words = tries
    if group.last_at is not None:
        words += f", last at {second(group.last_at)}"
    return f" ({words})"


def _never_asked(outcome: RunOutcome) -> list[str]:
    asked: dict[str, int] = defaultdict(int)
    for trial in outcome.trials:
        asked[trial.prompt_id] += 1
    return [
        planned.prompt_id
        for planned in outcome.run.plan
        if asked[planned.prompt_id] < outcome.run.trials
    ]
