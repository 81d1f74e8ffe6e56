"""What lines of a batch add up to, also of a file that somebody has edited."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from evalcli.decisions.batch_tally import Tally
from evalcli.decisions.requirements import read_requirements
from tests.support.decisions import make_question

REQUIREMENTS = read_requirements(["q>=0.5"], make_question(type="yes_no"))


def make_line(value: object = 0.5, **fields: object) -> dict[str, Any]:
    return {
        "answers": {"q": {"value": value, "choice": None, "probabilities": {}, "confidence": None}},
        "input_tokens": 10,
        "output_tokens": 0,
        "cost_usd": "0.0001",
        **fields,
    }


def test_sums_requirements_and_failures() -> None:
    tally = Tally(REQUIREMENTS, total=3)
    for line in (make_line(), make_line(0.4999), {"error": {"code": "FAILED"}}):
        tally.add(line)
    assert (tally.done, tally.below, tally.failed) == (3, 1, {"FAILED": 1})
    assert tally.sums == {
        "input_tokens": Decimal(20),
        "output_tokens": Decimal(0),
        "cost_usd": Decimal("0.0002"),
    }


def test_a_sum_is_unknown_where_one_part_is() -> None:
    tally = Tally(REQUIREMENTS, total=3)
    for cost in ("0.1", None, "0.2"):
        tally.add(make_line(cost_usd=cost))
    assert tally.sums["cost_usd"] is None
    assert tally.sums["input_tokens"] == 30


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "1",
        "null",
        "{}",
        '{"error": null}',
        '{"error": {}}',
        '{"error": {"code": "ELSE"}}',
        '{"error": {"code": ["FAILED"]}}',
        json.dumps(make_line(answers={})),
        json.dumps(make_line(answers=[])),
        json.dumps(make_line(answers={"q": "0.5"})),
        json.dumps(make_line("0.5")),
        json.dumps(make_line([])),
        json.dumps(make_line(-0.1)),
        json.dumps(make_line(float("nan"))),
        json.dumps(make_line(float("inf"))),
        json.dumps(make_line(10**400)),
        json.dumps(make_line(answers={"q": {"value": 0.5, "choice": 1}})),
        json.dumps(make_line(cost_usd="free")),
        json.dumps(make_line(cost_usd="NaN")),
        json.dumps(make_line(cost_usd="1e999999")),
        json.dumps(make_line(cost_usd=0.1)),
        json.dumps(make_line(input_tokens="NaN")),
        json.dumps(make_line(input_tokens=[])),
    ],
)
def test_what_is_no_line_is_refused(raw: str) -> None:
    tally = Tally(REQUIREMENTS, total=1)
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        tally.add(json.loads(raw))
    assert tally.done == 0


def test_more_lines_than_subjects_are_refused() -> None:
    tally = Tally(REQUIREMENTS, total=1)
    tally.add(make_line())
    with pytest.raises(ValueError, match="more lines than subjects"):
        tally.add(make_line())
