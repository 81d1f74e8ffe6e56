"""evalcli decide: one typed judgement about a subject, or a batch of them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

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
from evalcli.cli.decide_input import read_subject_words
from evalcli.errors import ExitStatus, InterruptedRunError, UsageError

if TYPE_CHECKING:
    from evalcli.declarations.profile import Profile
    from evalcli.records import BatchOutcome, JudgedDecision, Subject

_SUBJECT = "Subject"
_AD_HOC = "Without a profile"
_BATCH = "Many subjects"
_OUTPUT = "Output"


def decide_command(
    ctx: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(metavar="PROFILE", help="The profile that asks.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TEXT|@FILE|-", help="What was to be done.", rich_help_panel=_SUBJECT),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="TEXT|@FILE|-", help="What is judged.", rich_help_panel=_SUBJECT),
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT|@FILE|-",
            help="A passage to judge by; may be repeated.",
            rich_help_panel=_SUBJECT,
        ),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="All of it as a JSON object with task, candidate and evidence; - for stdin.",
            rich_help_panel=_SUBJECT,
        ),
    ] = None,
    data_class: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="How sensitive the subject is, where more than the profile says.",
            rich_help_panel=_SUBJECT,
        ),
    ] = None,
    yes_no: Annotated[
        str | None,
        typer.Option(metavar="QUESTION", help="Ask for yes or no.", rich_help_panel=_AD_HOC),
    ] = None,
    choice: Annotated[
        str | None,
        typer.Option(metavar="QUESTION", help="Ask for one option.", rich_help_panel=_AD_HOC),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An option; repeat it.", rich_help_panel=_AD_HOC),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(metavar="QUESTION", help="Ask for a level.", rich_help_panel=_AD_HOC),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="A level, the lowest first; repeat it.", rich_help_panel=_AD_HOC
        ),
    ] = None,
    configuration: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The configuration that answers. (default: decision.configuration)"
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY>=NUMBER|KEY=OPTION",
            help="Exit 1 unless the answer is so; may be repeated.",
        ),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", help="Many subjects, one a line.", rich_help_panel=_BATCH
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Where their results go, one a line; what is there already is not asked again.",
            rich_help_panel=_BATCH,
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Requests at once. (default: the provider's)", rich_help_panel=_BATCH
        ),
    ] = None,
    no_store: Annotated[
        bool,
        typer.Option(
            "--no-store",
            metavar="",
            help="Keep nothing of it in the history.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Ask typed questions about a subject, and verify the answers."""
    from evalcli.api import decisions
    from evalcli.cli.decide_progress import BatchBar
    from evalcli.cli.progress import retry_teller

    state = state_of(ctx)
    ad_hoc = _read_questions(profile, yes_no, choice, option, score, level)
    words = read_subject_words(task, candidate, evidence or (), subject)
    if _is_batch(batch, output, concurrency, words):
        with BatchBar() as bar, _saying_how_to_resume():
            outcome = decisions.decide_batch(
                ad_hoc or profile or "",
                batch or Path(),
                output or Path(),
                configuration=configuration,
                data_class=data_class,
                require=require or (),
                concurrency=concurrency,
                is_stored=not no_store,
                workspace=state.workspace,
                listener=bar,
                on_retry=retry_teller(state.verbosity),
            )
        _end_with_batch(outcome, state)
    if ad_hoc is not None and not words.fields():
        raise UsageError(
            "there is nothing to decide about",
            advice="give --candidate TEXT, --task TEXT, --evidence TEXT or --subject FILE",
        )
    decision = decisions.decide(
        ad_hoc or profile or "",
        words,
        configuration=configuration,
        data_class=data_class,
        require=require or (),
        is_stored=not no_store,
        workspace=state.workspace,
        on_retry=retry_teller(state.verbosity),
    )
    _end_with_decision(decision, state, is_ad_hoc=ad_hoc is not None)


def _read_questions(
    profile: str | None,
    yes_no: str | None,
    choice: str | None,
    option: list[str] | None,
    score: str | None,
    level: list[str] | None,
) -> Profile | None:
    """Make the profile of ad-hoc questions; None where a declared one is named."""
    from evalcli.decisions.ad_hoc import make_ad_hoc_profile

    if profile is None:
        return make_ad_hoc_profile(
            yes_no=yes_no, choice=choice, options=option or (), score=score, levels=level or ()
        )
    if any(given is not None and given != [] for given in (yes_no, choice, option, score, level)):
        raise UsageError(
            f'profile "{profile}" has questions of its own',
            advice="name a profile, or ask without one",
        )
    return None


def _is_batch(
    batch: Path | None, output: Path | None, concurrency: int | None, words: Subject
) -> bool:
    """Whether many subjects are named; refuses what goes with one only, or with many only."""
    if batch is None:
        if output is not None or concurrency is not None:
            raise UsageError(
                "--output and --concurrency belong to --batch",
                advice="name the file with the subjects with --batch",
            )
        return False
    if output is None:
        raise UsageError("--batch needs --output", advice="name the file the results go to")
    if "-" in (str(batch), str(output)):
        raise UsageError(
            "--batch and --output are files, and - is none",
            advice="name files: one is read twice, and a stopped batch goes on with the other",
        )
    if words.fields():
        raise UsageError(
            "--batch goes with no other subject", advice="put all of the subjects into its file"
        )
    return True


@contextmanager
def _saying_how_to_resume() -> Iterator[None]:
    try:
        yield
    except InterruptedRunError as exc:
        command = shlex.join(["evalcli", *sys.argv[1:]])
        raise InterruptedRunError(
            exc.message, run_id=exc.run_id, advice=f"go on with `{command}`"
        ) from exc


def _end_with_batch(outcome: BatchOutcome, state: State) -> NoReturn:
    from evalcli.reports.batch_report import batch_document, render_batch
    from evalcli.reports.plain_text import plain_text

    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.json_report import dump_document

        console.out(dump_document(batch_document(outcome)))
    else:
        console.err(*(plain_text(note) for note in outcome.available.notes))
        console.show(render_batch(outcome))
    raise typer.Exit(int(outcome.exit_status))


def _end_with_decision(decision: JudgedDecision, state: State, *, is_ad_hoc: bool) -> None:
    status = ExitStatus.OK if decision.is_met else ExitStatus.GATE_FAILED
    if state.output_format is OutputFormat.JSON:
        from evalcli.reports.decision_json import decision_document
        from evalcli.reports.json_report import dump_document

        console.out(dump_document(decision_document(decision, exit_status=status)))
    else:
        from evalcli.reports.decision_report import render_decision
        from evalcli.reports.plain_text import plain_text

        console.err(*(plain_text(note) for note in decision.result.notes))
        console.show(render_decision(decision, is_ad_hoc=is_ad_hoc, verbose=state.verbosity > 0))
    raise typer.Exit(int(status))
