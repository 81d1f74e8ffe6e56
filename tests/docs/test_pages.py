"""The manual does what it says: its commands run, its output is real, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.refill import pages, refilled
from tests.support.llama import model_file
from tests.support.pages import ROOT, WITH_MODEL, page_names, read_blocks, run_blocks

PAGES = page_names()
_LINK = re.compile(r"\[[^\]]+\]\((?!https?:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def pages_with(*kinds: str) -> list[str]:
    return [
        name
        for name in PAGES
        if any(block.mark.partition(": ")[0] in kinds for block in read_blocks(ROOT / name))
    ]


@pytest.mark.parametrize("name", pages_with("run"))
def test_commands_of_a_page_run(name: str, tmp_path: Path) -> None:
    run_blocks(read_blocks(ROOT / name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", pages_with("run"))
def test_commands_of_a_page_run_in_a_shell(name: str, tmp_path: Path) -> None:
    run_blocks(read_blocks(ROOT / name), tmp_path, in_shell=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", pages_with(WITH_MODEL))
def test_commands_of_a_page_run_with_the_model(name: str, tmp_path: Path) -> None:
    model_file()
    run_blocks(read_blocks(ROOT / name), tmp_path, with_model=True)


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_page_is_run_or_says_why_not(name: str) -> None:
    unmarked = [b.text for b in read_blocks(ROOT / name) if b.is_command and not b.mark]
    assert unmarked == []


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for match in _LINK.finditer(page.read_text(encoding="utf-8")):
        target = (page.parent / match["path"]).resolve() if match["path"] else page
        assert target.exists(), match[0]
        if match["anchor"]:
            assert match["anchor"] in _anchors(target), match[0]


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_parts_from_the_code_are_what_the_code_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refilled(text) == text


def test_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name in PAGES if name.startswith("docs/") and f"({name})" not in readme]
    assert missing == []
