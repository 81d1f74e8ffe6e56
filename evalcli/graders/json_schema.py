"""The assertion `json_schema`: the whole answer is one JSON value that satisfies a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from jsonschema.protocols import Validator
from referencing import Registry

from evalcli.comparison.fingerprint import canonical_json
from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.bounds import (
    TIME_LIMIT_S,
    BoundedAssertion,
    EvaluationImpossibleError,
    quote,
)
from evalcli.graders.json_keywords import Evaluation, bounded_class, find_errors
from evalcli.graders.json_reasons import word_errors
from evalcli.graders.json_schema_check import CheckedSchema, check_schema
from evalcli.graders.json_values import (
    JsonTextError,
    JsonValue,
    json_tree,
    parse_json,
    plain_numbers,
    show_json,
    take_off_fence,
)
from evalcli.protocols import AssertionFaultError
from evalcli.records import AssertionOutcome

MAX_ANSWER_CHARS = 500_000
"""Longer answers are not evaluated."""

MAX_QUICK_CHARS = 20_000
"""Longer answers are not read while other answers wait."""

_MAX_ERRORS = 20
_MAX_LABEL_CHARS = 40


class JsonSchemaType:
    """The whole answer is one JSON value that satisfies the schema.

    Options: `unwrap: fence` accepts one code fence around it, `formats: true` enforces `format`.

    Units: `limit_s` is the computing time of one evaluation, in seconds.
    """

    name = "json_schema"
    options = frozenset({"unwrap", "formats"})

    def __init__(self, limit_s: float = TIME_LIMIT_S) -> None:
        self._limit_s = limit_s

    def compile(self, value: object, options: Mapping[str, object]) -> CompiledJsonSchema:
        """Check the schema and its options; see `AssertionType.compile`."""
        path = (self.name,)
        faults: list[AssertionFaultError] = []
        try:
            unwraps = _read_unwrap(options.get("unwrap", _ABSENT))
        except AssertionFaultError as fault:
            faults.append(fault)
        try:
            enforces_formats = _read_formats(options.get("formats", _ABSENT))
        except AssertionFaultError as fault:
            faults.append(fault)
            enforces_formats = False
        try:
            checked = check_schema(
                _read_schema(value, path), path, enforces_formats=enforces_formats
            )
        except AssertionFaultError as fault:
            faults += [fault, *fault.others]
        if faults:
            raise AssertionFaultError.of(faults)
        return CompiledJsonSchema(
            checked, unwraps=unwraps, enforces_formats=enforces_formats, limit_s=self._limit_s
        )


_ABSENT = object()


def _read_unwrap(raw: object) -> bool:
    value = raw.value if isinstance(raw, SourceScalar) else raw
    if value in (_ABSENT, "fence"):
        return value == "fence"
    raise AssertionFaultError(
        "must be `fence`", advice="write `unwrap: fence`, or leave it out", path=("unwrap",)
    )


def _read_formats(raw: object) -> bool:
    value = raw.value if isinstance(raw, SourceScalar) else raw
    if value is _ABSENT or isinstance(value, bool):
        return value is True
    raise AssertionFaultError(
        "must be true or false", advice="write it without quotes", path=("formats",)
    )


def _read_schema(raw: object, path: tuple[str | int, ...]) -> JsonValue:
    """Read a schema: a tree, or the JSON text of one."""
    value = raw.value if isinstance(raw, SourceScalar) else raw
    if value is None or value == "":
        raise AssertionFaultError(
            "is empty", advice="write the schema, or `true` to accept any JSON", path=path
        )
    if not isinstance(value, str):
        return json_tree(raw, path)
    try:
        return json_tree(parse_json(value), path)
    except JsonTextError as exc:
        raise AssertionFaultError(
            f"the text {exc}", advice="write a mapping, or correct the JSON text", path=path
        ) from exc


class CompiledJsonSchema(BoundedAssertion):
    """`json_schema` with its checked schema."""

    held_text = "satisfied by"

    def __init__(
        self, checked: CheckedSchema, *, unwraps: bool, enforces_formats: bool, limit_s: float
    ) -> None:
        meaning = {
            "type": "json_schema",
            "dialect": checked.dialect,
            "schema": plain_numbers(checked.meaning),
            "unwrap": unwraps,
            "formats": enforces_formats,
        }
        super().__init__(
            "json_schema",
            label=f"json_schema {show_json(checked.meaning, _MAX_LABEL_CHARS)}",
            canonical=canonical_json(meaning),
            limit_s=limit_s,
        )
        self._checked = checked
        self._unwraps = unwraps
        self._enforces_formats = enforces_formats
        self._validator = self._make_validator(checked)

    @staticmethod
    def _make_validator(checked: CheckedSchema) -> Validator:
        # An empty registry: a reference that was missed would be an error, never a request.
        tree = cast("dict[str, object] | bool", checked.tree)
        return bounded_class(checked.stock)(tree, registry=Registry())

    def try_quickly(self, answer: str) -> AssertionOutcome | None:
        """Evaluate a short answer at once; see `BoundedAssertion.try_quickly`."""
        return super().try_quickly(answer) if len(answer) <= MAX_QUICK_CHARS else None

    def find_failure(self, answer: str, limit_s: float) -> str | None:
        """Read and evaluate the answer; see `BoundedAssertion.find_failure`."""
        if len(answer) > MAX_ANSWER_CHARS:
            raise EvaluationImpossibleError(f"longer than {MAX_ANSWER_CHARS:,} characters")
        inner = take_off_fence(answer)
        if inner is not None and not self._unwraps:
            return 'the answer is in a code fence, which "unwrap: fence" would accept'
        try:
            value = parse_json(answer if inner is None else inner)
        except JsonTextError as exc:
            if not exc.is_evaluated:
                raise EvaluationImpossibleError(f"the answer {exc}") from exc
            return f"the answer {exc}: {quote(answer)}"
        evaluation = Evaluation(self._checked.patterns, self._enforces_formats, limit_s)
        errors = find_errors(self._validator, value, evaluation, at_most=_MAX_ERRORS)
        return word_errors(errors) if errors else None


JSON_SCHEMA = JsonSchemaType()
