"""Which prompts a run and a baseline share unchanged, and which were added, changed, removed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evalcli.records import (
    Baseline,
    BaselinePrompt,
    ChangedPrompt,
    Fingerprints,
    PromptSummary,
    Run,
    Summary,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One prompt before and after, measured on the same content."""

    prompt_id: str
    share_before: Fraction
    share_after: Fraction
    score_before: Fraction
    score_after: Fraction


@dataclass(frozen=True, slots=True)
class Overlap:
    """How the prompts of a run and of a baseline relate, in the run's order.

    `unknown_in_run` and `unknown_in_baseline` name prompts that lack a fingerprint there.
    """

    common: tuple[Pair, ...]
    added: tuple[str, ...]
    changed: tuple[ChangedPrompt, ...]
    removed: tuple[str, ...]
    unknown_in_run: tuple[str, ...]
    unknown_in_baseline: tuple[str, ...]

    @property
    def is_regrading_enough(self) -> bool:
        """Whether grading the baseline's answers again would make the two comparable.

        It would where nothing that is asked has changed; a removed prompt stays removed.
        """
        is_asked_same = not any(change.is_asked_changed for change in self.changed)
        return is_asked_same and not self.removed and bool(self.common or self.changed)


def relate_prompts(run: Run, summary: Summary, baseline: Baseline) -> Overlap:
    """Sort the prompts of a complete run and of a baseline by what became of them.

    Prompts that a partial run left out are not removed. A prompt that lacks a fingerprint on one
    side is neither common nor changed.
    """
    common, added, changed, unknown = [], [], [], []
    for prompt in summary.prompts:
        before = baseline.prompts.get(prompt.prompt_id)
        if before is None:
            added.append(prompt.prompt_id)
        elif not _is_known(before.fingerprints):
            unknown.append(prompt.prompt_id)
        elif prompt.fingerprints == before.fingerprints:
            common.append(_pair(prompt, before))
        elif _is_known(prompt.fingerprints):
            changed.append(_change(prompt, before))
    planned = {prompt.prompt_id for prompt in summary.prompts}
    removed = [prompt_id for prompt_id in baseline.prompts if prompt_id not in planned]
    return Overlap(
        common=tuple(common),
        added=tuple(added),
        changed=tuple(changed),
        removed=() if run.is_partial else tuple(removed),
        unknown_in_run=unknown_prompts(summary),
        unknown_in_baseline=tuple(unknown),
    )


def unknown_prompts(summary: Summary) -> tuple[str, ...]:
    """Name the prompts of a run of which a fingerprint is not known."""
    return tuple(p.prompt_id for p in summary.prompts if not _is_known(p.fingerprints))


def _is_known(fingerprints: Fingerprints) -> bool:
    return fingerprints.asked is not None and fingerprints.graded is not None


def _change(prompt: PromptSummary, before: BaselinePrompt) -> ChangedPrompt:
    now, was = prompt.fingerprints, before.fingerprints
    return ChangedPrompt(prompt.prompt_id, now.asked != was.asked, now.graded != was.graded)


def _pair(prompt: PromptSummary, before: BaselinePrompt) -> Pair:
    if prompt.pass_share is None or prompt.score is None:
        raise ValueError(f"{prompt.prompt_id!r} is not measured: the run is incomplete")
    return Pair(
        prompt_id=prompt.prompt_id,
        share_before=before.pass_share,
        share_after=prompt.pass_share,
        score_before=before.score,
        score_after=prompt.score,
    )
