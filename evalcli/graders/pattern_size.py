"""How big a pattern becomes when its fixed repeats are unfolded; estimated without compiling it.

The `regex` package unfolds `x{n}`, and the n of `x{n,}`, nested ones too, while it compiles, and
cannot be interrupted there. So the size is estimated first, and rather too high than too low.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod

_COUNT = re.compile(r"\{\s*([0-9][0-9\s]*)[^{}]*\}")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]?", re.DOTALL)
_COMMENT = re.compile(r"\(\?#[^)]*\)?")
_LINE_COMMENT = re.compile(r"#[^\n]*")
_HUGE = 10**9


def unfolded_size(pattern: str) -> int:
    """Estimate the number of steps that the `regex` package makes of a pattern.

    Units: steps of about 300 bytes each.
    """
    if "V1" in pattern:
        # Sets nest in that version, and with them parentheses that are none: take the worst.
        counts = (_read_count(count) for count in _COUNT.findall(pattern))
        return min(_HUGE, len(pattern) * prod(max(1, count) for count in counts))
    readings = [_Reading(pattern, has_line_comments=False)]
    if "#" in pattern:
        readings.append(_Reading(pattern, has_line_comments=True))
    return max(reading.size() for reading in readings)


def _read_count(digits: str) -> int:
    digits = "".join(digits.split())
    return int(digits) if len(digits) < len(str(_HUGE)) else _HUGE


@dataclass(slots=True)
class _Reading:
    """One walk over a pattern. `totals` holds the steps of each open group, the outermost first."""

    pattern: str
    has_line_comments: bool
    totals: list[int] = field(default_factory=lambda: [0])
    last: int = 0

    def size(self) -> int:
        position = 0
        while position < len(self.pattern):
            position = self._read_from(position)
        return sum(self.totals)

    def _read_from(self, position: int) -> int:
        """Take in what stands at `position`, and say where the next thing stands."""
        character = self.pattern[position]
        if character == "{" and (count := _COUNT.match(self.pattern, position)):
            self._repeat(_read_count(count.group(1)))
            return count.end()
        comment = self._find_comment(position)
        if comment is not None:
            return comment.end()
        if character == "(":
            self.totals.append(0)
            self.last = 0
        elif character == ")":
            self._close()
        elif character.isspace():
            # Where space does not count, a repeat after it is of what stands before it.
            self.totals[-1] += 1
        else:
            self.totals[-1] += 1
            self.last = 1
        return position + self._width(position)

    def _find_comment(self, position: int) -> re.Match[str] | None:
        if self.has_line_comments and (found := _LINE_COMMENT.match(self.pattern, position)):
            return found
        return _COMMENT.match(self.pattern, position)

    def _repeat(self, times: int) -> None:
        self.totals[-1] = min(_HUGE, self.totals[-1] + self.last * max(0, times - 1))
        self.last = min(_HUGE, self.last * max(1, times))

    def _close(self) -> None:
        inner = self.totals.pop() if len(self.totals) > 1 else 0
        self.last = inner + 1
        self.totals[-1] = min(_HUGE, self.totals[-1] + self.last)

    def _width(self, position: int) -> int:
        if self.pattern[position] == "\\":
            return 2
        if self.pattern[position] == "[" and (found := _CLASS.match(self.pattern, position)):
            return found.end() - position
        return 1
