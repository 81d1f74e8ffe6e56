"""evalcli eval: run a golden set, grade it, compare it with its baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import (
    FormatOption,
    OutputFormat,
    State,
    VerboseOption,
    WorkspaceOption,
    state_of,
)
from evalcli.cli.run_options import (
    ASK,
    GATE,
    BaselineOption,
    DraftOption,
    FailOnRegressionOption,
    FloorOption,
    JunitOption,
    RequireBaselineOption,
    ResumeOption,
)
from evalcli.cli.run_output import check_writable, end_with
from evalcli.errors import UsageError

if TYPE_CHECKING:
    from evalcli.runs.options import RunOptions

eval_app = typer.Typer(no_args_is_help=True, help="Run golden sets, grade them, gate on them.")


GraderConfigurationOption = Annotated[
    str | None,
    typer.Option(
        "--grader-configuration",
        metavar="NAME",
        help="Configuration that judges. (default: decision.configuration)",
        rich_help_panel=ASK,
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
            rich_help_panel=ASK,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model in place of the configuration's; runs of it are a series of their own.",
            rich_help_panel=ASK,
        ),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Provider of --model.", rich_help_panel=ASK),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE",
            help="System prompt in place of the configuration's.",
            rich_help_panel=ASK,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this prompt; may be repeated.", rich_help_panel=ASK),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Ask each prompt N times. (default: 1)", rich_help_panel=ASK
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Requests at once. (default: the provider's)", rich_help_panel=ASK
        ),
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who grades: deterministic or decision. (default: deterministic)",
            rich_help_panel=ASK,
        ),
    ] = None,
    grader_configuration: GraderConfigurationOption = None,
    resume: ResumeOption = None,
    fail_on_regression: FailOnRegressionOption = False,
    max_pass_rate_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop. (default: the workspace's, else 0.1)",
            rich_help_panel=GATE,
        ),
    ] = None,
    max_mean_score_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop. (default: the workspace's, else 0.1)",
            rich_help_panel=GATE,
        ),
    ] = None,
    min_pass_rate: FloorOption = None,
    min_mean_score: FloorOption = None,
    require_baseline: RequireBaselineOption = False,
    baseline: BaselineOption = None,
    regrade_baseline: Annotated[
        bool,
        typer.Option(
            "--regrade-baseline",
            metavar="",
            help="First grade the baseline's answers by the present grader.",
            rich_help_panel=GATE,
        ),
    ] = False,
    draft: DraftOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    junit: JunitOption = None,
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
        typer.Option(
            metavar="NAME",
            help="Who grades: deterministic or decision. (default: the run's)",
            rich_help_panel=ASK,
        ),
    ] = None,
    grader_configuration: GraderConfigurationOption = None,
    fail_on_regression: FailOnRegressionOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    junit: JunitOption = None,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Grade the stored answers of a run again, asking no model for an answer."""
    from evalcli.api import prompt_runs
    from evalcli.cli.progress import ProgressListener
    from evalcli.runs.options import RunOptions

    state = state_of(ctx)
    options = RunOptions(
        grader=grader,
        grader_configuration=grader_configuration,
        fail_on_regression=fail_on_regression,
    )
    check_writable(junit)
    progress = ProgressListener(verbosity=state.verbosity)
    with console.foreign_prints_aside(), progress:
        outcome = prompt_runs.regrade_run(
            run, options, workspace=state.workspace, listeners=(progress,)
        )
    end_with(outcome, state, junit, told=progress.told)


def _run_and_report(state: State, identifier: str, options: RunOptions, junit: Path | None) -> None:
    from evalcli.api import prompt_runs
    from evalcli.cli.progress import ProgressListener

    check_writable(junit)
    progress = ProgressListener(verbosity=state.verbosity)
    with console.foreign_prints_aside(), progress:
        outcome = prompt_runs.run_prompts(
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
            f"--system @{path} cannot be read: {getattr(exc, 'strerror', None) or exc}",
            advice="name a UTF-8 text file",
        ) from exc
