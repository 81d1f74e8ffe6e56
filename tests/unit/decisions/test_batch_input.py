"""The file of a batch: read strictly, line by line, and again only while it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcli.decisions.batch_input import MAX_LINE, check_input, read_subjects
from evalcli.errors import DeclarationError, ExitStatus, UsageError
from evalcli.records import Subject
from tests.support.decisions import make_question

PROFILE = make_question(type="yes_no")

pytestmark = pytest.mark.anyio


async def test_bom_crlf_and_a_last_line_without_its_end_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"task": "a"}\r\n{"task": null, "candidate": ""}')
    checked = await check_input(path, PROFILE)
    assert list(read_subjects(checked, after=0)) == [
        (1, Subject(task="a")),
        (2, Subject(candidate="")),
    ]


async def test_line_that_is_too_long_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"task": "' + b"x" * (2 * MAX_LINE) + b'"}\n{"task": "b"}\n{"tas": 1}\n')
    with pytest.raises(DeclarationError) as caught:
        await check_input(path, PROFILE)
    assert [fault.line for fault in caught.value.faults] == [1, 3]
    assert "longer than 16 MB" in caught.value.faults[0].message


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xff\n", "is no UTF-8 text"),
        (b'{"task": NaN}\n', "has NaN"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b'{"task": ' + b"1" * 5_000 + b"}\n", "task is no text"),
    ],
    ids=["encoding", "nan", "depth", "long-number"],
)
async def test_hostile_line_is_a_fault(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(raw)
    with pytest.raises(DeclarationError, match=said):
        await check_input(path, PROFILE)


@pytest.mark.parametrize("after", [b'{"task": "b"}\n', b'{"task": "a"}\n{"task": "c"}\n', b"{\n"])
async def test_file_that_changed_is_not_read_on(tmp_path: Path, after: bytes) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"task": "a"}\n')
    checked = await check_input(path, PROFILE)
    path.write_bytes(after)
    with pytest.raises(UsageError, match="was changed") as caught:
        list(read_subjects(checked, after=0))
    assert caught.value.exit_status is ExitStatus.INCOMPLETE
