"""The root command in little time: its groups are built when they are named.

`--version` and `--help` need their names only, and building every command takes about as long as
importing Typer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import typer
import typer.core
import typer.main

if TYPE_CHECKING:
    from rich.panel import Panel


class LazyGroup(typer.core.TyperGroup):
    """A root group that holds a stub for each group of `LazyTyper`, until it is named."""

    groups: ClassVar[dict[str, typer.Typer]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, group in self.groups.items():
            self.commands[name] = typer.core.TyperGroup(name=name, help=group.info.help)

    def resolve_command(  # type: ignore[override]  # the context is that of Typer's own Click
        self, ctx: typer.Context, args: list[str]
    ) -> tuple[Any, Any, list[str]]:
        """Find the command that was named, and build it."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in self.groups:
            command = _build(name)
        return name, command, rest

    def format_help(self, ctx: Any, formatter: object) -> None:
        """Show the help of the root command.

        Typer's own way loads a reader of Markdown, too, which takes longer than all of the rest.
        """
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text

        options = [
            (", ".join(option.opts), option.metavar or "", getattr(option, "help", None) or "")
            for option in self.get_params(ctx)
        ]
        commands = [(name, command.help or "") for name, command in self.commands.items()]
        console = Console()
        console.print(Padding(Text(ctx.get_usage(), style="bold"), 1))
        console.print(Padding(Text(self.help or ""), (0, 1, 1, 1)))
        console.print(_panel("Options", options), _panel("Commands", commands))


@cache
def _build(name: str) -> typer.core.TyperGroup:
    group = typer.main.get_group(LazyGroup.groups[name])
    group.name = name
    return group


def _panel(title: str, rows: Sequence[Sequence[str]]) -> Panel:
    """Draw rows in columns, as the help of every other command does."""
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for number, _ in enumerate(rows[0], start=1):
        is_last = number == len(rows[0])
        table.add_column(style="" if is_last else "bold cyan", no_wrap=not is_last)
    table.columns[-1].ratio = 1
    for row in rows:
        table.add_row(*map(Text, row))
    return Panel(table, title=title, title_align="left", border_style="dim")


class LazyTyper(typer.Typer):
    """An app whose groups are built by `LazyGroup`."""

    def add_typer(self, typer_instance: typer.Typer, *, name: str, **_: Any) -> None:  # type: ignore[override]  # a name is all that is needed
        """Add a group of commands."""
        LazyGroup.groups[name] = typer_instance
