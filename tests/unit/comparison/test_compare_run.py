"""States of a comparison, what it names, and its numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from evalcli.records import (
    ChangedPrompt,
    Comparison,
    ComparisonState,
    Fingerprints,
    RunStatus,
    Treatment,
)
from tests.unit.comparison.run_builders import Measured, measure

_OTHER_ASKED = Fingerprints(asked="other", graded="graded b")
_OTHER_GRADED = Fingerprints(asked="asked b", graded="other")
_UNKNOWN = Fingerprints(asked="asked b", graded=None)
_JUDGE_1 = "decision:typesafe:jev-1.13.0:v1"
_JUDGE_2 = "decision:typesafe:jev-1.14.0:v1"


def make_before(**changes: object) -> Measured:
    return measure({"a": True, "b": True}, run_id="5be0", **changes)


def compare(measured: Measured, before: Measured | None = None) -> Comparison:
    return measured.compare((before or make_before()).baseline)


# --- states -----------------------------------------------------------------------------------


def test_an_unmeasured_prompt_keeps_the_run_from_being_compared() -> None:
    comparison = compare(measure({"a": None, "b": True}))
    assert comparison.state is ComparisonState.NOT_COMPARED
    assert comparison.reason == "the run is incomplete: 1 of 2 prompts measured"
    assert (comparison.common, comparison.pass_rate_after) == ((), None)


def test_a_run_that_is_marked_incomplete_is_not_compared() -> None:
    measured = measure({"a": True, "b": True}, status=RunStatus.INCOMPLETE)
    assert compare(measured).state is ComparisonState.NOT_COMPARED


def test_a_run_whose_last_answer_just_came_in_is_compared() -> None:
    measured = measure({"a": True, "b": True}, status=RunStatus.RUNNING)
    assert compare(measured).state is ComparisonState.COMPARABLE


def test_incomplete_is_said_before_mixed() -> None:
    measured = measure({"a": None}, summary_changes={"has_fallback": True})
    assert compare(measured).state is ComparisonState.NOT_COMPARED


@pytest.mark.parametrize(
    ("summary_changes", "run_changes", "reason"),
    [
        ({"has_fallback": True}, {}, "a fallback served at least one prompt"),
        ({"reported_models": ("m-1", "m-2")}, {}, "more than one model served it: m-1, m-2"),
        ({"yardsticks": ("j-1", "j-2")}, {}, "more than one yardstick graded it: j-1, j-2"),
        ({}, {"grader": "decision"}, "its gradings report no single yardstick"),
        ({}, {"grader": "decision:failed"}, "its gradings report no single yardstick"),
    ],
    ids=["fallback", "models", "yardsticks", "decision", "decision:failed"],
)
def test_a_run_without_one_generator_and_one_yardstick_is_mixed(
    summary_changes: dict[str, object], run_changes: dict[str, object], reason: str
) -> None:
    measured = measure({"a": True, "b": True}, summary_changes=summary_changes, **run_changes)
    comparison = compare(measured)
    assert comparison.state is ComparisonState.MIXED
    assert comparison.reason == f"the run is mixed: {reason}"
    assert comparison.pass_rate_after is None


def test_mixed_is_said_before_mismatch() -> None:
    measured = measure({"a": True}, summary_changes={"has_fallback": True})
    assert compare(measured).state is ComparisonState.MIXED


def test_a_first_run_has_nothing_to_compare_with() -> None:
    comparison = measure({"a": True}).compare(None, other_targets=("other-bot",))
    assert comparison.state is ComparisonState.BASELINE
    assert comparison.reason == "acme.faq has no baseline on support-bot (deterministic) yet"
    assert comparison.other_targets == ("other-bot",)
    assert not comparison.has_baseline


def test_a_run_on_the_same_content_is_comparable() -> None:
    comparison = compare(make_before())
    assert comparison.state is ComparisonState.COMPARABLE
    assert (comparison.reason, comparison.common) == ("", ("a", "b"))
    assert comparison.has_baseline


def test_an_added_prompt_does_not_disturb_the_comparison() -> None:
    comparison = compare(measure({"new": False, "a": True, "b": True}))
    assert comparison.state is ComparisonState.COMPARABLE
    assert (comparison.added, comparison.common) == (("new",), ("a", "b"))
    assert comparison.pass_rate_drop == 0


@pytest.mark.parametrize(
    ("content", "change", "words"),
    [
        (_OTHER_ASKED, ChangedPrompt("b", True, False), "b: prompt"),
        (_OTHER_GRADED, ChangedPrompt("b", False, True), "b: assertions"),
        (Fingerprints("x", "y"), ChangedPrompt("b", True, True), "b: prompt and assertions"),
    ],
    ids=["asked", "graded", "both"],
)
def test_a_changed_prompt_makes_a_mismatch(
    content: Fingerprints, change: ChangedPrompt, words: str
) -> None:
    comparison = compare(measure({"a": True, "b": True}, content={"b": content}))
    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.changed == (change,)
    assert comparison.reason == f"1 prompt of the baseline 5be0 was changed ({words})"


def test_a_removed_prompt_makes_a_mismatch() -> None:
    comparison = compare(measure({"a": True}))
    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.removed == ("b",)
    assert comparison.reason == "1 prompt of the baseline 5be0 was removed (b)"


def test_a_mismatch_names_all_that_was_changed_and_removed() -> None:
    before = measure({"a": True, "b": True, "c": True, "d": True}, run_id="5be0")
    now = measure({"a": True, "b": True}, content={"a": Fingerprints("x", "y"), "b": _OTHER_GRADED})
    assert compare(now, before).reason == (
        "2 prompts of the baseline 5be0 were changed (a: prompt and assertions; b: assertions), "
        "2 removed (c, d)"
    )


@pytest.mark.parametrize(
    ("total", "end"),
    [(20, "p19: prompt and assertions)"), (21, "; and 1 more)"), (22, "; and 2 more)")],
)
def test_a_long_list_of_changes_is_cut_in_words_and_kept_in_full(total: int, end: str) -> None:
    prompt_ids = [f"p{number:02}" for number in range(total)]
    before = measure(dict.fromkeys(prompt_ids, True))
    content = {prompt_id: Fingerprints("x", "y") for prompt_id in prompt_ids}
    comparison = compare(measure(dict.fromkeys(prompt_ids, True), content=content), before)
    assert comparison.reason.endswith(end)
    assert len(comparison.changed) == total


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grader": _JUDGE_1, "grader_kind": "decision"}, "b: reference or profile"),
        ({"grader_kind": "plugin"}, "b: grading"),
        ({"kind": "questions", "grader_kind": "retrieval_hit_rate"}, "b: labels or corpus"),
    ],
    ids=["decision", "plug-in", "questions"],
)
def test_a_change_is_named_by_what_its_grader_reads(changes: dict[str, str], words: str) -> None:
    before = make_before(**changes)
    now = measure({"a": True, "b": True}, content={"b": _OTHER_GRADED}, **changes)
    assert f"({words})" in compare(now, before).reason


def test_a_mismatch_shows_the_common_prompts_for_information() -> None:
    comparison = compare(measure({"a": False, "b": True}, content={"b": _OTHER_ASKED}))
    assert comparison.common == ("a",)
    assert (comparison.pass_rate_before, comparison.pass_rate_after) == (Fraction(1), Fraction(0))


@pytest.mark.parametrize("side", ["run", "baseline"])
def test_a_missing_fingerprint_makes_the_comparison_unknown(side: str) -> None:
    known = measure({"a": True, "b": True}, run_id="5be0")
    unknown = measure({"a": True, "b": True}, content={"b": _UNKNOWN}, run_id="5be0")
    now, before = (unknown, known) if side == "run" else (known, unknown)
    comparison = compare(now, before)
    assert comparison.state is ComparisonState.UNKNOWN
    where = "this run" if side == "run" else "the baseline 5be0"
    assert comparison.reason == (
        f"what 1 prompt of {where} measured is not known, a fingerprint is missing (b)"
    )
    assert (comparison.common, comparison.changed) == (("a",), ())


@pytest.mark.parametrize("content", [Fingerprints(None, "graded b"), Fingerprints("asked b", None)])
def test_prompts_without_fingerprints_on_both_sides_are_not_alike(content: Fingerprints) -> None:
    measured = measure({"a": True, "b": True}, content={"b": content})
    comparison = compare(measured, measured)
    assert comparison.state is ComparisonState.UNKNOWN
    assert comparison.common == ("a",)


def test_a_first_run_without_fingerprints_is_no_baseline() -> None:
    measured = measure({"a": True, "b": True}, content={"b": _UNKNOWN}, kind="questions")
    comparison = measured.compare(None)
    assert comparison.state is ComparisonState.UNKNOWN
    assert comparison.reason.endswith("(b); declare `revisions: {corpus: …}`")


def test_an_added_prompt_without_fingerprints_makes_the_comparison_unknown() -> None:
    now = measure({"a": True, "b": True, "c": True}, content={"c": Fingerprints("asked c", None)})
    assert compare(now).state is ComparisonState.UNKNOWN


def test_another_scoring_version_makes_a_mismatch() -> None:
    comparison = compare(measure({"a": True, "b": True}, scoring_version=2))
    assert comparison.state is ComparisonState.MISMATCH
    assert "version 2 of the scoring rules, the baseline 5be0 by version 1" in comparison.reason


def test_a_baseline_without_prompts_is_not_comparable() -> None:
    comparison = measure({"a": True}).compare(replace(make_before().baseline, prompts={}))
    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.reason == "this run and the baseline 5be0 have no prompt in common"


def test_a_baseline_file_is_named_by_its_path() -> None:
    baseline = replace(make_before().baseline, source="baselines/five.json")
    assert "of the baseline baselines/five.json was removed" in (
        measure({"a": True}).compare(baseline).reason
    )


@pytest.mark.parametrize("source", ["history", "previous", "5be0"])
def test_a_baseline_of_a_run_is_named_by_the_run(source: str) -> None:
    baseline = replace(make_before().baseline, source=source)
    assert "of the baseline 5be0 was" in measure({"a": True}).compare(baseline).reason


# --- partial runs -----------------------------------------------------------------------------


def test_a_partial_run_is_compared_over_its_chosen_prompts() -> None:
    comparison = compare(measure({"b": False}, is_partial=True))
    assert comparison.state is ComparisonState.PARTIAL
    assert (comparison.common, comparison.removed) == (("b",), ())
    assert comparison.pass_rate_drop == 1
    assert comparison.reason == (
        "only chosen prompts were asked (--only): 1 of the 2 prompts of the baseline 5be0"
    )


def test_a_partial_run_with_a_changed_prompt_is_a_mismatch() -> None:
    comparison = compare(measure({"b": True}, is_partial=True, content={"b": _OTHER_ASKED}))
    assert comparison.state is ComparisonState.MISMATCH


def test_a_change_outside_the_chosen_prompts_does_not_matter() -> None:
    before = measure({"a": True, "b": True}, content={"b": Fingerprints(None, None)})
    assert compare(measure({"a": True}, is_partial=True), before).state is ComparisonState.PARTIAL


def test_a_partial_run_without_baseline_stays_partial() -> None:
    comparison = measure({"a": True}, is_partial=True).compare(None)
    assert comparison.state is ComparisonState.PARTIAL
    assert not comparison.has_baseline


def test_a_partial_run_of_added_prompts_has_nothing_in_common() -> None:
    comparison = compare(measure({"new": True}, is_partial=True))
    assert comparison.state is ComparisonState.PARTIAL
    assert (comparison.common, comparison.added) == ((), ("new",))
    assert comparison.pass_rate_drop is None


# --- yardsticks -------------------------------------------------------------------------------


def judged(grader: str, **changes: object) -> Measured:
    return measure({"a": True, "b": False}, grader=grader, grader_kind="decision", **changes)


def test_another_judge_is_a_mismatch_and_no_fresh_start() -> None:
    now = judged(_JUDGE_2)
    comparison = now.compare(None, kin=(judged(_JUDGE_1, run_id="5be0").baseline,))
    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.reason == (
        f"this run was graded by {_JUDGE_2}, the baseline 5be0 by {_JUDGE_1}"
    )
    assert comparison.common == ("a", "b")
    assert (comparison.baseline_grader, comparison.has_baseline) == (_JUDGE_1, False)


def test_the_first_of_the_kin_is_compared_with() -> None:
    kin = (
        judged(_JUDGE_1, run_id="new").baseline,
        judged("decision:x:y:v1", run_id="old").baseline,
    )
    assert "the baseline new" in judged(_JUDGE_2).compare(None, kin=kin).reason


def test_the_series_own_baseline_comes_before_its_kin() -> None:
    now = judged(_JUDGE_2)
    comparison = now.compare(now.baseline, kin=(judged(_JUDGE_1).baseline,))
    assert comparison.state is ComparisonState.COMPARABLE
    assert comparison.baseline_grader is None


def test_kin_of_the_same_yardstick_is_no_baseline() -> None:
    now = judged(_JUDGE_2)
    assert now.compare(None, kin=(now.baseline,)).state is ComparisonState.BASELINE


def test_a_named_baseline_of_another_grader_is_a_mismatch() -> None:
    comparison = judged(_JUDGE_1).compare(measure({"a": True, "b": True}).baseline)
    assert comparison.state is ComparisonState.MISMATCH
    assert comparison.has_baseline


# --- regrading --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "content", "changes", "is_enough"),
    [
        ({"a": True, "b": True}, {"b": _OTHER_GRADED}, {}, True),
        ({"a": True, "b": True}, {}, {"scoring_version": 2}, True),
        ({"a": True, "b": True}, {}, {"grader": _JUDGE_1}, True),
        ({"a": True, "b": True}, {"b": _OTHER_ASKED}, {}, False),
        ({"a": True, "b": True}, {"b": Fingerprints("x", "y")}, {}, False),
        ({"a": True}, {"a": Fingerprints("asked a", "y")}, {}, False),
        ({"a": True, "b": True}, {}, {}, False),
    ],
    ids=["assertions", "scoring", "judge", "prompt", "both", "removed too", "comparable"],
)
def test_regrading_helps_where_only_the_grading_changed(
    outcomes: dict[str, bool],
    content: dict[str, Fingerprints],
    changes: dict[str, object],
    is_enough: bool,
) -> None:
    comparison = compare(measure({**outcomes}, content=content, **changes))
    assert comparison.is_grading_only is is_enough


def test_regrading_a_baseline_without_prompts_helps_nothing() -> None:
    comparison = measure({"a": True}).compare(replace(make_before().baseline, prompts={}))
    assert not comparison.is_grading_only


# --- numbers ----------------------------------------------------------------------------------


def test_drops_are_before_minus_after_over_the_common_prompts() -> None:
    half = Fraction(1, 2)
    before = measure({"a": True, "b": True, "c": False, "d": (False, half)})
    comparison = compare(measure({"a": True, "b": False, "c": False, "d": True, "e": True}), before)
    assert comparison.pass_rate_before == half
    assert comparison.pass_rate_after == half
    assert (comparison.pass_rate_drop, comparison.mean_score_drop) == (Fraction(0), Fraction(1, 8))


def test_prompts_that_turned_are_named_both_ways() -> None:
    before = measure({"a": True, "b": True, "c": False, "d": False})
    comparison = compare(measure({"a": True, "b": False, "c": True, "d": False}), before)
    assert (comparison.newly_failing, comparison.newly_passing) == (("b",), ("c",))


def test_with_trials_a_lower_share_is_newly_failing() -> None:
    before = measure({"a": [True, True], "b": [True, False], "c": [True, False]})
    after = measure({"a": [True, False], "b": [False, False], "c": [False, True]})
    assert compare(after, before).newly_failing == ("a", "b")


def test_the_order_of_prompts_does_not_count() -> None:
    comparison = compare(measure({"b": True, "a": True}))
    assert comparison.state is ComparisonState.COMPARABLE


def test_changes_of_the_treatment_are_named_and_not_refused() -> None:
    now = measure({"a": True, "b": True}, treatment=Treatment(provider="main", model="model-b"))
    comparison = compare(now)
    assert comparison.state is ComparisonState.COMPARABLE
    assert comparison.treatment_changes == ("model model-a → model-b",)


def test_a_baseline_of_another_target_is_named() -> None:
    comparison = compare(make_before(), make_before(target="other-bot"))
    assert comparison.state is ComparisonState.COMPARABLE
    assert comparison.baseline_target == "other-bot"


def test_the_runs_own_target_is_not_named() -> None:
    assert compare(make_before()).baseline_target is None
