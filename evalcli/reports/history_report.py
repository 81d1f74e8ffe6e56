"""What a person sees of stored runs and baselines: lists, one run with answers, two compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import (
    Baseline,
    BaselinePrompt,
    RunListing,
    RunOutcome,
    RunStatus,
    Trial,
    VerdictWord,
)
from evalcli.reports.answer_text import say_answer
from evalcli.reports.comparison_report import write_comparison
from evalcli.reports.comparison_words import (
    baseline_facts,
    commit_words,
    export_command,
    say_comparison_facts,
)
from evalcli.reports.kind_words import has_questions, words_of
from evalcli.reports.number_words import minute, names, percent, score
from evalcli.reports.plain_text import plain_text
from evalcli.reports.prompt_rows import say_unmeasured, trials_by_prompt
from evalcli.reports.question_comparison import write_question_comparison
from evalcli.reports.terminal_report import (
    say_comparison_and_notes,
    say_heading,
    say_left_out,
    say_numbers,
    say_results,
)
from evalcli.reports.text_layout import (
    Page,
    Report,
    cut_to_width,
    fit_widths,
    pad_to_width,
)

_VERDICT_STYLES: Mapping[VerdictWord | None, str] = {
    VerdictWord.PASSED: "green",
    VerdictWord.REGRESSED: "bold red",
    VerdictWord.BELOW_FLOOR: "bold red",
}


# --- list -------------------------------------------------------------------------------------


def render_run_list(runs: Sequence[RunListing], set_identifier: str | None = None) -> Report:
    """Render a list of runs, newest first as they come; all of one set where it is named."""
    return Report(partial(_write_run_list, runs, set_identifier))


_TITLES = ("run", "started", "set", "target", "grader", "pass rate", "score", "verdict")
_QUESTION_TITLES = (*_TITLES[:5], "top-1", "top-3", "verdict")
_STARTED, _SET, _TARGET, _GRADER, _SCORE = 1, 2, 3, 4, 6
_MIN_CELLS = 5
_SYSTEM_CHARACTERS = 300


def _write_run_list(runs: Sequence[RunListing], set_identifier: str | None, page: Page) -> None:
    if not runs and set_identifier is not None:
        shown = plain_text(set_identifier, limit=80)
        page.say(f"No runs of {shown}; `evalcli history list` shows those of all sets.")
        return
    if not runs:
        page.say("No runs yet: `evalcli eval run nr.smoke` makes the first.")
        return
    kinds = {run.kind for run in runs}
    titles = _QUESTION_TITLES if kinds == {"questions"} else _TITLES
    rows = [list(titles), *(_list_cells(run, is_mixed=len(kinds) > 1) for run in runs)]
    if page.width is not None and _surplus(_full_widths(rows), page.width) > 0:
        rows = [rows[0], *map(_shortened, rows[1:])]
    widths = _list_widths(rows, page.width)
    verdicts = [None, *(run.verdict for run in runs)]
    for row, verdict in zip(rows, verdicts, strict=True):
        cells = [
            pad_to_width(cell if page.width is None else cut_to_width(cell, width), width)
            for cell, width in zip(row, widths, strict=True)
            if width
        ]
        line = Text("  ".join(cells), style="dim" if row is rows[0] else "")
        if verdict in _VERDICT_STYLES:
            line.stylize(_VERDICT_STYLES[verdict], len(line) - len(cells[-1]))
        page.lines.append(line)
    if any(run.is_baseline for run in runs):
        page.blank()
        page.say("* is the baseline of its set, target and grader")


def _full_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]


def _shortened(cells: Sequence[str]) -> list[str]:
    """Leave out the year and what follows the kind of grader, so that names need not be cut."""
    short = list(cells)
    short[_STARTED] = short[_STARTED][len("2026-") :]
    short[_GRADER] = short[_GRADER].partition(":")[0]
    return short


def _list_widths(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Choose the width of each column; 0 leaves a column out, on a terminal that is too narrow."""
    widths = _full_widths(rows)
    if width is None:
        return widths
    if len({row[_GRADER] for row in rows[1:]}) == 1 and _surplus(widths, width) > 0:
        widths[_GRADER] = 0
    if _surplus(widths, width) > 0:
        widths[_SCORE] = 0
    least = {_SET: _MIN_CELLS, _TARGET: _MIN_CELLS, _GRADER: _MIN_CELLS}
    least[len(widths) - 1] = cell_len(RunStatus.INCOMPLETE)
    for column in (_STARTED, _TARGET):
        narrowest = [min(size, least.get(at, size)) for at, size in enumerate(widths)]
        if _surplus(narrowest, width) > 0:
            widths[column] = 0
    return fit_widths(widths, least, width)


def _surplus(widths: Sequence[int], width: int) -> int:
    return sum(column + 2 for column in widths if column) - 2 - width


def _list_cells(run: RunListing, *, is_mixed: bool) -> list[str]:
    """Write the cells of a run; in a mixed list hit rates say that they are such."""
    rates = [
        "–" if value is None else rate.values(value)
        for rate, value in zip(
            words_of(run.kind).rates, (run.pass_rate, run.mean_score), strict=True
        )
    ]
    if is_mixed and run.kind == "questions" and run.pass_rate is not None:
        rates = [f"{rates[0]} @1", f"{rates[1]} @3"]
    return [
        plain_text(run.run_id) + ("*" if run.is_baseline else ""),
        minute(run.started_at).removesuffix(" UTC"),
        plain_text(run.set_identifier),
        plain_text(run.target),
        plain_text(run.grader),
        *rates,
        _list_verdict(run),
    ]


def _list_verdict(run: RunListing) -> str:
    """Say in a few words how a run ended; one that is not complete says how far it got."""
    if run.status is not RunStatus.COMPLETE:
        status = "running" if run.status is RunStatus.RUNNING else "incomplete"
        words = f"{status}, {run.measured:,} of {run.prompts:,}"
        return f"{words}, interrupted" if run.is_interrupted else words
    words = run.verdict.value.replace("_", " ") if run.verdict is not None else "–"
    marks = [
        word
        for word, applies in (
            ("draft", run.is_draft),
            ("partial", run.is_partial),
            (f"{run.trials} trials", run.trials > 1),
            ("graded again", run.regraded_from is not None),
        )
        if applies
    ]
    return ", ".join([words, *marks])


# --- one stored run ---------------------------------------------------------------------------


def render_stored_run(outcome: RunOutcome, *, show_answers: bool = False) -> Report:
    """Render a stored run with every prompt.

    Answers are shown where a prompt did not pass, long ones cut; with `show_answers` all of them,
    whole.
    """
    return Report(partial(_write_stored_run, outcome, show_answers))


def _write_stored_run(outcome: RunOutcome, show_answers: bool, page: Page) -> None:
    run = outcome.run
    say_heading(page, outcome)
    _say_origin(page, outcome)
    say_results(page, outcome, show_all=True)
    say_unmeasured(page, outcome)
    _say_answers(page, outcome, show_answers=show_answers)
    say_left_out(page, run)
    say_numbers(page, outcome)
    say_comparison_and_notes(page, outcome, show_all=True)


def _say_origin(page: Page, outcome: RunOutcome) -> None:
    run = outcome.run
    facts = [f"run {plain_text(run.run_id)}", minute(run.started_at)]
    commit = commit_words(run.git)
    if commit:
        facts.append(commit)
    if run.regraded_from:
        facts.append(f"answers of run {plain_text(run.regraded_from)}, graded again")
    facts.append(f"evalcli {plain_text(run.evalcli_version)}")
    page.say(" · ".join(facts), style="dim")
    settings = [f"{plain_text(k)} {plain_text(v)}" for k, v in run.treatment.settings.items()]
    models = [plain_text(model) for model in run.treatment.reported_models]
    if models:
        settings.insert(0, f"model reported {names(models)}")
    if settings:
        page.say(" · ".join(settings), style="dim")
    if run.treatment.system:
        shown = plain_text(run.treatment.system, limit=_SYSTEM_CHARACTERS)
        page.say(f"system prompt: {shown}", style="dim")
    page.blank()


def _say_answers(page: Page, outcome: RunOutcome, *, show_answers: bool) -> None:
    trials = trials_by_prompt(outcome.trials)
    said_any = False
    for prompt in outcome.summary.prompts:
        for trial in trials[prompt.prompt_id]:
            if trial.answer is None or not (show_answers or _is_remarkable(trial)):
                continue
            if not said_any:
                page.say("Answers" if show_answers else "Answers that did not pass", style="bold")
                said_any = True
            _say_answer(page, trial, is_whole=show_answers, has_trials=prompt.trials > 1)
    page.blank()


def _is_remarkable(trial: Trial) -> bool:
    return trial.grade is None or not trial.grade.passed or trial.is_refused or trial.is_cut_off


def _say_answer(page: Page, trial: Trial, *, is_whole: bool, has_trials: bool) -> None:
    number = f" (trial {trial.trial + 1})" if has_trials else ""
    page.say(f"{plain_text(trial.prompt_id)}{number}", indent=2, style="bold")
    say_answer(page, trial.answer, is_whole=is_whole)


# --- two runs ---------------------------------------------------------------------------------


def render_comparison(before: RunOutcome, after: RunOutcome) -> Report:
    """Render two runs of one set: rates, and both answers where the result is another one.

    `after.comparison` is against `before`.
    """
    write = write_question_comparison if has_questions(after.run) else write_comparison
    return Report(partial(write, before, after))


# --- baselines --------------------------------------------------------------------------------


def render_baseline(baseline: Baseline) -> Report:
    """Render a baseline, prompt by prompt."""
    return Report(partial(_write_baseline, baseline))


def _write_baseline(baseline: Baseline, page: Page) -> None:
    page.heading(
        [
            plain_text(baseline.set_identifier),
            plain_text(baseline.target),
            plain_text(baseline.grader),
            f"baseline {plain_text(baseline.run_id)}",
        ]
    )
    facts = [f"set {minute(baseline.set_at)}", commit_words(baseline.git)]
    facts.append(plain_text(baseline.treatment.model or ""))
    page.say(" · ".join(fact for fact in facts if fact), style="dim")
    page.blank()
    _say_baseline_prompts(page, baseline)
    page.blank()
    prompts = list(baseline.prompts.values())
    if prompts:
        words = words_of(baseline.kind)
        pass_rate = sum((p.pass_share for p in prompts), Fraction(0)) / len(prompts)
        mean_score = sum((p.score for p in prompts), Fraction(0)) / len(prompts)
        page.facts(
            [
                (words.rates[0].title, words.rates[0].values(pass_rate)),
                (words.rates[1].title, words.rates[1].values(mean_score)),
                (f"{words.noun.capitalize()}s", f"{len(prompts):,}"),
            ]
        )


def _say_baseline_prompts(page: Page, baseline: Baseline) -> None:
    width = max((cell_len(plain_text(i)) for i in baseline.prompts), default=0)
    if page.width is not None:
        width = min(width, page.width // 2)
    for prompt_id, prompt in baseline.prompts.items():
        shown = plain_text(prompt_id)
        if page.width is not None:
            shown = cut_to_width(shown, width)
        result = _baseline_result(prompt, baseline.kind)
        other = "" if prompt.run_id == baseline.run_id else f"   run {plain_text(prompt.run_id)}"
        page.lines.append(Text(f"  {pad_to_width(shown, width)}   {result}{other}"))


def _baseline_result(prompt: BaselinePrompt, kind: str) -> str:
    if kind == "questions":
        place = (
            "hit at 1" if prompt.pass_share == 1 else "hit in 3" if prompt.score == 1 else "MISS"
        )
        return pad_to_width(place, 8)
    result = {Fraction(1): "pass", Fraction(0): "FAIL"}.get(prompt.pass_share)
    return f"{result or percent(prompt.pass_share)}   {score(prompt.score)}"


def render_acceptance(outcome: RunOutcome, baseline: Baseline, previous: Baseline | None) -> Report:
    """Render that a run was made the baseline on purpose, and what was accepted with it.

    `outcome.comparison` is against `previous`.
    """
    return Report(partial(_write_acceptance, outcome, baseline, previous))


def _write_acceptance(
    outcome: RunOutcome, baseline: Baseline, previous: Baseline | None, page: Page
) -> None:
    run = outcome.run
    was = "there was none before"
    if previous is not None:
        facts = baseline_facts(previous, run)
        was = f"before it was {plain_text(previous.run_id)}, {facts}"
    page.say(
        f" is now the baseline of {plain_text(baseline.set_identifier)} on "
        f"{plain_text(baseline.target)} ({plain_text(baseline.grader)}); {was}.",
        lead=f"Run {plain_text(baseline.run_id)}",
        style="bold",
    )
    if previous is not None:
        page.say("Accepted with it:")
        say_comparison_facts(page, outcome.comparison, run)
    if run.has_baseline_file:
        page.say(f"The baseline file is as it was; to write it anew: `{export_command(run)}`.")
