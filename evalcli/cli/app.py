"""The root command: every command there is, in one place."""

from __future__ import annotations

from typing import Annotated

import typer

from evalcli import __version__
from evalcli.cli import console
from evalcli.cli.baseline_commands import baseline_app
from evalcli.cli.context import VerboseOption, WorkspaceOption, state_of
from evalcli.cli.decide_commands import decide_command
from evalcli.cli.error_boundary import ErrorBoundary
from evalcli.cli.eval_commands import eval_app
from evalcli.cli.history_commands import history_app
from evalcli.cli.import_commands import import_app
from evalcli.cli.lazy_group import LazyTyper
from evalcli.cli.profile_commands import profiles_app
from evalcli.cli.retrieval_commands import eval_retrieval_command, retrieval_app
from evalcli.cli.workspace_commands import (
    config_app,
    init_command,
    models_app,
    providers_app,
    sets_app,
)


def _print_version(value: bool) -> None:
    if value:
        console.out(f"evalcli {__version__}")
        raise typer.Exit


app = LazyTyper(
    cls=ErrorBoundary,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def root(
    ctx: typer.Context,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", is_eager=True, callback=_print_version, help="Say the version."
        ),
    ] = False,
) -> None:
    """Quality of LLM features, measured before the merge."""
    console.setup_logging(state_of(ctx).verbosity)


eval_app.command("retrieval")(eval_retrieval_command)
sets_app.add_typer(import_app, name="import")

app.add_typer(eval_app, name="eval")
app.add_typer(retrieval_app, name="retrieval")
app.add_typer(sets_app, name="sets")
app.add_typer(profiles_app, name="profiles")
app.add_typer(history_app, name="history")
app.add_typer(baseline_app, name="baseline")
app.add_typer(providers_app, name="providers")
app.add_typer(models_app, name="models")
app.add_typer(config_app, name="config")
app.command("decide")(decide_command)
app.command("init")(init_command)


def main() -> None:
    """Run the command line."""
    app()
