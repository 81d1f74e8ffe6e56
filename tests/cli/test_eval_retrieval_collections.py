"""Real labelled collections, imported and run through the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.workspace import CliWorkspace

COLLECTIONS = Path(os.environ["EVALCLI_COLLECTIONS"])


@pytest.mark.parametrize(
    ("name", "language", "cutoff", "least"),
    [
        ("cranfield", "english", "3", 0.70),
        ("npl", "english", "1", 0.55),
        ("xquad-de", "german", "1", 0.89),
        ("covid-faq-de", "german", "3", 0.42),
    ],
)
def test_collection_is_imported_and_measured(
    cli_workspace: CliWorkspace, name: str, language: str, cutoff: str, least: float
) -> None:
    words = ("sets", "import", "beir", str(COLLECTIONS / name), "--language", language)
    imported = cli_workspace.run(*words, "--identifier", "real.set")
    assert imported.exit == 0
    snippet = imported.stdout.split("Add to evalcli.yaml:\n\n")[1].split("\n\nThen:")[0]
    cli_workspace.write("evalcli.yaml", snippet)

    first = cli_workspace.run("eval", "retrieval", "real.set", "--format", "json")
    second = cli_workspace.run("eval", "retrieval", "real.set", "--fail-on-regression")

    assert (first.exit, second.exit) == (0, 0)
    overall = first.json["retrieval"]["rows"][0]
    assert overall["questions"] == first.json["summary"]["measured"]
    assert overall["hit_rates"][cutoff] >= least
    assert "PASSED: neither rate fell" in second.stdout
