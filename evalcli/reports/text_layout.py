"""Lines of a report: measured in terminal cells, wrapped and aligned where there is a terminal.

Without a terminal (`width` None) nothing is wrapped and nothing is cut. Text comes in harmless
already (`plain_text`); it is kept in `rich.text.Text`, which reads no markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, chop_cells
from rich.text import Text

MIN_WIDTH = 40
"""Narrower terminals get lines of this many cells; below it no column makes sense."""

_COMMANDS_WHOLE = re.compile(r" *(?:`[^`]*`|[^ `]|`)+| +")
_WORDS = re.compile(r" *[^ ]+| +")
_GAP = "   "
_DOT = " · "


def cut_to_width(text: str, width: int) -> str:
    """Cut text to so many cells; a cut text ends in `…`."""
    if cell_len(text) <= width:
        return text
    pieces = chop_cells(text[: 4 * width], max(1, width - 1))
    return pieces[0].rstrip() + "…"


def pad_to_width(text: str, width: int, *, is_right: bool = False) -> str:
    """Fill up with spaces to so many cells; longer text stays as it is."""
    space = " " * max(0, width - cell_len(text))
    return space + text if is_right else text + space


def wrap_text(text: str, width: int) -> list[str]:
    """Break one line at spaces so that each piece fits into `width` cells.

    A command between backticks is broken only when it is longer than a line. Spaces at the
    beginning and within a line are kept.
    """
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    line, size = "", 0
    for token in _tokens(text, width):
        token_size = cell_len(token)
        if line and size + token_size > width:
            lines.append(line.rstrip(" "))
            line, size = "", 0
            token = token.lstrip(" ")
            token_size = cell_len(token)
        if token_size > width:
            *full, token = chop_cells(token, width)
            lines.extend(full)
            token_size = cell_len(token)
        line += token
        size += token_size
    return [*lines, line.rstrip(" ")] if line.strip(" ") or not lines else lines


def _tokens(text: str, width: int) -> Iterable[str]:
    for token in _COMMANDS_WHOLE.findall(text):
        if cell_len(token) <= width:
            yield token
        else:
            yield from _WORDS.findall(token)


@dataclass(slots=True)
class Page:
    """Collects the lines of one report.

    Units: `width` in cells, None where there is no terminal.
    """

    width: int | None
    lines: list[Text] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.width is not None:
            self.width = max(MIN_WIDTH, self.width)

    def blank(self) -> None:
        """Add an empty line, but never two and none at the top."""
        if self.lines and self.lines[-1].plain:
            self.lines.append(Text())

    def say(
        self, text: str, *, lead: str = "", style: str = "", indent: int = 0, hang: int = 0
    ) -> None:
        """Add one sentence, wrapped; `style` marks its `lead`, or all of it without one.

        Units: `indent` in cells for all lines, `hang` further ones for all but the first.
        """
        whole = lead + text
        if self.width is None:
            pieces = [whole]
        else:
            pieces = self._wrap_hanging(whole, self.width - indent, hang)
        for number, piece in enumerate(pieces):
            before = " " * (indent + (hang if number else 0))
            line = Text(before + piece)
            if lead and number == 0:
                line.stylize(style, len(before), len(before) + len(lead))
            elif not lead and style:
                line.stylize(style, len(before))
            self.lines.append(line)

    @staticmethod
    def _wrap_hanging(text: str, width: int, hang: int) -> list[str]:
        first, *rest = wrap_text(text, width)
        if not rest:
            return [first]
        # The lines after the first have less room: wrap again what did not fit on it.
        remainder = text[len(first) :].lstrip(" ")
        return [first, *wrap_text(remainder, width - hang)]

    def label(self, name: str, text: str, *, name_width: int = 14, style: str = "") -> None:
        """Add an indented fact under a sentence: its name, then its text under itself."""
        lead = pad_to_width(name, name_width) + "  "
        self.say(text, lead=lead, style=style, indent=2, hang=name_width + 2)

    def facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Add facts with names, as many on a line as fit; one a line without a terminal."""
        if self.width is None:
            name_width = max(cell_len(name) for name, _ in pairs)
            for name, value in pairs:
                self.lines.append(Text(f"{pad_to_width(name, name_width)}  {value}"))
            return
        self._pack([f"{name}  {value}" for name, value in pairs], _GAP, self.width, "")

    def heading(self, parts: Sequence[str]) -> None:
        """Add a bold line of parts, broken only between them where it is too long."""
        if self.width is None:
            self.lines.append(Text(_DOT.join(parts), style="bold"))
        else:
            self._pack(parts, _DOT, self.width, "bold")

    def _pack(self, parts: Sequence[str], between: str, width: int, style: str) -> None:
        line = ""
        for part in parts:
            if line and cell_len(line + between + part) > width:
                self.say(line, style=style)
                line = ""
            line += (between if line else "") + part
        self.say(line, style=style)

    def columns(self, left: Sequence[str], right: Sequence[str], *, indent: int) -> None:
        """Add two texts beside each other; needs a terminal."""
        if self.width is None:
            raise ValueError("columns need a width")
        half = column_width(self.width, indent)
        for number in range(max(len(left), len(right))):
            first = left[number] if number < len(left) else ""
            second = right[number] if number < len(right) else ""
            line = f"{' ' * indent}{pad_to_width(first, half)} │ {second}"
            self.lines.append(Text(line.rstrip(" ")))


@dataclass(frozen=True, slots=True)
class Report:
    """A report that is not laid out yet: only the console knows how wide it may be."""

    write: Callable[[Page], None]

    def lines(self, width: int | None) -> list[Text]:
        """Lay the report out for a terminal of `width` cells, None for anything else."""
        page = Page(width)
        self.write(page)
        for line in page.lines:
            line.rstrip()
        while page.lines and not page.lines[-1].plain:
            page.lines.pop()
        return page.lines

    def text(self, width: int | None) -> str:
        """Lay the report out as text without styles."""
        return "".join(f"{line.plain}\n" for line in self.lines(width))


def column_width(width: int, indent: int) -> int:
    """Give the cells of each of two texts beside each other."""
    return (width - indent - 3) // 2


def fit_widths(widths: Sequence[int], least: Mapping[int, int], width: int | None) -> list[int]:
    """Narrow the columns of a table, two spaces apart, to the width of a terminal.

    The widest gives first, so that no text is cut beyond recognition beside one that is whole.

    Shapes: `widths` one number a column, 0 for one that is left out; `least` holds, by number of
    column, how narrow those may become that may be narrowed.
    """
    fitted = list(widths)
    if width is None:
        return fitted
    surplus = sum(column + 2 for column in fitted if column) - 2 - width
    for _ in range(max(0, surplus)):
        widest = max(least, key=lambda column: fitted[column] - least[column])
        fitted[widest] -= 1 if fitted[widest] > least[widest] else 0
    return fitted
