"""The log of a bug has the traceback, no key, and is nobody else's to read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from evalcli.cli.bug_log import bug_lines, write_bug_log


def _raised(message: str) -> ValueError:
    try:
        raise ValueError(message)
    except ValueError as exc:
        return exc


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with `.evalcli`."""
    (tmp_path / ".evalcli").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".evalcli"


def test_log_has_the_traceback_and_the_version(own_folder: Path) -> None:
    path = write_bug_log(_raised("odd"), {})
    assert path is not None
    assert path.parent == own_folder
    text = path.read_text(encoding="utf-8")
    assert text.startswith("evalcli ")
    assert "Traceback (most recent call last)" in text
    assert "raise ValueError(message)" in text
    assert text.endswith("ValueError: odd\n")


@pytest.mark.usefixtures("own_folder")
def test_log_is_for_its_owner_only() -> None:
    path = write_bug_log(_raised("odd"), {})
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("own_folder")
def test_two_bugs_have_two_logs() -> None:
    assert write_bug_log(_raised("odd"), {}) != write_bug_log(_raised("odd"), {})


def test_log_goes_to_the_temporary_folder_where_there_is_no_own_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = write_bug_log(_raised("odd"), {})
    assert path is not None
    assert path.parent == tmp_path


def test_log_that_cannot_be_written_is_no_second_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert write_bug_log(_raised("odd"), {}) is None
    assert bug_lines(_raised("odd"), None, {})[1].endswith("no log could be written")


@pytest.mark.parametrize(
    "message",
    [
        "key-main-0000 was refused",
        "illegal header value b'Bearer sk-abc.def'",
        "proxy http://user:sk-abc.def@proxy:3128 failed",
    ],
)
@pytest.mark.usefixtures("own_folder")
def test_keys_are_removed(message: str) -> None:
    environ = {"MAIN_KEY": "key-main-0000", "HOME": "was refused"}
    path = write_bug_log(_raised(message), environ)
    assert path is not None
    shown = path.read_text(encoding="utf-8") + bug_lines(_raised(message), path, environ)[0]
    assert "key-main-0000" not in shown
    assert "sk-abc" not in shown
    assert "[removed]" in shown


@pytest.mark.usefixtures("own_folder")
def test_any_text_of_an_exception_can_be_logged() -> None:
    path = write_bug_log(_raised("\ud800\x00"), {})
    assert path is not None
    assert "\\ud800" in path.read_text(encoding="utf-8")


def test_summary_is_bounded() -> None:
    assert len(bug_lines(_raised("x" * 10_000), None, {})[0]) <= 310
