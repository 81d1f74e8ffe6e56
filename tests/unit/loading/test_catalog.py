"""Where declarations come from; what is set aside or withheld, and what asking for it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalcli.declarations.prompt_set import PromptSet
from evalcli.errors import DeclarationError, UsageError
from evalcli.loading.catalog import Catalog, Shelf, ValidationReport, validate_declarations
from evalcli.loading.workspace_folder import LoadedWorkspace
from evalcli.loading.workspace_rules import DEFAULTS

Install = Callable[..., None]

ROOT = Path(__file__).resolve().parents[3]


def set_text(identifier: str, *, extra: str = "") -> str:
    return (
        f"kind: prompts\nidentifier: {identifier}\nname: Example\n"
        f"prompts:\n  - {{id: a, prompt: P, assertions: [contains: x]}}\n{extra}"
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "sets").mkdir(parents=True)
    (folder / "evalcli.yaml").write_text("eval: {}\n")
    return folder


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def shelf_of(root: Path | None) -> Shelf:
    return Shelf("sets", root=root, cwd=root or Path("/"))


def identifiers(shelf: Shelf) -> list[str]:
    """What can be used beside the built-ins."""
    return [one.identifier for one in shelf.listings if one.origin != "built-in"]


BUILT_IN = [listing.file for listing in Shelf("sets", root=None, cwd=Path("/")).listings]


def validate(root: Path, *paths: str) -> ValidationReport:
    return validate_declarations("sets", [Path(path) for path in paths], root=root, cwd=root)


# --- what is found --------------------------------------------------------------------------------


def test_built_in_sets_without_a_workspace() -> None:
    catalog = Catalog(LoadedWorkspace(None, DEFAULTS))

    assert catalog.find_prompt_set("nr.smoke").name == "Smoke test"
    assert catalog.faults == ()
    assert [listing.origin for listing in catalog.list_sets()][:1] == ["built-in"]


def test_what_somebody_declares_in_a_clone_is_not_built_in(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "evalcli", clone / "evalcli", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copytree(ROOT / "sets", clone / "sets")
    shutil.copy(ROOT / "pyproject.toml", clone)
    write(clone, "sets/faq.yaml", set_text("acme.faq"))

    listed = subprocess.run(
        [sys.executable, "-m", "evalcli", "sets", "list"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "clone/sets/nr_smoke.yaml" in listed
    assert "acme.faq" not in listed


def test_every_built_in_declaration_is_in_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    there = [path for folder in ("sets", "profiles") for path in (ROOT / folder).glob("nr_*.yaml")]
    names = {path.relative_to(ROOT).as_posix() for path in there}
    assert {name for name in packed if name.endswith(".yaml")} == names


def test_files_of_the_workspace_in_any_depth(root: Path) -> None:
    write(root, "sets/one.yaml", set_text("w.one"))
    write(root, "sets/deep/er/two.yml", set_text("w.two"))
    write(root, "sets/.hidden/three.yaml", set_text("w.three"))
    write(root, "sets/.four.yaml", set_text("w.four"))
    write(root, "sets/five.txt", set_text("w.five"))
    write(root, "other/six.yaml", set_text("w.six"))
    (root / "sets/folder.yaml").mkdir()
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["w.one", "w.two"]
    assert shelf.find_listing("w.two").file == "sets/deep/er/two.yml"
    assert shelf.faults == ()


def test_one_real_file_is_one_declaration(root: Path) -> None:
    write(root, "sets/one.yaml", set_text("w.one"))
    (root / "sets/link.yaml").symlink_to("one.yaml")
    os.link(root / "sets/one.yaml", root / "sets/hard.yaml")
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["w.one"]
    assert shelf.faults == ()


def test_linked_folders_are_entered_once(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "shared/one.yaml", set_text("w.one"))
    (root / "sets/shared").symlink_to(tmp_path / "shared")
    (root / "sets/again").symlink_to(tmp_path / "shared")
    (tmp_path / "shared/loop").symlink_to("..")
    (root / "sets/self").symlink_to("self")

    assert identifiers(shelf_of(root)) == ["w.one"]


def test_workspace_that_has_no_sets(tmp_path: Path) -> None:
    assert identifiers(shelf_of(tmp_path)) == []


def test_long_texts_begin_at_the_workspace(root: Path) -> None:
    write(root, "texts/long.md", "Long.\n")
    write(root, "sets/a/one.yaml", set_text("w.one").replace("P,", "{file: texts/long.md},"))

    assert shelf_of(root).find("w.one", PromptSet).prompts[0].prompt == "Long.\n"


# --- packages -------------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package with entry points: real metadata on the real path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    names: list[str] = []

    def install(name: str, files: dict[str, str], *, group: str = "evalcli.sets") -> None:
        names.append(name)
        for file, text in {"__init__.py": "", **files}.items():
            write(site, f"{name}/{file}", text)
        write(
            site,
            f"{name}-1.0.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        )
        write(site, f"{name}-1.0.dist-info/entry_points.txt", f"[{group}]\n{name} = {name}\n")

    yield install
    for name in names:
        for module in [module for module in sys.modules if module.split(".")[0] == name]:
            del sys.modules[module]


def test_sets_of_packages(root: Path, install: Install) -> None:
    install(
        "acme_pack",
        {
            "one.yaml": set_text("acme.one").replace("P,", "{file: texts/p.md},"),
            "deep/two.yml": set_text("acme.two"),
            "texts/p.md": "From the package.",
        },
    )
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["acme.one", "acme.two"]
    assert shelf.listings[0].origin == "package acme_pack"
    assert shelf.find("acme.one", PromptSet).prompts[0].prompt == "From the package."


def test_sets_of_a_package_in_an_archive(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "zipped.zip"
    files = {
        "zipped_pack/__init__.py": "",
        "zipped_pack/a/one.yaml": set_text("zip.one").replace("P,", "{file: p.md},"),
        "zipped_pack/b/one.yaml": set_text("zip.two"),
        "zipped_pack/p.md": "Packed.",
        "zipped_pack-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: zipped_pack\n",
        "zipped_pack-1.0.dist-info/entry_points.txt": "[evalcli.sets]\nz = zipped_pack\n",
    }
    with zipfile.ZipFile(archive, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    monkeypatch.syspath_prepend(archive)
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["zip.one", "zip.two"]
    assert shelf.find("zip.one", PromptSet).prompts[0].prompt == "Packed."
    assert shelf.find_listing("zip.one").file.endswith("zipped.zip/zipped_pack/a/one.yaml")


def test_texts_of_packages_stay_inside(root: Path, install: Install) -> None:
    install("acme_out", {"one.yaml": set_text("acme.one").replace("P,", "{file: ../secret},")})

    assert "is outside" in str(shelf_of(root).faults[0])


def test_package_that_raises_is_set_aside(root: Path, install: Install) -> None:
    install("acme_broken", {"__init__.py": "raise RuntimeError('no\\nluck \\x1b[31m')"})
    install("acme_exits", {"__init__.py": "raise SystemExit(0)"})
    install("acme_fine", {"one.yaml": set_text("acme.fine")})
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["acme.fine"]
    assert [str(fault) for fault in shelf.faults] == [
        "entry point acme_broken of evalcli.sets (acme_broken): cannot be loaded: RuntimeError: "
        r"no\nluck \x1b[31m; repair or uninstall the package acme_broken",
        "entry point acme_exits of evalcli.sets (acme_exits): cannot be loaded: SystemExit: 0; "
        "repair or uninstall the package acme_exits",
    ]
    assert shelf.file_count == len(BUILT_IN) + 3


def test_file_found_by_workspace_and_package_is_one(root: Path, install: Install) -> None:
    write(root, "sets/one.yaml", set_text("w.one"))
    install("acme_same", {})
    (root.parent / "site/acme_same/one.yaml").symlink_to(root / "sets/one.yaml")

    assert identifiers(shelf_of(root)) == ["w.one"]


# --- set aside and withheld -----------------------------------------------------------------------


def test_broken_file_leaves_the_others(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.a", extra="foo: 1\n"))
    write(root, "sets/b.yaml", set_text("w.b"))
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["w.b"]
    with pytest.raises(DeclarationError) as caught:
        shelf.find("w.a", PromptSet)
    assert caught.value.message == 'set "w.a" is set aside because of sets/a.yaml: 1 fault'
    assert str(caught.value).endswith(
        'sets/a.yaml:6:1: unknown key "foo"; known keys: kind, identifier, name, description, '
        "data_class, prompts"
    )


def test_file_that_is_no_yaml_is_found_by_its_identifier(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.a", extra="foo: 'x\n"))

    with pytest.raises(DeclarationError) as caught:
        shelf_of(root).find("w.a", PromptSet)
    assert caught.value.faults[0].line == 6


def test_identifier_that_is_declared_twice_is_withheld(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.same"))
    write(root, "sets/b.yaml", "# comment\n" + set_text("w.same"))
    write(root, "sets/c.yaml", set_text("w.other"))
    shelf = shelf_of(root)

    assert identifiers(shelf) == ["w.other"]
    with pytest.raises(DeclarationError) as caught:
        shelf.find("w.same", PromptSet)
    assert caught.value.message == (
        'set "w.same" is withheld, because it is declared twice: sets/a.yaml:2 and sets/b.yaml:3'
    )
    assert [str(fault) for fault in caught.value.faults] == [
        'sets/a.yaml:2:13: identifier: "w.same" is declared twice, also in sets/b.yaml:3; '
        "give one of them another identifier",
        'sets/b.yaml:3:13: identifier: "w.same" is declared twice, also in sets/a.yaml:2; '
        "give one of them another identifier",
    ]


def test_identifier_of_a_broken_file_counts_too(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.same"))
    write(root, "sets/b.yaml", set_text("w.same", extra="foo: 1\n"))

    with pytest.raises(DeclarationError, match="is withheld"):
        shelf_of(root).find("w.same", PromptSet)


def test_built_in_identifier_can_be_taken_twice(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("nr.smoke"))

    with pytest.raises(DeclarationError, match=r"is withheld.*sets/a\.yaml:2"):
        shelf_of(root).find("nr.smoke", PromptSet)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (0, 'write "w.one"; known: nr.manual, nr.smoke'),
        (1, "w.one (1 file was set aside: `evalcli sets validate` says why)"),
        (2, "w.one (2 files were set aside: `evalcli sets validate` says why)"),
    ],
)
def test_unknown_identifier(root: Path, broken: int, words: str) -> None:
    write(root, "sets/one.yaml", set_text("w.one"))
    for number in range(broken):
        write(root, f"sets/x{number}.yaml", "kind: prompts\n")

    with pytest.raises(UsageError) as caught:
        shelf_of(root).find("w.ome", PromptSet)
    assert caught.value.message == 'unknown set "w.ome"'
    assert words in caught.value.advice


def test_pipes_and_dead_links_are_set_aside(root: Path) -> None:
    os.mkfifo(root / "sets/pipe.yaml")
    (root / "sets/dead.yaml").symlink_to("nowhere.yaml")

    assert [str(fault) for fault in shelf_of(root).faults] == [
        "sets/dead.yaml:1:1: cannot be read: No such file or directory; check the file",
        "sets/pipe.yaml:1:1: is no ordinary file; write a file, or remove it",
    ]


def test_files_are_bounded(root: Path) -> None:
    write(root, "sets/a.yaml", "#" * 10_000_001)

    assert "larger than 10,000,000 bytes" in str(shelf_of(root).faults[0])


def test_hostile_file_names_are_escaped(root: Path) -> None:
    write(root, "sets/a\x1b[31m\n.yaml", "kind: prompts\n")
    fault = shelf_of(root).faults[0]

    assert str(fault).startswith(r"sets/a\x1b[31m\n.yaml:1:1: ")


# --- validation -----------------------------------------------------------------------------------


def test_all_files_are_validated(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.a", extra="foo: 1\nbar: 2\n"))
    write(root, "sets/b.yaml", set_text("w.b"))
    write(root, "sets/c.yaml", set_text("w.c", extra="foo: 1\n"))
    report = validate(root)

    assert (report.files, report.faulty) == (len(BUILT_IN) + 3, 2)
    assert len(report.faults) == 3


def test_named_files_are_validated(root: Path, tmp_path: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.a", extra="foo: 1\n"))
    write(root, "sets/b.yaml", set_text("w.b"))
    write(tmp_path, "elsewhere.yaml", set_text("w.c", extra="foo: 1\n"))

    assert validate(root, "sets/b.yaml") == ValidationReport(1, 0, ())
    report = validate(root, "sets/b.yaml", "../elsewhere.yaml")
    assert (report.files, report.faulty) == (2, 1)
    assert report.faults[0].file == "../elsewhere.yaml"
    assert validate(root, "sets").files == 2


def test_named_file_is_compared_with_all_others(root: Path) -> None:
    write(root, "sets/a.yaml", set_text("w.same"))
    write(root, "new.yaml", set_text("w.same"))
    report = validate(root, "new.yaml")

    assert [str(fault) for fault in report.faults] == [
        'new.yaml:2:13: identifier: "w.same" is declared twice, also in sets/a.yaml:2; '
        "give one of them another identifier"
    ]


@pytest.mark.parametrize(
    ("name", "words"), [("nope.yaml", "there is no file nope.yaml"), ("empty", "has no YAML file")]
)
def test_named_files_must_exist(root: Path, name: str, words: str) -> None:
    (root / "empty").mkdir()

    with pytest.raises(UsageError, match=words):
        validate(root, name)
