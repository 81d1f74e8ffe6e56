"""Declared assertions → compiled ones, or every fault: which key names the type, options, `not`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from evalcli.declarations.scalars import SourceScalar, cite
from evalcli.errors import ConfigurationError
from evalcli.graders.negation import NegatedAssertion
from evalcli.graders.plugin_guard import GuardedAssertion
from evalcli.plugins import BUILTIN, load_assertion_type, plugin_names
from evalcli.protocols import AssertionFaultError, AssertionType, CompiledAssertion

NOT = "not"

LoadType = Callable[[str], AssertionType]
"""Finds a type by its name; raises ConfigurationError where it cannot be loaded."""


def check_assertion(
    body: Mapping[object, object], *, load_type: LoadType = load_assertion_type
) -> list[AssertionFaultError]:
    """Give every fault of one declared assertion; none where it can be used.

    Shapes: keys are text or `SourceScalar`s, values may be trees of `SourceScalar`.
    """
    try:
        compile_assertion(body, load_type=load_type)
    except AssertionFaultError as fault:
        return [fault, *fault.others]
    return []


def compile_assertion(
    body: Mapping[object, object], *, load_type: LoadType = load_assertion_type
) -> CompiledAssertion:
    """Compile one declared assertion; see `check_assertion` for its form.

    Raises:
        AssertionFaultError: it cannot be used; `others` has further faults.
    """
    entries = {_key_text(key): value for key, value in body.items()}
    name = _find_type(entries)
    if name == NOT:
        return _compile_negated(entries, load_type)
    return _compile_plain(name, entries, load_type)


def _key_text(key: object) -> str:
    return key.text if isinstance(key, SourceScalar) else str(key)


def _find_type(entries: Mapping[str, object]) -> str:
    """Find the one key that names the type."""
    known = (*plugin_names("assertions"), NOT)
    named = [key for key in entries if key in known]
    if len(named) == 1:
        return named[0]
    if named:
        raise AssertionFaultError(
            f"has two types in one mapping, {cite(named[0])} and {cite(named[1])}",
            advice="split them: give each its own item in the list",
        )
    names = f"write one of {', '.join(known)}"
    if not entries:
        raise AssertionFaultError("is empty", advice=names)
    near = {key: get_close_matches(key, known, n=1) for key in entries}
    key = next((key for key in entries if near[key]), next(iter(entries)))
    raise AssertionFaultError(
        f"unknown key {cite(key)}", advice=f'write "{near[key][0]}"' if near[key] else names
    )


def _compile_plain(
    name: str, entries: Mapping[str, object], load_type: LoadType
) -> CompiledAssertion:
    """Compile an assertion of one type, with its options."""
    assertion_type = _load(name, load_type)
    options = {key: value for key, value in entries.items() if key in assertion_type.options}
    faults = [
        _unknown_option(key, name, assertion_type.options)
        for key in entries
        if key != name and key not in options
    ]
    try:
        compiled = _compile_value(name, assertion_type, entries[name], options)
    except AssertionFaultError as fault:
        faults += [fault, *fault.others]
    if faults:
        raise AssertionFaultError.of(faults)
    return compiled


def _load(name: str, load_type: LoadType) -> AssertionType:
    try:
        return load_type(name)
    except ConfigurationError as exc:
        raise AssertionFaultError(exc.message, advice=exc.advice, path=(name,)) from exc


def _unknown_option(key: str, name: str, options: frozenset[str]) -> AssertionFaultError:
    near = get_close_matches(key, options, n=1)
    if near:
        advice = f'write "{near[0]}"'
    elif options:
        advice = f"known beside {name}: {', '.join(sorted(options))}"
    else:
        advice = f"take it away: {name} has no options"
    return AssertionFaultError(f"unknown key {cite(key)} beside {name}", advice=advice, path=(key,))


def _compile_value(
    name: str, assertion_type: AssertionType, value: object, options: Mapping[str, object]
) -> CompiledAssertion:
    if name in BUILTIN["assertions"]:
        return assertion_type.compile(value, options)
    try:
        return GuardedAssertion(name, assertion_type, assertion_type.compile(value, options))
    except AssertionFaultError:
        raise
    except Exception as exc:  # whatever a plug-in raises is a fault of the file
        raise AssertionFaultError(
            f"the plug-in of {cite(name)} raised {type(exc).__name__}: {exc}",
            advice="correct the value, or repair the package that brings the plug-in",
            path=(name,),
        ) from exc


# --- not --------------------------------------------------------------------------------------


def _compile_negated(entries: Mapping[str, object], load_type: LoadType) -> CompiledAssertion:
    """Compile what stands under `not`; options belong in there, too."""
    faults = [
        AssertionFaultError(
            f"unknown key {cite(key)} beside not",
            advice="options stand inside the mapping under not, beside the type",
            path=(key,),
        )
        for key in entries
        if key != NOT
    ]
    try:
        compiled = _compile_inner(entries[NOT], load_type)
    except AssertionFaultError as fault:
        for each in (fault, *fault.others):
            each.path = (NOT, *each.path)
            faults.append(each)
    if faults:
        raise AssertionFaultError.of(faults)
    return compiled


def _compile_inner(body: object, load_type: LoadType) -> CompiledAssertion:
    if not isinstance(body, Mapping):
        raise AssertionFaultError(
            "must be an assertion", advice='write a type and its value, as "not: {contains: …}"'
        )
    if NOT in map(_key_text, body):
        raise AssertionFaultError("not inside not", advice="leave both out")
    return NegatedAssertion(compile_assertion(body, load_type=load_type))
