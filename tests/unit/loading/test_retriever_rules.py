"""Entries of `retrievers` in a file: every fault has its place and what to write instead."""

from __future__ import annotations

from textwrap import dedent

import pytest

from evalcli.errors import DeclarationError
from evalcli.loading.reader import read_workspace_file

GOOD = """\
    retrievers:
      handbook: {type: lexical, corpus: {files: 'docs/**/*.md', chunk: heading}, language: german}
      both: {type: hybrid, parts: [handbook, nr.lexical]}
      near: {type: vector, corpus: {jsonl: c.jsonl}, model: wordllama}
"""


def faults(text: str) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read_workspace_file(dedent(text).encode(), "evalcli.yaml", read_text=str)
    return [str(fault) for fault in caught.value.faults]


def test_good_entries_are_kept_raw() -> None:
    file = read_workspace_file(dedent(GOOD).encode(), "evalcli.yaml", read_text=str)

    assert set(file.retrievers) == {"handbook", "both", "near"}


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            "{type: lexcial, corpus: {files: '*.md'}}",
            '2:13: retrievers.r.type: there is no retriever of the type "lexcial"; write "lexical"',
        ),
        (
            "{type: hybrid, parts: [nr.lexical]}",
            "2:28: retrievers.r.parts: needs 2, has 1; add another",
        ),
        ("{type: hybrid, parts: []}", "2:28: retrievers.r.parts: is empty; add at least one"),
        ("{corpus: {files: '*.md'}}", '2:6: retrievers.r: the key "type" is missing; add "type:"'),
        (
            "{type: lexical, corpus: {files: '*.md'}, langauge: german}",
            '2:47: retrievers.r: unknown key "langauge"; write "language"',
        ),
        (
            "{type: lexical, corpus: {files: ../secrets/*}}",
            "2:38: retrievers.r.corpus.files: must stay inside the workspace",
        ),
        (
            "{type: lexical, corpus: {files: '*.md', chunk: {size: 100, overlap: 90}}}",
            "2:74: retrievers.r.corpus.chunk.overlap: is more than half of `size`",
        ),
        (
            "{type: hybrid, parts: [nr.lexical, gone]}",
            '2:41: retrievers.r.parts[1]: unknown retriever "gone"',
        ),
        (
            "{type: vector, corpus: {jsonl: c.jsonl}, model: wordlama}",
            '2:54: retrievers.r.model: unknown model "wordlama"; write "wordllama"',
        ),
    ],
)
def test_a_fault_is_placed(entry: str, fault: str) -> None:
    found = faults(f"retrievers:\n  r: {entry}\n")

    assert len(found) == 1
    assert found[0].startswith(f"evalcli.yaml:{fault}")
