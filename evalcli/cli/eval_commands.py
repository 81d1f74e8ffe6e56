"""evalcli eval: run a golden set, grade it, compare it with its baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalcli.cli.context import (
    FormatOption,
    OutputFormat,
    State,
    VerboseOption,
    WorkspaceOption,
    state_of,
)
from evalcli.cli.run_output import check_writable, end_with
from evalcli.errors import UsageError

if TYPE_CHECKING:
    from evalcli.runs.options import RunOptions

eval_app = typer.Typer(no_args_is_help=True, help="Run golden sets, grade them, gate on them.")

_ASK = "What is asked"
_GATE = "Gate"
_OUTPUT = "Output"

GraderConfigurationOption = Annotated[
    str | None,
    typer.Option(
        "--grader-configuration",
        metavar="NAME",
        help="Configuration that judges. [default: decision.configuration]",
        rich_help_panel=_ASK,
    ),
]


@eval_app.command("run")
def run_command(
    ctx: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="SET", help="The golden prompt set.")],
    configuration: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Configuration to ask. (default: eval.configuration)",
            rich_help_panel=_ASK,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model in place of the configuration's; runs of it are a series of their own.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Provider of --model.", rich_help_panel=_ASK),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE",
            help="System prompt in place of the configuration's.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this prompt; may be repeated.", rich_help_panel=_ASK),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Ask each prompt N times. (default: 1)", rich_help_panel=_ASK
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Requests at once. (default: the provider's)", rich_help_panel=_ASK
        ),
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who grades. (default: deterministic)", rich_help_panel=_ASK
        ),
    ] = None,
    grader_configuration: GraderConfigurationOption = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Finish this incomplete run: ask what is missing.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit 1 on a regression, or where nothing could be compared.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    max_pass_rate_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop. (default: eval.max_pass_rate_drop, else 0.1)",
            rich_help_panel=_GATE,
        ),
    ] = None,
    max_mean_score_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop. (default: eval.max_mean_score_drop, else 0.1)",
            rich_help_panel=_GATE,
        ),
    ] = None,
    min_pass_rate: Annotated[
        str | None,
        typer.Option(metavar="0..1", help="Floor; exit 1 below it, always.", rich_help_panel=_GATE),
    ] = None,
    min_mean_score: Annotated[
        str | None,
        typer.Option(metavar="0..1", help="Floor; exit 1 below it, always.", rich_help_panel=_GATE),
    ] = None,
    require_baseline: Annotated[
        bool,
        typer.Option(
            "--require-baseline",
            help="Exit 1 where there is no baseline yet.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="current|previous|RUN|FILE",
            help="What to compare with. (default: current)",
            rich_help_panel=_GATE,
        ),
    ] = None,
    regrade_baseline: Annotated[
        bool,
        typer.Option(
            "--regrade-baseline",
            help="First grade the baseline's answers by the present grader.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Never becomes the baseline.", rich_help_panel=_GATE),
    ] = False,
    output_format: FormatOption = OutputFormat.TABLE,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a JUnit report.", rich_help_panel=_OUTPUT),
    ] = None,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Run a golden prompt set, grade, store, and compare with the baseline."""
    from evalcli.runs.options import RunOptions

    options = RunOptions(
        configuration=configuration,
        model=model,
        provider=provider,
        system=_read_text(system),
        only=tuple(only or ()),
        grader=grader,
        grader_configuration=grader_configuration,
        trials=trials,
        concurrency=concurrency,
        fail_on_regression=fail_on_regression,
        max_pass_rate_drop=max_pass_rate_drop,
        max_mean_score_drop=max_mean_score_drop,
        min_pass_rate=min_pass_rate,
        min_mean_score=min_mean_score,
        require_baseline=require_baseline,
        baseline=baseline,
        regrade_baseline=regrade_baseline,
        is_draft=draft,
        resume=resume,
    )
    _run_and_report(state_of(ctx), identifier, options, junit)


@eval_app.command("regrade")
def regrade_command(
    ctx: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run id, a unique prefix of one, or `latest`.")
    ],
    grader: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who grades. [default: the run's]", rich_help_panel=_ASK),
    ] = None,
    grader_configuration: GraderConfigurationOption = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit 1 on a regression, or where nothing could be compared.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    output_format: FormatOption = OutputFormat.TABLE,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a JUnit report.", rich_help_panel=_OUTPUT),
    ] = None,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Grade the stored answers of a run again, asking no model for an answer."""
    from evalcli import api
    from evalcli.cli.progress import ProgressListener
    from evalcli.runs.options import RunOptions

    state = state_of(ctx)
    options = RunOptions(
        grader=grader,
        grader_configuration=grader_configuration,
        fail_on_regression=fail_on_regression,
    )
    check_writable(junit)
    with ProgressListener(verbosity=state.verbosity) as progress:
        outcome = api.regrade_run(run, options, workspace=state.workspace, listeners=(progress,))
    end_with(outcome, state, junit, told=progress.told)


def _run_and_report(state: State, identifier: str, options: RunOptions, junit: Path | None) -> None:
    from evalcli import api
    from evalcli.cli.progress import ProgressListener

    check_writable(junit)
    with ProgressListener(verbosity=state.verbosity) as progress:
        outcome = api.run_prompts(
            identifier, options, workspace=state.workspace, listeners=(progress,)
        )
    end_with(outcome, state, junit, told=progress.told)


def _read_text(value: str | None) -> str | None:
    """Take an option's text, or the content of the file that `@FILE` names."""
    if value is None or not value.startswith("@"):
        return value
    path = Path(value[1:])
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(
            f"--system @{path} cannot be read: {exc}", advice="name a UTF-8 text file"
        ) from exc
