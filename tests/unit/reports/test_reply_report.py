"""What a retriever returned to one question, at several widths."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from evalcli.records import Ranking, RetrievedDocument, RetrieverReply
from evalcli.reports.reply_report import render_reply


def make_reply(*identifiers: str) -> RetrieverReply:
    documents = tuple(RetrievedDocument(one, 12.5) for one in identifiers)
    ranking = Ranking(documents=documents, returned=len(documents))
    passages = dict.fromkeys(identifiers, "A passage of some length. " * 20)
    return RetrieverReply("site", "Where?", ranking, passages, ())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_a_reply_is_wider_than_the_terminal(width: int) -> None:
    identifiers = ["docs/a.md", "docs/" + "section-" * 30, "x" * (width - 8), "文書" * 40]

    lines = [line.plain for line in render_reply(make_reply(*identifiers)).lines(width)]

    assert max(cell_len(line) for line in lines) <= width
    joined = "".join(line.strip() for line in lines)
    assert all(one in joined for one in identifiers)
    assert joined.count("12.5") == len(identifiers)


def test_an_id_of_megabytes_is_cut() -> None:
    [line] = [
        line.plain
        for line in render_reply(make_reply("y" * 2_000_000)).lines(None)
        if line.plain.startswith("  1")
    ]

    assert len(line) < 1100
    assert "…" in line
