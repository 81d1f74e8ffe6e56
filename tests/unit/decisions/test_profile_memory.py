"""A version of a profile stays what it was at its first stored use, until it is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from evalcli.decisions.profile_memory import (
    ProfileChange,
    check_profile_memory,
    compare_with_stored,
    profile_changes,
    remember_profile,
    split_profile_name,
)
from evalcli.declarations.profile import Profile
from evalcli.errors import DecisionCode, DecisionError, UsageError
from evalcli.history.store import History
from tests.support.builders import STARTED_AT
from tests.support.decisions import QUESTIONS, make_profile, make_question

ONE = make_question(type="yes_no", instructions="Is it?")
OTHER = make_question(type="yes_no", instructions="Is it so?")


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with History.open(tmp_path / "history.db") as history:
        yield history


def remember(history: History, profile: Profile = ONE, first_use: str = "batch") -> None:
    remember_profile(history, profile, first_use=first_use, used_at=STARTED_AT)


def test_a_profile_that_was_never_used_may_be_anything(history: History) -> None:
    check_profile_memory(history, ONE)
    check_profile_memory(history, OTHER)


def test_the_same_content_is_the_same_version(history: History) -> None:
    remember(history)
    remember(history)
    check_profile_memory(history, ONE.model_copy(update={"description": "Renamed."}))


def test_other_content_needs_a_new_version(history: History) -> None:
    remember(history)

    for refused in (check_profile_memory, lambda h, p: remember(h, p)):
        with pytest.raises(DecisionError) as caught:
            refused(history, OTHER)
        assert caught.value.code is DecisionCode.INVALID_PROFILE
        assert "evalcli profiles forget acme.answer@1" in caught.value.advice


def test_a_new_version_may_have_other_content(history: History) -> None:
    remember(history)
    second = OTHER.model_copy(update={"version": 2})
    remember(history, second)

    check_profile_memory(history, ONE)
    check_profile_memory(history, second)


def test_another_profile_is_another(history: History) -> None:
    remember(history)

    check_profile_memory(history, OTHER.model_copy(update={"identifier": "acme.other"}))


def test_what_is_forgotten_is_remembered_anew(history: History) -> None:
    remember(history)

    assert history.forget_profile("acme.answer", 1)
    remember(history, OTHER)

    with pytest.raises(DecisionError):
        check_profile_memory(history, ONE)


def test_the_first_use_counts(history: History) -> None:
    remember(history, first_use="run")
    stored = remember_profile(
        history, ONE, first_use="batch", used_at=STARTED_AT + timedelta(days=1)
    )

    assert (stored.first_use, stored.first_used_at) == ("run", STARTED_AT)


# --- what has changed ---


def test_nothing_has_changed() -> None:
    assert profile_changes(make_profile().content(), make_profile().content()) == ()


def test_changes_are_named_field_by_field() -> None:
    questions = {key: dict(question) for key, question in QUESTIONS.items()}
    questions["verdict"] |= {"options": ["publish", "revise"], "descriptions": {"publish": "Fine"}}
    questions["supported"].pop("no")
    questions["new"] = {"type": "yes_no", "instructions": "Is it new?"}
    del questions["answers_task"]

    changes = profile_changes(make_profile().content(), make_profile(questions).content())

    assert changes == (
        ProfileChange("answers_task", QUESTIONS["answers_task"], None),
        ProfileChange("new", None, questions["new"]),
        ProfileChange("supported.no", QUESTIONS["supported"]["no"], None),
        ProfileChange("verdict.options", ["publish", "revise", "discard"], ["publish", "revise"]),
        ProfileChange("verdict.descriptions.revise", "Right in substance, needs rework", None),
        ProfileChange("verdict.descriptions.publish", None, "Fine"),
    )


def test_a_comparison_with_what_was_never_used() -> None:
    comparison = compare_with_stored(ONE, None)

    assert (comparison.stored, comparison.changes) == (None, ())


def test_a_comparison_without_texts_says_only_that_they_differ(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db", content="metadata") as history:
        stored = remember_profile(history, ONE, first_use="run", used_at=STARTED_AT)

    assert stored.content is None
    assert compare_with_stored(ONE, stored).changes == ()
    assert compare_with_stored(OTHER, stored).changes is None


def test_texts_are_not_in_a_history_that_keeps_none(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path, content="metadata") as history:
        remember_profile(history, make_profile(), first_use="run", used_at=STARTED_AT)

    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"acme.answer" in written
    assert b"Every claim" not in written


# --- names ---


@pytest.mark.parametrize(
    ("name", "parts"),
    [("a.b", ("a.b", None)), ("a.b@1", ("a.b", 1)), ("a.b@2147483647", ("a.b", 2147483647))],
)
def test_names_of_versions(name: str, parts: tuple[str, int | None]) -> None:
    assert split_profile_name(name) == parts


@pytest.mark.parametrize("name", ["a@", "a@0", "a@x", "a@-1", "a@1.0", "a@1@2", "a@ 1", "a@٣"])
def test_names_of_no_version(name: str) -> None:
    with pytest.raises(UsageError, match="is no version of a profile"):
        split_profile_name(name)
