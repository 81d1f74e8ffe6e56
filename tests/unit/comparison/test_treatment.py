"""Changes of the treatment, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalcli.comparison.fingerprint import system_fingerprint
from evalcli.comparison.treatment import describe_treatment_changes, treatment_of_run
from evalcli.records import Treatment
from tests.unit.comparison.run_builders import measure

_BEFORE = Treatment(
    provider="openai",
    model="gpt-6-luna",
    reported_models=("gpt-6-luna-2026-09-30",),
    system="You are helpful.",
    system_fingerprint=system_fingerprint("You are helpful."),
    settings={"temperature": "0"},
)


def describe(**changes: object) -> tuple[str, ...]:
    after = replace(_BEFORE, **changes)  # type: ignore[arg-type]  # names are checked when it runs
    return describe_treatment_changes(_BEFORE, after)


def test_an_equal_treatment_has_no_changes() -> None:
    assert describe() == ()


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({"provider": "groq"}, "provider openai → groq"),
        ({"provider": None}, "provider openai → not set"),
        ({"model": "gpt-6-sol"}, "model gpt-6-luna → gpt-6-sol"),
        (
            {"reported_models": ("gpt-6-luna-2026-11-18",)},
            "model reported gpt-6-luna-2026-09-30 → gpt-6-luna-2026-11-18",
        ),
        ({"reported_models": ()}, "model reported gpt-6-luna-2026-09-30 → not known"),
        ({"settings": {"temperature": "0.7"}}, "temperature 0 → 0.7"),
        ({"settings": {}}, "temperature 0 → not set"),
        ({"settings": {"temperature": "0", "seed": "7"}}, "seed not set → 7"),
        ({"trials": 3}, "trials 1 → 3"),
        (
            {"system": "Be rude.", "system_fingerprint": system_fingerprint("Be rude.")},
            "system prompt changed",
        ),
        ({"system": None, "system_fingerprint": None}, "system prompt removed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_is_named(changes: dict[str, object], phrase: str) -> None:
    assert describe(**changes) == (phrase,)


def test_a_system_prompt_that_was_not_there_is_added() -> None:
    before = Treatment()
    after = Treatment(system="", system_fingerprint=system_fingerprint(""))
    assert describe_treatment_changes(before, after) == ("system prompt added",)


def test_a_system_prompt_is_recognised_where_its_text_is_not_kept() -> None:
    assert describe(system=None) == ()


def test_a_system_prompt_without_fingerprint_is_known_by_its_text() -> None:
    assert describe(system_fingerprint=None) == ()


def test_all_changes_are_named() -> None:
    assert describe(model="b", trials=2, settings={"b": "1", "a": "2"}) == (
        "model gpt-6-luna → b",
        "a not set → 2",
        "b not set → 1",
        "temperature 0 → not set",
        "trials 1 → 2",
    )


def test_a_runs_treatment_has_what_the_run_found_out() -> None:
    measured = measure({"a": [True, True]}, treatment=_BEFORE)
    treatment = treatment_of_run(measured.run, measured.summary)
    assert (treatment.reported_models, treatment.trials) == (("model-a",), 2)
    assert treatment.model == "gpt-6-luna"
