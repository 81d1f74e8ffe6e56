"""What all commands share: the options that mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer


class OutputFormat(StrEnum):
    """How a command answers on stdout."""

    TABLE = "table"
    JSON = "json"


@dataclass(slots=True)
class State:
    """What the command line said that holds for the whole invocation."""

    workspace: Path | None = None
    verbosity: int = 0
    output_format: OutputFormat = OutputFormat.TABLE


def state_of(ctx: typer.Context) -> State:
    """Find the state of this invocation, making it where the root command did not."""
    root = ctx.find_root()
    if not isinstance(root.obj, State):
        root.obj = State()
    return cast("State", root.obj)


def _remember_workspace(ctx: typer.Context, value: Path | None) -> Path | None:
    state = state_of(ctx)
    if value is not None:
        state.workspace = value
    return state.workspace


def _remember_format(ctx: typer.Context, value: OutputFormat) -> OutputFormat:
    state_of(ctx).output_format = value
    return value


def _remember_verbosity(ctx: typer.Context, value: int) -> int:
    state = state_of(ctx)
    state.verbosity = max(state.verbosity, value)
    return state.verbosity


WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        help="Folder with evalcli.yaml. (default: EVALCLI_WORKSPACE, else the nearest upwards)",
        callback=_remember_workspace,
        show_default=False,
    ),
]

FormatOption = Annotated[
    OutputFormat,
    typer.Option(
        "--format",
        help="How to answer on stdout.",
        callback=_remember_format,
        is_eager=True,
    ),
]

VerboseOption = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        metavar="",
        help="Say more on stderr; twice for debugging.",
        callback=_remember_verbosity,
        show_default=False,
    ),
]
