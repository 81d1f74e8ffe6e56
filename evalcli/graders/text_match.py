"""The assertions `exact` and `contains`, and what only just kept a text from matching."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalcli.comparison.fingerprint import canonical_json
from evalcli.declarations.scalars import SourceScalar
from evalcli.graders.bounds import quote
from evalcli.protocols import AssertionFaultError
from evalcli.records import AssertionOutcome

MAX_EXPLAINED_CHARS = 20_000
"""Longer answers are not searched for near misses, so that a failure stays cheap."""


def required_text(type_name: str, raw: object) -> str:
    """Read the value of an assertion that wants text: the very characters that were written.

    Raises:
        AssertionFaultError: the value is empty, null, or no text.
    """
    path = (type_name,)
    if isinstance(raw, SourceScalar) and raw.value is None and raw.text:
        advice = f'quote it: "{raw.text}"'
        raise AssertionFaultError("is null where text is needed", advice=advice, path=path)
    text = raw.text if isinstance(raw, SourceScalar) else raw
    if text is None or text == "":
        raise AssertionFaultError("is empty", advice="write the text", path=path)
    if not isinstance(text, str):
        advice = f'write one text, such as {type_name}: "Monday"'
        raise AssertionFaultError("must be text", advice=advice, path=path)
    return text


class ExactType:
    """The answer is this text, apart from white space around both.

    White space is what `str.strip` removes: every Unicode space, tabs and line breaks.
    """

    name = "exact"
    options: frozenset[str] = frozenset()

    def compile(self, value: object, options: Mapping[str, object]) -> CompiledExact:
        """Check the value; see `AssertionType.compile`."""
        text = required_text(self.name, value).strip()
        if not text:
            raise AssertionFaultError(
                "is only white space, and answers are compared without it",
                advice="write the text of the answer",
                path=(self.name,),
            )
        return CompiledExact(text)


class ContainsType:
    """The answer has this text in it, character by character; case matters."""

    name = "contains"
    options: frozenset[str] = frozenset()

    def compile(self, value: object, options: Mapping[str, object]) -> CompiledContains:
        """Check the value; see `AssertionType.compile`."""
        return CompiledContains(required_text(self.name, value))


class CompiledExact:
    """`exact` with its text."""

    may_be_slow = False
    held_text = "the answer is"

    def __init__(self, text: str) -> None:
        self.canonical = canonical_json({"type": "exact", "value": text})
        self.label = f"exact {quote(text)}"
        self._text = text
        self._passed = AssertionOutcome("exact", passed=True)

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Compare one answer."""
        seen = answer.strip()
        if seen == self._text:
            return self._passed
        hint = explain_difference(seen, self._text, lambda given, wanted: given == wanted)
        reason = f"{self.label}: the answer is {quote(seen)}{hint}"
        return AssertionOutcome("exact", passed=False, reason=reason)

    def locate(self, answer: str) -> tuple[int, int] | None:
        """Find the text in an answer that equals it: where the white space ends."""
        start = len(answer) - len(answer.lstrip())
        return start, start + len(self._text)


class CompiledContains:
    """`contains` with its text."""

    may_be_slow = False
    held_text = "found in"

    def __init__(self, text: str) -> None:
        self.canonical = canonical_json({"type": "contains", "value": text})
        self.label = f"contains {quote(text)}"
        self._text = text
        self._passed = AssertionOutcome("contains", passed=True)

    def evaluate(self, answer: str) -> AssertionOutcome:
        """Search one answer."""
        if self._text in answer:
            return self._passed
        hint = explain_difference(answer, self._text, lambda given, wanted: wanted in given)
        reason = f"{self.label}: not in {quote(answer)}{hint}"
        return AssertionOutcome("contains", passed=False, reason=reason)

    def locate(self, answer: str) -> tuple[int, int] | None:
        """Find the text in an answer that holds it."""
        start = answer.find(self._text)
        return (start, start + len(self._text)) if start >= 0 else None


EXACT = ExactType()
CONTAINS = ContainsType()


# --- near misses ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """One way to make texts alike, and what the difference is called that it removes."""

    name: str
    apply: Callable[[str], str]


def _plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _plain_space(text: str) -> str:
    return " ".join(text.split())


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


ANSWER_FORMS = (
    Form("line ends", _plain_line_ends),
    Form("surrounding white space", str.strip),
    Form("Unicode normalisation (NFC)", _composed),
    Form("Unicode normalisation (NFD)", lambda text: unicodedata.normalize("NFD", text)),
    Form("Unicode normalisation (NFKC)", _compatible),
)
"""What can be done to an answer where what is wanted is a pattern, the mildest first."""

# The strongest first: each is left out again where the others do without it.
_FORMS = (
    Form("Unicode normalisation (NFKC)", _compatible),
    Form("Unicode normalisation (NFC)", _composed),
    Form("white space", _plain_space),
    Form("line ends", _plain_line_ends),
    Form("case", str.casefold),
)


def explain_difference(seen: str, wanted: str, matches: Callable[[str, str], bool]) -> str:
    """Say what alone keeps two texts from matching, as ` (differs only in case)`, else nothing.

    `matches` takes what was seen and what was wanted, in this order.
    """
    if len(seen) > MAX_EXPLAINED_CHARS or len(wanted) > MAX_EXPLAINED_CHARS:
        return ""
    if seen.isascii() and wanted.isascii():
        # Quick for the usual case: what is not there word by word is not there in any form.
        lower = seen.lower()
        if any(word not in lower for word in wanted.lower().split()):
            return ""
    needed = list(_FORMS)
    if not _matches_with(needed, seen, wanted, matches):
        return ""
    for form in _FORMS:
        rest = [other for other in needed if other is not form]
        if _matches_with(rest, seen, wanted, matches):
            needed = rest
    names = [form.name for form in reversed(needed)]
    return f" (differs only in {' and '.join(names)})" if names else ""


def _matches_with(
    forms: list[Form], seen: str, wanted: str, matches: Callable[[str, str], bool]
) -> bool:
    for form in forms:
        seen, wanted = form.apply(seen), form.apply(wanted)
    return wanted != "" and matches(seen, wanted)
