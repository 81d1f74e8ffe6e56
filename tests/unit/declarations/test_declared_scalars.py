"""How a scalar becomes text, a number, a flag; and what is no such thing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from evalcli.declarations.scalars import (
    Declaration,
    Exact,
    Flag,
    Json,
    LongText,
    NonEmptyText,
    SourceScalar,
    Text,
    Whole,
    cite,
    plain_value,
    source_value,
    text_of,
)
from evalcli.loading.yaml_scalars import core_value


class Every(Declaration):
    """One field of each type."""

    text: Text = ""
    filled: NonEmptyText = "x"
    long: LongText = ""
    whole: Whole = 0
    flag: Flag = False
    exact: Exact = Decimal(0)
    json_value: Json = None


def plain(text: str) -> SourceScalar:
    return SourceScalar(text, core_value(text))


def quoted(text: str) -> SourceScalar:
    return SourceScalar(text, text, is_plain=False)


@pytest.mark.parametrize("text", ["234_0", "007", "1e3", "0x1F", "12:30", "yes", "true", "1.10"])
def test_text_is_the_source(text: str) -> None:
    read = Every.model_validate({"text": plain(text), "filled": plain(text), "long": plain(text)})

    assert (read.text, read.filled, read.long) == (text, text, text)


@pytest.mark.parametrize("field", ["text", "filled", "long"])
@pytest.mark.parametrize("value", [plain(""), plain("null"), plain("~"), None, 3, [], ["x"]])
def test_no_text(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Every.model_validate({field: value})


@pytest.mark.parametrize("value", [quoted(""), quoted(" \n"), ""])
def test_blank_text_is_no_filled_text(value: object) -> None:
    assert Every.model_validate({"text": value}).text.strip() == ""
    with pytest.raises(ValidationError, match="is empty"):
        Every.model_validate({"filled": value})


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (plain("0.1"), "0.1"),
        (plain("0.10"), "0.10"),
        (plain("1e-2"), "0.01"),
        (plain("007"), "7"),
        (plain("0x1F"), "31"),
        (plain("0o17"), "15"),
        (plain(".5"), "0.5"),
        (plain("123456789012345678901234567890.1"), "123456789012345678901234567890.1"),
        (0.1, "0.1"),
        (3, "3"),
        (Decimal("0.30"), "0.30"),
        ("0.25", "0.25"),
    ],
)
def test_exact_numbers(value: object, number: str) -> None:
    assert str(Every.model_validate({"exact": value}).exact) == number


@pytest.mark.parametrize(
    "value",
    [
        *(plain(".nan"), plain(".inf"), plain("-.INF"), plain("1e9999"), plain("1e99999999999999")),
        *(plain("1_0"), plain("0,5"), plain("yes"), plain("true"), plain(""), quoted("0.1")),
        *(float("nan"), float("inf"), Decimal("NaN"), True, None, "x"),
    ],
)
def test_no_exact_number(value: object) -> None:
    with pytest.raises(ValidationError):
        Every.model_validate({"exact": value})


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000)
)
def test_every_decimal_is_kept(number: Decimal) -> None:
    assert Every.model_validate({"exact": plain(f"{number:f}")}).exact == number


@pytest.mark.parametrize(
    "value", [plain("1.0"), plain("1_0"), quoted("1"), plain("true"), True, "1"]
)
def test_no_whole_number(value: object) -> None:
    with pytest.raises(ValidationError):
        Every.model_validate({"whole": value})


def test_whole_numbers() -> None:
    assert Every.model_validate({"whole": plain("0x10")}).whole == 16


@pytest.mark.parametrize("value", [plain("yes"), plain("1"), quoted("true"), plain(""), 1, "true"])
def test_no_flag(value: object) -> None:
    with pytest.raises(ValidationError):
        Every.model_validate({"flag": value})


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False)])
def test_flags(text: str, value: bool) -> None:
    assert Every.model_validate({"flag": plain(text)}).flag is value


def test_long_text_needs_a_reader() -> None:
    with pytest.raises(ValidationError, match="in YAML files only"):
        Every.model_validate({"long": {"file": "x.md"}})
    read = Every.model_validate({"long": {"file": "x.md"}}, context={"read_text": str.upper})
    assert read.long == "X.MD"


TREE = {"a": [plain("1"), plain("007"), quoted("1"), plain("")], "b": {"c": plain("no")}}


def test_values_of_a_tree() -> None:
    assert plain_value(TREE) == {"a": [1, 7, "1", None], "b": {"c": "no"}}
    assert Every.model_validate({"json_value": TREE}).json_value == plain_value(TREE)


def test_texts_of_a_tree() -> None:
    assert source_value(TREE) == {"a": ["1", "007", "1", None], "b": {"c": "no"}}


@pytest.mark.parametrize(
    ("value", "text"), [(plain("1"), "1"), (plain("~"), None), ("x", "x"), (3, None), ([], None)]
)
def test_text_of_a_scalar(value: object, text: str | None) -> None:
    assert text_of(value) == text


def test_cited_texts_are_bounded() -> None:
    assert cite("x" * 60) == f'"{"x" * 60}"'
    assert cite("x" * 61) == f'"{"x" * 59}…"'


def test_errors_do_not_repeat_values() -> None:
    with pytest.raises(ValidationError) as caught:
        Every.model_validate({"whole": "sk-4711", "sk": "sk-4711"})

    assert "4711" not in str(caught.value)


def test_numbers_have_a_schema() -> None:
    schema = TypeAdapter(Text).json_schema()

    assert schema == {"type": ["string", "number", "boolean"]}
