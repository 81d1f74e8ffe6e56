"""What a person sees of a run, in every way it can end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from rich.cells import cell_len

from evalcli.records import GateLimits, RunOutcome, VerdictWord
from evalcli.reports.terminal_report import render_run
from tests.support import outcomes
from tests.support.approved import Approved
from tests.support.builders import (
    make_answer,
    make_baseline,
    make_call,
    make_outcome,
    make_run,
    make_trial,
)
from tests.support.outcomes import OUTCOMES

WIDTHS = (None, 120, 80, 60)
NOT_COMPARED = (
    "first_run",
    "first_run_gated",
    "baseline_required",
    "outage",
    "interrupted",
    "grading_failed",
    "mismatch",
    "mismatch_of_file",
    "mismatch_of_judge",
    "unknown",
    "mixed",
)


def _pages(outcome: RunOutcome) -> str:
    parts = []
    for width in WIDTHS:
        title = "no terminal" if width is None else f"{width} columns"
        parts.append(f"=== {title}\n{render_run(outcome).text(width)}")
    return "\n".join(parts)


@pytest.mark.parametrize("make", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_run_reads_as_approved(make: Callable[[], RunOutcome], approved: Approved) -> None:
    approved.check(f"run_{make.__name__}.txt", _pages(make()))


@pytest.mark.parametrize(
    ("provider_type", "machine", "cost"),
    [("openai", False, "unknown"), ("local", True, "none (local)"), ("replay", False, "none (rec")],
)
def test_type_of_a_provider_and_not_its_name_says_that_nothing_left_this_machine(
    provider_type: str, machine: bool, cost: str
) -> None:
    run = make_run(provider="local", provider_type=provider_type)
    call = make_call(make_answer("Monday"), cost_usd=None)
    text = render_run(make_outcome(run, [make_trial("opening-hours", call=call)])).text(120)
    assert ("on this machine" in text) is machine
    assert f"Cost {cost}" in " ".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("make", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_no_line_is_wider_than_the_terminal(make: Callable[[], RunOutcome], width: int) -> None:
    for line in render_run(make(), verbose=True).text(width).splitlines():
        assert cell_len(line) <= width, line


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_of_hostile_text_reaches_the_terminal(width: int | None) -> None:
    text = render_run(outcomes.hostile()).text(width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text)


def test_markup_of_a_model_is_shown_as_it_is() -> None:
    run = make_run(("plain",))
    answer = make_answer("[bold]no[/bold] [/INST] [red]x")
    trial = make_trial("plain", passed=False, reason='got "[bold]no[/bold] [/INST] [red]x"')
    text = render_run(make_outcome(run, [replace(trial, answer=answer)])).text(120)
    assert '"[bold]no[/bold] [/INST] [red]x"' in text


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_what_was_not_compared_never_sounds_compared(name: str) -> None:
    text = render_run(OUTCOMES[name]()).text(None)
    for words in ("No regression", "REGRESSION", "Regression:", "PASSED", "within the limits"):
        assert words not in text


@pytest.mark.parametrize("name", ["outage", "interrupted", "grading_failed"])
def test_incomplete_run_has_no_rate(name: str) -> None:
    text = render_run(OUTCOMES[name]()).text(None)
    assert "Pass rate" not in text
    assert "Mean score" not in text
    assert "%" not in text
    assert "INCOMPLETE" in text
    assert "--resume" in text


def test_outage_is_grouped_by_cause_with_counts() -> None:
    text = render_run(outcomes.outage()).text(None)
    assert (
        '9 prompts were not answered: openai said 503 "The server is overloaded" '
        "(3 tries each, last at 14:02:11 UTC)"
    ) in text
    assert "`evalcli eval run acme.faq --resume 40d7` asks only the missing 9." in text


def test_green_run_names_what_newly_fails() -> None:
    outcome = outcomes.passed_with_losses()
    assert outcome.verdict.word is VerdictWord.PASSED
    text = render_run(outcome).text(None)
    assert re.search(r"newly failing +legal-advice", text)
    assert "1 prompt fails more often than before" in text


def test_ids_are_never_cut_without_a_terminal() -> None:
    prompt_id = "a-very-long-prompt-id-" * 10
    outcome = make_outcome(make_run((prompt_id,)), [make_trial(prompt_id)])
    assert prompt_id in render_run(outcome).text(None)
    assert prompt_id not in render_run(outcome).text(80)


def test_large_run_shows_what_stands_out_and_counts_the_rest() -> None:
    ids = [f"p{number}" for number in range(100)]
    made = [make_trial(i, passed=i != "p7", reason="wrong" * (i == "p7")) for i in ids]
    text = render_run(make_outcome(make_run(ids), made)).text(None)
    assert "p7 " in text
    assert "p8 " not in text
    assert "… 99 pass (all: `evalcli history show 91c2`)" in text


def test_large_run_bounds_what_it_lists() -> None:
    ids = [f"p{number}" for number in range(1000)]
    made = [make_trial(i, passed=number > 900) for number, i in enumerate(ids)]
    lines = render_run(make_outcome(make_run(ids), made)).text(None).splitlines()
    assert sum("FAIL" in line for line in lines) == 50
    assert any("… 851 more fail, 99 pass" in line for line in lines)


def test_verbose_lists_every_prompt_of_a_large_run() -> None:
    ids = [f"p{number}" for number in range(100)]
    outcome = make_outcome(make_run(ids), [make_trial(i) for i in ids])
    lines = render_run(outcome, verbose=True).text(None).splitlines()
    assert sum(" pass " in line for line in lines) == 100


def test_newly_failing_prompts_come_first() -> None:
    ids = [f"p{number:02}" for number in range(30)]
    before = [make_trial(i, passed=i != "p03") for i in ids]
    after = [make_trial(i, passed=i not in ("p03", "p20")) for i in ids]
    baseline = make_baseline(make_run(ids, run_id="5be0"), before)
    text = render_run(make_outcome(make_run(ids), after, baseline=baseline)).text(None)
    assert text.index("p20 ") < text.index("p03 ")


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (("0.001", "0.0021"), "$0.0031"),
        (("0.001", None), "at least $0.0010, part of it is unknown"),
        ((None, None), "unknown"),
        (("0", "0"), "$0"),
    ],
)
def test_cost_is_what_is_known_of_it(costs: tuple[str | None, ...], words: str) -> None:
    ids = ("a", "b")
    made = [
        make_trial(i, call=make_call(make_answer(), cost_usd=cost))
        for i, cost in zip(ids, costs, strict=True)
    ]
    text = render_run(make_outcome(make_run(ids), made)).text(None)
    assert re.search(rf"^Cost +{re.escape(words)}$", text, re.MULTILINE)


def test_unknown_tokens_are_no_zero() -> None:
    answer = make_answer(input_tokens=None)
    trial = make_trial("a", answer=answer, call=make_call(answer))
    text = render_run(make_outcome(make_run(("a",)), [trial])).text(None)
    assert "– tok" in text
    assert " 0 tok" not in text


def test_regression_without_the_flag_says_that_it_is_only_reported() -> None:
    text = render_run(outcomes.regression_reported()).text(None)
    assert "REGRESSION: " in text
    assert "is only reported: --fail-on-regression was not given" in text


def test_regression_with_the_flag_names_the_way_on() -> None:
    text = render_run(outcomes.regression()).text(None)
    assert "is only reported" not in text
    assert "`evalcli history compare 5be0 91c2`" in text
    assert "`evalcli baseline accept 91c2`" in text


def test_mismatch_of_a_file_names_the_export() -> None:
    text = render_run(outcomes.mismatch_of_file()).text(None)
    assert (
        "evalcli baseline export acme.faq --configuration support-bot > baselines/acme.faq.json"
    ) in text


def test_small_model_note_is_for_the_small_model_only() -> None:
    note = "is a small model for trying evalcli out"
    assert note in render_run(outcomes.first_run()).text(None)
    assert note not in render_run(outcomes.regression()).text(None)


def test_command_is_not_broken_where_it_fits_on_a_line() -> None:
    lines = render_run(outcomes.regression()).text(60).splitlines()
    assert any("`evalcli history compare 5be0 91c2`" in line for line in lines)


def test_drop_that_equals_the_limit_is_shown_as_tolerated() -> None:
    ids = [f"q{number}" for number in range(10)]
    before = [make_trial(i, passed=number < 8) for number, i in enumerate(ids)]
    after = [make_trial(i, passed=number < 7) for number, i in enumerate(ids)]
    limits = GateLimits(Fraction(1, 10), Fraction(1, 10), fail_on_regression=True)
    baseline = make_baseline(make_run(ids, run_id="5be0"), before)
    outcome = make_outcome(make_run(ids, limits=limits), after, baseline=baseline)
    text = render_run(outcome).text(None)
    assert "PASSED: the pass rate fell by 10.0 points (limit 10.0)" in text
