"""The options that mean the same for every command that runs or grades a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ASK = "What is asked"
GATE = "Gate"
OUTPUT = "Output"

ResumeOption = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Finish this incomplete run: ask what is missing.",
        rich_help_panel=ASK,
    ),
]

FailOnRegressionOption = Annotated[
    bool,
    typer.Option(
        "--fail-on-regression",
        metavar="",
        help="Exit 1 on a regression, or where nothing could be compared.",
        rich_help_panel=GATE,
    ),
]

FloorOption = Annotated[
    str | None,
    typer.Option(metavar="0..1", help="Floor; exit 1 below it, always.", rich_help_panel=GATE),
]

RequireBaselineOption = Annotated[
    bool,
    typer.Option(
        "--require-baseline",
        metavar="",
        help="Exit 1 where there is no baseline yet.",
        rich_help_panel=GATE,
    ),
]

BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="WHICH",
        help="What to compare with: current, previous, a run or a file. (default: current)",
        rich_help_panel=GATE,
    ),
]

DraftOption = Annotated[
    bool,
    typer.Option("--draft", metavar="", help="Never becomes the baseline.", rich_help_panel=GATE),
]

JunitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit", metavar="FILE", help="Also write a JUnit report.", rich_help_panel=OUTPUT
    ),
]
