"""JSON is read strictly, numbers exactly, and values are shown cut short."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.json_values import (
    JsonTextError,
    JsonValue,
    is_multiple,
    is_whole,
    json_tree,
    parse_json,
    show_json,
    show_path,
    take_off_fence,
)
from evalcli.protocols import AssertionFaultError

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


# --- reading ----------------------------------------------------------------------------------


@given(VALUES, st.booleans())
def test_reads_what_was_written(value: JsonValue, is_ascii: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=is_ascii)) == value


@given(st.text('{}[]",:0123456789.eE+- \\ntrufalsNI\n', max_size=20))
def test_accepts_exactly_what_strict_json_is(text: str) -> None:
    def refuse(_: str) -> None:
        raise ValueError

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    try:
        json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
        expected = True
    except ValueError:
        expected = False
    try:
        parse_json(text)
        accepted = True
    except JsonTextError:
        accepted = False
    assert accepted == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NaN", "is not JSON: NaN is no JSON number"),
        ("[Infinity]", "is not JSON: Infinity is no JSON number"),
        ('{"a": -Infinity}', "is not JSON: -Infinity is no JSON number"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', 'has the key "c" twice in one object'),
        ("\ufeff{}", "begins with a byte order mark (U+FEFF)"),
        ("", "is not one JSON value (Expecting value at line 1, column 1)"),
        ("{}\n{}", "is not one JSON value (Extra data at line 2, column 1)"),
        ("Sure! {}", "is not one JSON value (Expecting value at line 1, column 1)"),
        ("01", "is not one JSON value (Extra data at line 1, column 2)"),
        ("\u00a0{}", "is not one JSON value (Expecting value at line 1, column 1)"),
    ],
)
def test_what_is_no_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        parse_json(text)
    assert str(caught.value) == message
    assert caught.value.is_evaluated


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
        ('{"a":' * 50_000, "is nested too deeply"),
        ("1" * 100_000, "has a number that is too long"),
        ("0." + "1" * 100_000, "has a number that is too long"),
        ("1e99999999999999999999", "has a number that is too long"),
    ],
)
def test_what_is_too_much_to_be_read_is_not_evaluated(text: str, message: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        parse_json(text)
    assert str(caught.value) == message
    assert not caught.value.is_evaluated


def test_big_exponents_are_numbers() -> None:
    assert parse_json("1e400") == Decimal("1e400")


def test_lone_surrogates_are_kept() -> None:
    assert parse_json('"\\ud800"') == "\ud800"


# --- fences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("```json\n{}\n```", "{}\n"),
        ("```json\n{}\n```\n", "{}\n"),
        ("\n \t```\n{}\n  ```  ", "{}\n"),
        ("~~~ json with words\n{}\n~~~~", "{}\n"),
        ("```json\r\n{}\r\n```\r\n", "{}\n"),
        ("````\n```\n````", "```\n"),
        ("```\n~~~\n```", "~~~\n"),
        ("```\n```", ""),
        ("```\n{}", None),
        ("{}\n```", None),
        ("```{}```", None),
        ("`` \n{}\n``", None),
        ("```\n{}\n~~~", None),
        ("````\n{}\n```", None),
        ("Sure:\n```\n{}\n```", None),
        ("```\n{}\n```\nAnything else?", None),
        ("```\n{}\n```\n```\n{}\n```", None),
        ("{}", None),
    ],
)
def test_one_fence_around_everything_is_taken_off(text: str, inner: str | None) -> None:
    assert take_off_fence(text) == inner


# --- declared trees ---------------------------------------------------------------------------


def test_a_tree_has_yaml_values_and_text_keys() -> None:
    raw = {
        SourceScalar("type", "type"): SourceScalar("yes", "yes"),
        SourceScalar("1", 1): [SourceScalar("0x1F", 31), SourceScalar("true", True)],
        "none": SourceScalar("~", None),
    }
    assert json_tree(raw, ()) == {"type": "yes", "1": [31, True], "none": None}


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        ("2.1", 2.1, Decimal("2.1")),
        ("2.0", 2.0, 2),
        ("1e3", 1000.0, 1000),
        ("0.1000000000000000055", 0.1, Decimal("0.1000000000000000055")),
        ("1e400", float("inf"), Decimal("1e400")),
    ],
)
def test_numbers_are_those_that_were_written(
    source: str, value: float, expected: int | Decimal
) -> None:
    number = json_tree(SourceScalar(source, value), ())
    assert number == expected
    assert type(number) is type(expected) or source == "1e400"


@pytest.mark.parametrize(
    "raw",
    [SourceScalar(".nan", float("nan")), SourceScalar("-.inf", float("-inf")), float("inf")],
    ids=["nan", "inf", "float"],
)
def test_numbers_that_are_not_finite_are_faults_with_their_place(raw: object) -> None:
    with pytest.raises(AssertionFaultError, match="no finite number") as caught:
        json_tree({"enum": [1, raw]}, ("json_schema",))
    assert caught.value.path == ("json_schema", "enum", 1)


def test_other_values_are_faults() -> None:
    with pytest.raises(AssertionFaultError, match="no JSON value"):
        json_tree({"a": object()}, ())


def test_a_tree_that_holds_itself_is_a_fault() -> None:
    tree: dict[str, object] = {}
    tree["self"] = tree
    with pytest.raises(AssertionFaultError, match="nested too deeply"):
        json_tree(tree, ("json_schema",))


def test_a_tree_is_bounded() -> None:
    with pytest.raises(AssertionFaultError, match="more than 100,000 values"):
        json_tree([[0] * 1_000] * 1_000, ())


# --- numbers ----------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
)


@given(NUMBERS, NUMBERS.filter(lambda number: number > 0))
def test_multiples_are_exact(value: int | Decimal, divisor: int | Decimal) -> None:
    expected = (Fraction(value) / Fraction(divisor)).denominator == 1
    assert is_multiple(value, divisor) == expected


@pytest.mark.parametrize(
    ("value", "divisor", "expected"),
    [
        ("2.1", "0.1", True),
        ("0.3", "0.1", True),
        ("19.99", "0.01", True),
        ("2.15", "0.1", False),
        ("0", "0.1", True),
        ("-6", "3", True),
        ("1e999999999", "5", True),
        ("1e999999999", "3", False),
        ("1e-999999999", "1", False),
        ("1", "1e-999999999", True),
    ],
)
def test_multiples(value: str, divisor: str, expected: bool) -> None:
    assert is_multiple(Decimal(value), Decimal(divisor)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, True),
        (Decimal("1.0"), True),
        (Decimal("1e999999999"), True),
        (Decimal("1.5"), False),
        (Decimal("1e-999999999"), False),
        (True, False),
        ("1", False),
    ],
)
def test_whole_numbers(value: object, expected: bool) -> None:
    assert is_whole(value) == expected


# --- showing ----------------------------------------------------------------------------------


@given(VALUES)
def test_a_short_value_is_shown_as_json(value: JsonValue) -> None:
    assert show_json(value, 10_000) == json.dumps(value, ensure_ascii=False)


@given(VALUES, st.integers(5, 80))
def test_a_long_value_is_cut(value: JsonValue, limit: int) -> None:
    shown, whole = show_json(value, limit), json.dumps(value, ensure_ascii=False)
    assert len(shown) <= limit
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


def test_exact_numbers_are_shown_as_numbers() -> None:
    assert show_json([Decimal("2.10"), Decimal("1e400")]) == "[2.10, 1E+400]"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ([], ""),
        (["millions"], "millions"),
        (["items", 0, "name"], "items[0].name"),
        ([0, "a-b", "c d", ""], '[0].a-b["c d"][""]'),
        (["x" * 100], f'["{"x" * 58}…]'),
    ],
)
def test_places(path: list[str | int], text: str) -> None:
    assert show_path(path) == text
