"""Two runs of one set: rates, and both answers where the result is another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalcli.records import PromptSummary, Run, RunOutcome, Trial
from evalcli.reports.answer_text import say_both
from evalcli.reports.comparison_words import commit_words, is_compared, say_comparison_facts
from evalcli.reports.number_words import count, minute, names, percent, score
from evalcli.reports.plain_text import plain_text
from evalcli.reports.prompt_rows import trial_reason, trials_by_prompt
from evalcli.reports.terminal_report import target_words
from evalcli.reports.text_layout import Page

_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs, by prompt id."""

    run: Run
    prompts: Mapping[str, PromptSummary]
    trials: Mapping[str, Sequence[Trial]]

    @classmethod
    def of(cls, outcome: RunOutcome) -> _Side:
        return cls(
            run=outcome.run,
            prompts={prompt.prompt_id: prompt for prompt in outcome.summary.prompts},
            trials=trials_by_prompt(outcome.trials),
        )

    def telling_trial(self, prompt_id: str) -> Trial | None:
        """Choose the trial whose answer is shown: the first that did not pass, else the first."""
        own = self.trials.get(prompt_id, ())
        failed = [trial for trial in own if trial.grade is None or not trial.grade.passed]
        return next(iter([*failed, *own]), None)


def write_comparison(before: RunOutcome, after: RunOutcome, page: Page) -> None:
    """Write two runs of one set; `after.comparison` is against `before`."""
    old, new = _Side.of(before), _Side.of(after)
    ids = f"{plain_text(old.run.run_id)} → {plain_text(new.run.run_id)}"
    page.heading([plain_text(new.run.set_identifier), ids])
    for outcome in (before, after):
        _say_side(page, outcome)
    page.blank()
    differing = _differing_prompts(old, new)
    for prompt_id in differing:
        _say_pair(page, old, new, prompt_id)
        page.blank()
    _say_same(page, old, new, len(differing))
    page.blank()
    say_comparison_facts(page, after.comparison, after.run)
    if not is_compared(after.comparison):
        page.say("NOT COMPARABLE: their rates say nothing about each other.", style="bold yellow")


def _say_side(page: Page, outcome: RunOutcome) -> None:
    run, summary = outcome.run, outcome.summary
    facts = [minute(run.started_at), target_words(run)]
    commit = commit_words(run.git)
    if commit:
        facts.append(commit)
    if summary.pass_rate is not None and summary.mean_score is not None:
        facts.append(f"pass rate {percent(summary.pass_rate)}")
        facts.append(f"mean score {score(summary.mean_score)}")
    page.label(plain_text(run.run_id), " · ".join(facts), name_width=8)


def _differing_prompts(old: _Side, new: _Side) -> list[str]:
    """List the prompts of both whose result differs: those that fell first, in the set's order."""
    differing = [
        prompt_id
        for prompt_id, prompt in new.prompts.items()
        if prompt_id in old.prompts and _standing(prompt) != _standing(old.prompts[prompt_id])
    ]
    return sorted(differing, key=lambda i: not _has_fallen(old.prompts[i], new.prompts[i]))


def _standing(prompt: PromptSummary) -> tuple[object, object]:
    return prompt.pass_share, prompt.score


def _has_fallen(old: PromptSummary, new: PromptSummary) -> bool:
    return (new.pass_share or 0, new.score or 0) < (old.pass_share or 0, old.score or 0)


def _say_pair(page: Page, old_side: _Side, new_side: _Side, prompt_id: str) -> None:
    old, new = old_side.prompts[prompt_id], new_side.prompts[prompt_id]
    change = f"{_result(old)} → {_result(new)}"
    if old.score is not None and new.score is not None and old.score != new.score:
        change += f"   {score(old.score, new.score, digits=2)}"
    if old.fingerprints != new.fingerprints:
        change += "   (the prompt or its grading was changed)"
    style = "bold red" if _has_fallen(old, new) else "bold green"
    page.say(f"   {change}", lead=plain_text(prompt_id), style=style)
    new_trial = new_side.telling_trial(prompt_id)
    if new_trial is not None and trial_reason(new_trial):
        page.say(trial_reason(new_trial), indent=2)
    say_both(
        page,
        [
            (old_side.run.run_id, old_side.telling_trial(prompt_id)),
            (new_side.run.run_id, new_trial),
        ],
    )


def _result(prompt: PromptSummary) -> str:
    if prompt.pass_share is None:
        return "unmeasured"
    if prompt.trials > 1:
        return f"{prompt.passed} of {prompt.trials} trials"
    return "pass" if prompt.pass_share == 1 else "FAIL"


def _say_same(page: Page, old: _Side, new: _Side, differing: int) -> None:
    same = sum(prompt_id in old.prompts for prompt_id in new.prompts) - differing
    if same:
        verb = "has" if same == 1 else "have"
        page.say(f"{count(same, 'prompt')} {verb} the same result in both runs.")
    for side, other in ((old, new), (new, old)):
        ids = [plain_text(i) for i in side.prompts if i not in other.prompts]
        if ids:
            run_id = plain_text(side.run.run_id)
            page.say(f"Only in {run_id}: {names(ids, limit=_MAX_NAMED)}")
