"""Each command has help, and so has each of its options and arguments."""

from __future__ import annotations

import pytest
from rich.text import Text

from tests.docs.refill import command_words, commands, help_text


@pytest.mark.parametrize("words", list(command_words()), ids=lambda words: " ".join(words) or "-")
def test_command_says_what_it_does(words: tuple[str, ...]) -> None:
    first, _, rest = help_text(words).partition("\n")
    assert first.startswith(f"Usage: {' '.join(['evalcli', *words])}")
    sentence = rest.strip().splitlines()[0].strip()
    assert sentence[0].isupper()
    assert sentence.endswith((".", ";", ","))


def test_options_and_arguments_have_help() -> None:
    silent = [
        (*words, parameter.name)
        for words, command in commands()
        for parameter in command.params
        if not getattr(parameter, "help", None)
    ]
    assert silent == []


def test_help_is_shown_as_it_is_written() -> None:
    """Rich takes words in brackets for a style and leaves them out."""
    changed = [
        (*words, parameter.name)
        for words, command in commands()
        for parameter in command.params
        if Text.from_markup(getattr(parameter, "help", "")).plain != getattr(parameter, "help", "")
    ]
    assert changed == []
