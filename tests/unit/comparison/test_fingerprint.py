"""Fingerprints: equal exactly when what is measured is equal."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.comparison.fingerprint import (
    asked_fingerprint,
    canonical_json,
    deterministic_graded_fingerprint,
    fingerprint_of,
    system_fingerprint,
)
from evalcli.declarations.prompt_set import AssertionDeclaration, GoldenPrompt

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def make_prompt(**changes: object) -> GoldenPrompt:
    return GoldenPrompt.model_validate({"id": "a", "prompt": "When is it open?", **changes})


def test_canonical_json_sorts_keys_at_every_depth() -> None:
    assert canonical_json({"b": [{"z": 1, "y": 2}], "a": None}) == '{"a":null,"b":[{"y":2,"z":1}]}'


@given(_JSON)
def test_canonical_json_means_what_it_was_made_from(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@pytest.mark.parametrize(("number", "same"), [(1.0, 1), (-0.0, 0), (1e22, 10**22)])
def test_canonical_json_writes_equal_numbers_alike(number: float, same: int) -> None:
    assert canonical_json(number) == canonical_json(same)


def test_canonical_json_tells_true_from_one() -> None:
    assert canonical_json(True) != canonical_json(1)


def test_canonical_json_writes_a_lone_surrogate_as_an_escape() -> None:
    assert canonical_json("\ud800") == r'"\ud800"'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_canonical_json_refuses_what_json_does_not_have(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"limit": [number]})


@pytest.mark.parametrize("value", [{1: "a"}, {None: "a"}, b"bytes", {"a": {1, 2}}, object()])
def test_canonical_json_refuses_what_is_no_json_value(value: object) -> None:
    with pytest.raises(TypeError, match="JSON"):
        canonical_json(value)


def test_a_fingerprint_is_a_version_and_a_sha256() -> None:
    assert re.fullmatch(r"v1:[0-9a-f]{64}", asked_fingerprint(make_prompt()))


def test_a_fingerprint_is_the_same_for_ever() -> None:
    # printf %s '["asked",{"prompt":"When is it open?","system":null}]' | sha256sum
    assert asked_fingerprint(make_prompt()) == (
        "v1:0a1ea11ef7245039ab87d627e82616816b2b584a6f60b79b3ca589f3dadca59e"
    )


@pytest.mark.parametrize(
    "changes",
    [{"prompt": "When is it open? "}, {"system": "Be brief."}, {"system": ""}],
    ids=["prompt", "system", "empty system"],
)
def test_every_text_that_reaches_the_model_counts_as_asked(changes: dict[str, str]) -> None:
    assert asked_fingerprint(make_prompt(**changes)) != asked_fingerprint(make_prompt())


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "b"},
        {"reference": "Monday"},
        {"skip": "later"},
        {"assertions": (AssertionDeclaration(body={"contains": "Monday"}),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_nothing_else_counts_as_asked(changes: dict[str, object]) -> None:
    assert asked_fingerprint(make_prompt(**changes)) == asked_fingerprint(make_prompt())


def test_a_text_that_moves_from_prompt_to_system_counts_as_asked() -> None:
    here = make_prompt(prompt="a", system="b")
    there = make_prompt(prompt="b", system="a")
    assert asked_fingerprint(here) != asked_fingerprint(there)


@given(st.lists(st.text(), max_size=6).flatmap(lambda x: st.tuples(st.just(x), st.permutations(x))))
def test_the_order_of_assertions_does_not_count(orders: tuple[list[str], list[str]]) -> None:
    one, other = orders
    assert deterministic_graded_fingerprint(one) == deterministic_graded_fingerprint(other)


@given(st.lists(st.text(), max_size=6), st.lists(st.text(), max_size=6))
def test_graded_fingerprints_differ_when_the_assertions_do(
    one: list[str], other: list[str]
) -> None:
    is_same = deterministic_graded_fingerprint(one) == deterministic_graded_fingerprint(other)
    assert is_same == (sorted(one) == sorted(other))


def test_an_assertion_that_stands_there_twice_counts_twice() -> None:
    assert deterministic_graded_fingerprint(["a", "a"]) != deterministic_graded_fingerprint(["a"])


def test_assertions_cannot_be_joined_into_one() -> None:
    assert deterministic_graded_fingerprint(["a", "b"]) != deterministic_graded_fingerprint(
        ['a","b']
    )


def test_parts_with_equal_content_differ() -> None:
    assert fingerprint_of("asked", "x") != fingerprint_of("graded", "x")


def test_no_system_prompt_has_no_fingerprint() -> None:
    assert system_fingerprint(None) is None


def test_an_empty_system_prompt_is_one() -> None:
    assert system_fingerprint("") not in (None, system_fingerprint(" "))
