"""evalcli eval retrieval: questions against a retriever; evalcli retrieval: look at one."""

from __future__ import annotations

from typing import Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import (
    FormatOption,
    OutputFormat,
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

retrieval_app = typer.Typer(no_args_is_help=True, help="Look at what a retriever returns.")


def eval_retrieval_command(
    ctx: typer.Context,
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="SET", help="The golden question set. (default: nr.manual)"),
    ] = None,
    retriever: Annotated[
        str | None,
        typer.Argument(
            metavar="RETRIEVER",
            help="The retriever. (default: the only declared one; nr.lexical for nr.manual)",
        ),
    ] = None,
    cutoffs: Annotated[
        str | None,
        typer.Option(
            "--k",
            metavar="N,N,…",
            help="Cutoffs of the hit rates; 1, 3 and 10 are always among them. (default: 1,3,5,10)",
            rich_help_panel=ASK,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Only this question; may be repeated.", rich_help_panel=ASK
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Questions at once. (default: the retriever's)",
            rich_help_panel=ASK,
        ),
    ] = None,
    resume: ResumeOption = None,
    fail_on_regression: FailOnRegressionOption = False,
    max_top1_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop of the top-1 hit rate. "
            "(default: eval.max_top1_drop, else 0.1)",
            rich_help_panel=GATE,
        ),
    ] = None,
    max_top3_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="Largest tolerated drop of the top-3 hit rate. "
            "(default: eval.max_top3_drop, else 0.1)",
            rich_help_panel=GATE,
        ),
    ] = None,
    max_class_drop: Annotated[
        str | None,
        typer.Option(
            metavar="0..1",
            help="The same for each hard class of at least five questions. "
            "(default: eval.max_class_drop, else off)",
            rich_help_panel=GATE,
        ),
    ] = None,
    min_top1_rate: FloorOption = None,
    min_top3_rate: FloorOption = None,
    require_baseline: RequireBaselineOption = False,
    baseline: BaselineOption = None,
    draft: DraftOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    junit: JunitOption = None,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Ask labelled questions of a retriever: hit rates, breakdowns, and the gate."""
    from evalcli.api import question_runs
    from evalcli.cli.progress import ProgressListener
    from evalcli.runs.retrieval_options import RetrievalOptions

    options = RetrievalOptions(
        cutoffs=read_cutoffs(cutoffs),
        only=tuple(only or ()),
        concurrency=concurrency,
        fail_on_regression=fail_on_regression,
        max_top1_drop=max_top1_drop,
        max_top3_drop=max_top3_drop,
        max_class_drop=max_class_drop,
        min_top1_rate=min_top1_rate,
        min_top3_rate=min_top3_rate,
        require_baseline=require_baseline,
        baseline=baseline,
        is_draft=draft,
        resume=resume,
    )
    state = state_of(ctx)
    check_writable(junit)
    progress = ProgressListener(verbosity=state.verbosity)
    with console.foreign_prints_aside(), progress:
        outcome = question_runs.run_retrieval(
            identifier, retriever, options, workspace=state.workspace, listeners=(progress,)
        )
    end_with(outcome, state, junit, told=progress.told)


def read_cutoffs(text: str | None) -> tuple[int, ...]:
    """Read the value of --k, such as `1,3,5,10`.

    Raises:
        UsageError: it is something else.
    """
    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise UsageError(
            f'--k "{text}" is no list of cutoffs', advice="write whole numbers, such as 1,3,5,10"
        )
    return tuple(int(part[:9]) for part in parts)


@retrieval_app.command("ask")
def ask_command(
    ctx: typer.Context,
    retriever: Annotated[str, typer.Argument(metavar="RETRIEVER", help="The retriever.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What it is asked.")],
    limit: Annotated[int, typer.Option(metavar="N", help="How many documents, best first.")] = 10,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Show what a retriever returns to one question, with snippets, for labelling."""
    from evalcli.api import question_runs

    state = state_of(ctx)
    with console.foreign_prints_aside():
        reply = question_runs.ask_retriever(
            retriever, question, limit=limit, workspace=state.workspace
        )
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document
        from evalcli.reports.retrieval_json import reply_document

        console.out(dump_document(reply_document(reply)))
        return
    from evalcli.reports.reply_report import render_reply

    console.err(*reply.notes)
    console.show(render_reply(reply))
