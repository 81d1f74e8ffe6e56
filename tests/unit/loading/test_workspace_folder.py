"""Which folder is the workspace, and what its file gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from evalcli.declarations.resolution import resolve_configuration
from evalcli.declarations.workspace import TrustZone, WorkspaceFile
from evalcli.errors import ConfigurationError, DeclarationError
from evalcli.loading.workspace_folder import LoadedWorkspace, find_workspace, load_workspace

MINIMAL = "eval: {max_pass_rate_drop: 0}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ws/deep/er").mkdir(parents=True)
    (tmp_path / "ws/evalcli.yaml").write_text(MINIMAL)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/evalcli.yaml").write_text(MINIMAL)
    return tmp_path


def load(folder: Path, text: str) -> LoadedWorkspace:
    (folder / "evalcli.yaml").write_text(text)
    return load_workspace(None, {}, folder)


# --- which folder ---------------------------------------------------------------------------------


def test_nearest_folder_upwards(folder: Path) -> None:
    assert find_workspace(None, {}, folder / "ws/deep/er") == folder / "ws"


def test_nearer_workspace_wins(folder: Path) -> None:
    (folder / "ws/deep/evalcli.yaml").write_text(MINIMAL)

    assert find_workspace(None, {}, folder / "ws/deep/er") == folder / "ws/deep"


def test_no_workspace(folder: Path) -> None:
    assert find_workspace(None, {}, folder) is None


@pytest.mark.parametrize(
    ("explicit", "environ", "expected"),
    [
        (None, {"EVALCLI_WORKSPACE": "../other"}, "other"),
        (Path("../other"), {}, "other"),
        (Path(), {"EVALCLI_WORKSPACE": "../other"}, "ws"),
        (None, {"EVALCLI_WORKSPACE": ""}, "ws"),
    ],
)
def test_named_folders_go_first(
    folder: Path, explicit: Path | None, environ: Mapping[str, str], expected: str
) -> None:
    found = find_workspace(explicit, environ, folder / "ws")

    assert found is not None
    assert found.resolve() == folder / expected


@pytest.mark.parametrize(
    ("explicit", "environ", "words"),
    [
        (Path("ws/deep"), {}, "ws/deep has no evalcli.yaml (--workspace)"),
        (Path("nowhere"), {}, "nowhere is no folder (--workspace)"),
        (Path("ws/evalcli.yaml"), {}, "is no folder (--workspace)"),
        (None, {"EVALCLI_WORKSPACE": "nowhere"}, "nowhere is no folder (EVALCLI_WORKSPACE)"),
    ],
)
def test_named_folder_without_workspace_is_refused(
    folder: Path, explicit: Path | None, environ: Mapping[str, str], words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_workspace(explicit, environ, folder)

    assert words in caught.value.message


# --- what it gives --------------------------------------------------------------------------------


def assert_local(file: WorkspaceFile) -> None:
    target = resolve_configuration(file)
    assert target.name == "local"
    assert target.model_id == "smollm2-135m"
    assert target.entry.type == "local"
    assert target.entry.trust_zone is TrustZone.LOCAL


def test_defaults_without_a_workspace(tmp_path: Path) -> None:
    loaded = load_workspace(None, {}, tmp_path)

    assert loaded.root is None
    assert loaded.path is None
    assert_local(loaded.file)
    assert loaded.file.decision.configuration == "local"
    assert loaded.file.history.path == ".evalcli/history.db"


def test_workspace_that_names_nothing_to_ask_gets_the_local_model(tmp_path: Path) -> None:
    loaded = load(tmp_path, "eval: {max_pass_rate_drop: 0.05}\nmodels: {big: {provider: local}}\n")

    assert loaded.root == tmp_path
    assert loaded.path == tmp_path / "evalcli.yaml"
    assert_local(loaded.file)
    assert str(loaded.file.eval.max_pass_rate_drop) == "0.05"
    assert list(loaded.file.models) == ["smollm2-135m", "big"]
    assert loaded.file.decision.configuration == "local"


@pytest.mark.parametrize(
    "text",
    [
        "providers: {p: {type: openai}}\n",
        "configurations: {c: {model: m}}\nproviders: {p: {type: local}}\n",
    ],
)
def test_workspace_that_names_something_to_ask_gets_nothing_else(tmp_path: Path, text: str) -> None:
    loaded = load(tmp_path, text)

    assert "local" not in loaded.file.providers
    assert loaded.file.decision.configuration is None
    assert "local" not in loaded.file.configurations
    assert loaded.file.eval.configuration is None


def test_system_prompt_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("Be brief.\n")
    loaded = load(
        tmp_path,
        "providers: {p: {type: openai}}\n"
        "configurations: {c: {model: m, system: {file: system.md}}}\n",
    )

    assert loaded.file.configurations["c"].system == "Be brief.\n"


def test_all_faults_are_raised(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError) as caught:
        load(tmp_path, "eval: {configuration: x, max_pass_rate_drop: 2}\nfoo: 1\n")

    assert caught.value.message == "evalcli.yaml cannot be used: 3 faults"
    assert [str(fault) for fault in caught.value.faults] == [
        'evalcli.yaml:1:23: eval.configuration: unknown configuration "x"; known: local',
        "evalcli.yaml:1:46: eval.max_pass_rate_drop: must be at most 1; "
        "write a number in that range",
        'evalcli.yaml:2:1: unknown key "foo"; known keys: providers, models, configurations, eval, '
        "decision, retrievers, history",
    ]


def test_files_are_named_from_the_current_folder(folder: Path) -> None:
    (folder / "ws/evalcli.yaml").write_text("foo: 1\n")

    with pytest.raises(DeclarationError) as caught:
        load_workspace(None, {}, folder / "ws/deep")

    assert caught.value.faults[0].file == "../evalcli.yaml"


def test_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="the file is empty"):
        load(tmp_path, "# nothing\n")


def test_file_that_is_too_large(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="larger than 10,000,000 bytes"):
        load(tmp_path, "#" * 10_000_001)
