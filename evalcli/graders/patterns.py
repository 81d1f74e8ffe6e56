"""The assertion `regex`: patterns of the `regex` package, checked at load, bounded in time.

Patterns are read in the package's version 0, which is compatible with `re`; `(?V1)` inside a
pattern switches to the newer behaviour. They are Unicode patterns, so the flag `u` says nothing
new and is accepted for those who write it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import regex

from evalcli.comparison.fingerprint import canonical_json
from evalcli.graders.bounds import (
    QUICK_LIMIT_S,
    TIME_LIMIT_S,
    BoundedAssertion,
    EvaluationImpossibleError,
    EvaluationStoppedError,
    cut,
    quote,
)
from evalcli.graders.pattern_size import unfolded_size
from evalcli.graders.text_match import ANSWER_FORMS, MAX_EXPLAINED_CHARS, required_text
from evalcli.protocols import AssertionFaultError

MAX_PATTERN_CHARS = 20_000
MAX_UNFOLDED = 50_000
"""The package unfolds `a{1000}` into a thousand steps; more than this many are refused."""

_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}
_KNOWN_FLAGS = "i m s x u"

# What YAML makes of these escapes in double quotes, where a pattern means something else by them.
_EATEN_ESCAPES = {
    "\0": r"\0",
    "\a": r"\a",
    "\b": r"\b",
    "\v": r"\v",
    "\f": r"\f",
    "\x1b": r"\e",
    "\x85": r"\N",
    "\u2028": r"\L",
    "\u2029": r"\P",
}

# On a stop that other threads brought about, the limit is doubled at most this often.
_MAX_TRIES = 6


def compile_pattern(text: str, flags: str = "", *, offset: int = 0) -> regex.Pattern[str]:
    """Check and compile a pattern.

    Units: `offset` counts the characters that stand before the pattern in its value, so that a
    fault names the place in the value.

    Raises:
        AssertionFaultError: the pattern is empty, invalid, too big, or lost its escapes.
    """
    if not text:
        raise AssertionFaultError("the pattern is empty", advice="write what to search for")
    _check_escapes(text, offset)
    if len(text) > MAX_PATTERN_CHARS:
        raise AssertionFaultError(
            f"the pattern has {len(text):,} characters, at most {MAX_PATTERN_CHARS:,} are allowed",
            advice="shorten it, or split it into several assertions",
        )
    if unfolded_size(text) > MAX_UNFOLDED:
        raise AssertionFaultError(
            f"the repeats of the pattern unfold to more than {MAX_UNFOLDED:,} steps",
            advice="repeat less, or nest fewer repeats",
        )
    bits = 0
    for flag in flags:
        bits |= _FLAGS.get(flag, 0)
    try:
        # The package's own cache would keep what belongs to one run.
        return regex.compile(text, bits, cache_pattern=False)
    except regex.error as exc:
        # The types of the package do not know what its errors carry.
        message, position = getattr(exc, "msg", str(exc)), getattr(exc, "pos", None)
        place = f" at character {position + offset + 1}" if isinstance(position, int) else ""
        raise AssertionFaultError(
            f"is not a valid pattern: {message}{place}", advice="correct the pattern"
        ) from exc
    except (RecursionError, MemoryError, OverflowError) as exc:
        raise AssertionFaultError(
            "the pattern is nested too deeply or too big", advice="simplify the pattern"
        ) from exc
    except Exception as exc:  # the package lets errors of its parser through
        raise AssertionFaultError(
            f"is not a valid pattern: {exc}", advice="correct the pattern"
        ) from exc


def _check_escapes(text: str, offset: int) -> None:
    """Refuse control characters: nobody types them, double quotes in YAML make them."""
    for position, character in enumerate(text):
        if character in "\t\n\r":
            continue
        escape = _EATEN_ESCAPES.get(character)
        if escape is None and not _is_control(character):
            continue
        made = f"; YAML makes it of {escape} in double quotes" if escape else ""
        raise AssertionFaultError(
            f"the pattern has the control character U+{ord(character):04X} "
            f"at character {position + offset + 1}{made}",
            advice="write the pattern in single quotes",
        )


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


def search_within(
    pattern: regex.Pattern[str], text: str, limit_s: float
) -> regex.Match[str] | None:
    """Search a text, for at most `limit_s` seconds of this thread's computing time.

    Raises:
        EvaluationStoppedError: that was not enough.
        EvaluationImpossibleError: the search ran out of memory.
    """
    allowed_s = limit_s
    for _ in range(_MAX_TRIES):
        started = time.thread_time()
        try:
            return pattern.search(text, concurrent=True, timeout=allowed_s)
        except TimeoutError:
            # The package counts the time of all threads of the process, which may have been
            # computing something else.
            if time.thread_time() - started >= 0.9 * limit_s:
                break
            allowed_s *= 2
        except (MemoryError, RecursionError) as exc:
            raise EvaluationImpossibleError("the search ran out of memory") from exc
    raise EvaluationStoppedError


# --- the assertion ----------------------------------------------------------------------------


class RegexType:
    """The pattern is found in the answer.

    Units: `limit_s` is the computing time of one search, in seconds.
    """

    name = "regex"
    options: frozenset[str] = frozenset()

    def __init__(self, limit_s: float = TIME_LIMIT_S) -> None:
        self._limit_s = limit_s

    def compile(self, value: object, options: Mapping[str, object]) -> CompiledRegex:
        """Check and compile the pattern; see `AssertionType.compile`."""
        try:
            written = read_pattern(required_text(self.name, value))
            pattern = compile_pattern(written.text, written.flags, offset=written.offset)
        except AssertionFaultError as fault:
            fault.path = (self.name,)
            raise
        return CompiledRegex(written, pattern, limit_s=self._limit_s)


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """A pattern as it was written: its text, its flags in order, what stood before it."""

    text: str
    flags: str = ""
    offset: int = 0

    @property
    def canonical_text(self) -> str:
        """The pattern without the escapes that only the delimiters asked for."""
        if not self.offset:
            return self.text
        parts = self.text.split("\\\\")
        return "\\\\".join(part.replace("\\/", "/") for part in parts)


def read_pattern(value: str) -> WrittenPattern:
    """Read a plain pattern, or `/pattern/flags` where the value begins with `/`.

    Raises:
        AssertionFaultError: the delimiters or the flags are wrong.
    """
    if not value.startswith("/"):
        return WrittenPattern(value)
    advice = r"escape a / of the pattern as \/, or drop the delimiters"
    end = _find_slash(value, 1)
    if end < 0:
        raise AssertionFaultError('begins with "/", and the closing "/" is missing', advice=advice)
    flags = value[end + 1 :]
    if "/" in flags:
        raise AssertionFaultError(
            f'has an unescaped "/" inside the pattern, at character {end + 1}', advice=advice
        )
    unknown = next((flag for flag in flags if flag not in _FLAGS and flag != "u"), None)
    if unknown is not None:
        raise AssertionFaultError(
            f'{quote(flags)} after the closing "/": unknown flag {quote(unknown)}, '
            f"known are {_KNOWN_FLAGS}",
            advice=f"correct the flags; or, if that / is part of the pattern, {advice}",
        )
    twice = next((flag for flag in flags if flags.count(flag) > 1), None)
    if twice is not None:
        raise AssertionFaultError(f'the flag "{twice}" is there twice', advice="write it once")
    meaningful = "".join(sorted(flags.replace("u", "")))
    return WrittenPattern(value[1:end], meaningful, offset=1)


def _find_slash(value: str, start: int) -> int:
    """Find the next `/` that no backslash escapes; -1 where there is none."""
    position = start
    while position < len(value):
        if value[position] == "\\":
            position += 1
        elif value[position] == "/":
            return position
        position += 1
    return -1


class CompiledRegex(BoundedAssertion):
    """`regex` with its compiled pattern."""

    held_text = "found in"

    def __init__(
        self, written: WrittenPattern, pattern: regex.Pattern[str], *, limit_s: float
    ) -> None:
        meaning = {"type": "regex", "pattern": written.canonical_text, "flags": written.flags}
        super().__init__(
            "regex",
            label=f"regex /{cut(written.text)}/{written.flags}",
            canonical=canonical_json(meaning),
            limit_s=limit_s,
        )
        self._pattern = pattern
        self._any_case: regex.Pattern[str] | None = None

    def find_failure(self, answer: str, limit_s: float) -> str | None:
        """Search the answer; see `BoundedAssertion.find_failure`."""
        if search_within(self._pattern, answer, limit_s) is not None:
            return None
        return f"not found in {quote(answer)}{self._explain(answer)}"

    def locate(self, answer: str) -> tuple[int, int] | None:
        """Find the match, where that is quick."""
        try:
            match = search_within(self._pattern, answer, QUICK_LIMIT_S)
        except (EvaluationStoppedError, EvaluationImpossibleError):
            return None
        return match.span() if match is not None else None

    def _explain(self, answer: str) -> str:
        """Say what alone kept the pattern from being found, where that is quick to find out."""
        if len(answer) > MAX_EXPLAINED_CHARS:
            return ""
        try:
            if self._search_any_case(answer):
                return " (differs only in case)"
            for form in ANSWER_FORMS:
                changed = form.apply(answer)
                if changed != answer and search_within(self._pattern, changed, QUICK_LIMIT_S):
                    return f" (differs only in {form.name})"
        except (EvaluationStoppedError, EvaluationImpossibleError):
            return ""
        return ""

    def _search_any_case(self, answer: str) -> bool:
        if self._pattern.flags & regex.IGNORECASE:
            return False
        if self._any_case is None:
            flags = self._pattern.flags | regex.IGNORECASE
            self._any_case = regex.compile(self._pattern.pattern, flags, cache_pattern=False)
        return search_within(self._any_case, answer, QUICK_LIMIT_S) is not None


REGEX = RegexType()
