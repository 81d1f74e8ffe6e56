"""evalcli.runs.git_state, on real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from evalcli.records import GitState
from evalcli.runs.git_state import read_git_state


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "a")
    return tmp_path


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],  # noqa: S607 - the one that the code finds too
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )
    return done.stdout.strip()


def test_clean_commit_on_a_branch(repository: Path) -> None:
    (repository / "untracked.txt").write_text("b", encoding="utf-8")

    assert read_git_state(repository, {}) == GitState(
        git(repository, "rev-parse", "HEAD"), "main", False
    )


def test_changed_file_makes_it_dirty(repository: Path) -> None:
    (repository / "a.txt").write_text("b", encoding="utf-8")

    assert read_git_state(repository, {}).is_dirty is True


def test_detached_head_takes_the_branch_of_the_ci_system(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")

    assert read_git_state(repository, {}).branch is None
    assert read_git_state(repository, {"GITHUB_REF_NAME": "feature"}).branch == "feature"


@pytest.mark.parametrize(
    ("environ", "branch"),
    [
        ({"GITHUB_HEAD_REF": "main", "GITHUB_REF_NAME": "12/merge"}, "12/merge"),
        ({"CI_COMMIT_REF_NAME": "main", "CI_MERGE_REQUEST_IID": "12"}, None),
        ({"CI_COMMIT_REF_NAME": "main", "CI_COMMIT_BRANCH": "main"}, "main"),
    ],
)
def test_pull_request_is_not_the_branch_it_comes_from(
    repository: Path, environ: dict[str, str], branch: str | None
) -> None:
    git(repository, "checkout", "-q", "--detach")

    assert read_git_state(repository, environ).branch == branch


def test_repository_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")

    assert read_git_state(tmp_path, {}) == GitState(None, "main", False)


def test_folder_outside_a_repository(tmp_path: Path) -> None:
    assert read_git_state(tmp_path, {}) == GitState()
