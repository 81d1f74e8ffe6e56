"""Which commit a run was made on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from evalcli.records import GitState

_TIMEOUT_S = 5.0
_BRANCH_VARIABLES = ("GITHUB_REF_NAME", "CI_COMMIT_BRANCH", "BRANCH_NAME")
"""Where CI systems that check out a detached commit say the branch.

None of them names the branch that a pull request comes from: a fork's own `main` is not `main`.
"""


def read_git_state(folder: Path, environ: Mapping[str, str]) -> GitState:
    """Read commit, branch and whether the tree is dirty; all None outside a repository.

    On a detached head the branch is the one the CI system names in its environment.
    """
    git = shutil.which("git")
    if git is None:
        return GitState()
    # One call for all three: each process start costs more than the question.
    output = _ask_git(git, folder, "status", "--porcelain=v2", "--branch", "--untracked-files=no")
    if output is None:
        return GitState()
    commit = branch = None
    is_dirty = False
    for line in output.splitlines():
        if line.startswith("# branch.oid "):
            commit = line.removeprefix("# branch.oid ")
        elif line.startswith("# branch.head "):
            branch = line.removeprefix("# branch.head ")
        elif not line.startswith("#"):
            is_dirty = True
    if branch == "(detached)":
        branch = next((environ[name] for name in _BRANCH_VARIABLES if environ.get(name)), None)
    return GitState(None if commit == "(initial)" else commit, branch, is_dirty)


def _ask_git(git: str, folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program with fixed words
            [git, "-C", str(folder), *words],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
