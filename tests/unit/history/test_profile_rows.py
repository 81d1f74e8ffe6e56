"""Versions of profiles in the history: the first content of each stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evalcli.history.store import History
from evalcli.records import StoredProfile
from tests.support.builders import STARTED_AT

STORED = StoredProfile(
    identifier="acme.answer",
    version=1,
    fingerprint="v1:aa",
    first_use="batch",
    first_used_at=STARTED_AT,
    content={"q": {"type": "yes_no", "instructions": "Is it? \ud800\0", "levels": ["ä", "🙂"]}},
)


def test_what_is_remembered_is_read_back(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        assert history.find_profile("acme.answer", 1) is None
        assert history.remember_profile(STORED) == STORED
    with History.open(tmp_path / "history.db") as history:
        assert history.find_profile("acme.answer", 1) == STORED


def test_the_first_content_of_a_version_stays(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        history.remember_profile(STORED)
        later = replace(STORED, fingerprint="v1:bb", first_use="run", content={})

        assert history.remember_profile(later) == STORED


def test_two_processes_agree_on_the_first(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as one, History.open(path) as other:
        one.remember_profile(STORED)

        assert other.remember_profile(replace(STORED, fingerprint="v1:bb")) == STORED


def test_versions_are_listed_newest_first(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        for version in (2, 10, 1):
            history.remember_profile(replace(STORED, version=version))
        history.remember_profile(replace(STORED, identifier="acme.other"))

        listed = history.list_profiles("acme.answer")

    assert [one.version for one in listed] == [10, 2, 1]


@pytest.mark.parametrize("version", [1, 2**31 - 1])
def test_one_version_is_forgotten(tmp_path: Path, version: int) -> None:
    with History.open(tmp_path / "history.db") as history:
        history.remember_profile(replace(STORED, version=version))
        history.remember_profile(replace(STORED, version=17))

        assert history.forget_profile("acme.answer", version)
        assert not history.forget_profile("acme.answer", version)
        assert [one.version for one in history.list_profiles("acme.answer")] == [17]
