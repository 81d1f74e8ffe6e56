"""Subjects as JSON: read strictly, every fault named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import NoReturn

from evalcli.declarations.profile import Profile, SubjectField
from evalcli.declarations.scalars import cite
from evalcli.records import Subject

_FIELDS = tuple(field.value for field in SubjectField)


class SubjectFaultError(ValueError):
    """A JSON text is no subject; `faults` says all that is wrong, each with what to write."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def read_subject(raw: bytes) -> Subject:
    """Read a subject from a JSON object with `task`, `candidate` and `evidence`.

    A field that is null is absent, an empty text is present, an empty list of evidence is absent.

    Raises:
        SubjectFaultError: it is something else, or has keys that mean nothing.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise SubjectFaultError((f"is no UTF-8 text (byte {exc.start + 1})",)) from exc
    try:
        # No number has a place in a subject, and `int` refuses those of thousands of digits.
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=float
        )
    except json.JSONDecodeError as exc:
        place = f"column {exc.colno}" if exc.lineno == 1 else f"line {exc.lineno}"
        raise SubjectFaultError((f"is no JSON: {exc.msg} ({place})",)) from exc
    except RecursionError as exc:
        raise SubjectFaultError(("is nested too deeply",)) from exc
    if not isinstance(value, dict):
        message = 'is no subject; write an object such as {"task": "…", "candidate": "…"}'
        raise SubjectFaultError((message,))
    faults = tuple(_faults(value))
    if faults:
        raise SubjectFaultError(faults)
    return Subject(
        task=value.get("task"),
        candidate=value.get("candidate"),
        evidence=tuple(value.get("evidence") or ()),
    )


def missing_fields(profile: Profile, subject: Subject) -> tuple[str, ...]:
    """Name the fields that a profile requires and a subject lacks. Pure."""
    return tuple(name.value for name in profile.requires if not subject.has(name))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for key, value in pairs:
        if key in fields:
            raise SubjectFaultError((f"has the key {cite(key)} twice; leave one out",))
        fields[key] = value
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise SubjectFaultError((f"has {name}, which is no JSON",))


def _faults(value: dict[str, object]) -> Iterator[str]:
    for key in value:
        if key not in _FIELDS:
            near = get_close_matches(key, _FIELDS, n=1)
            advice = f'write "{near[0]}"' if near else f"known: {', '.join(_FIELDS)}"
            yield f"has the unknown key {cite(key)}; {advice}"
    for key in ("task", "candidate"):
        if not isinstance(value.get(key), str | None):
            yield f"{key} is no text; write a text, or null where there is none"
    evidence = value.get("evidence")
    if evidence is None:
        return
    if not isinstance(evidence, list):
        yield "evidence is no list; write a list of texts"
        return
    for number, passage in enumerate(evidence):
        if not isinstance(passage, str):
            yield f"evidence[{number}] is no text; write a text"
