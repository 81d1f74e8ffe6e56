"""evalcli profiles: the decision profiles there are, and what their versions were."""

from __future__ import annotations

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

profiles_app = typer.Typer(
    no_args_is_help=True, help="List, show, check and compare decision profiles."
)


@profiles_app.command("list")
def list_profiles_command(
    ctx: typer.Context,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """List the profiles that can be used; those that cannot are named on stderr."""
    from evalcli.api import profiles
    from evalcli.cli.profile_text import profile_list_document, render_profile_list
    from evalcli.cli.workspace_text import set_aside_lines

    shelf = profiles.open_profiles(state_of(ctx).workspace)
    if is_json(ctx):
        print_document(profile_list_document(shelf))
        return
    console.show(render_profile_list(shelf))
    console.err(*set_aside_lines(shelf))


@profiles_app.command("show")
def show_profile_command(
    ctx: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="PROFILE", help="The profile.")],
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Show one profile: its questions, and what each can be answered by."""
    from evalcli.api import profiles
    from evalcli.cli.profile_text import profile_document, render_profile

    listing = profiles.find_profile(identifier, workspace=state_of(ctx).workspace)
    if is_json(ctx):
        print_document(profile_document(listing))
        return
    console.show(render_profile(listing))


@profiles_app.command("validate")
def validate_profiles_command(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Files or folders. (default: all there are)"),
    ] = None,
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Check profiles and say every fault with its line, and what to write instead."""
    from evalcli.api import profiles

    print_validation(
        ctx, profiles.validate_profiles(files or (), workspace=state_of(ctx).workspace)
    )


@profiles_app.command("schema")
def profiles_schema_command() -> None:
    """Print the JSON Schema of profiles, for editors."""
    print_schema("profile")


@profiles_app.command("diff")
def diff_profile_command(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(metavar="PROFILE[@VERSION]", help="The profile; a version that was used."),
    ],
    output_format: FormatOption = OutputFormat.TABLE,
    workspace: WorkspaceOption = None,
) -> None:
    """Say what of a profile has changed since a version of it was first used."""
    from evalcli.api import profiles
    from evalcli.cli.profile_text import comparison_document, render_profile_comparison

    comparison = profiles.compare_profile(name, workspace=state_of(ctx).workspace)
    if is_json(ctx):
        print_document(comparison_document(comparison))
        return
    console.show(render_profile_comparison(comparison))


@profiles_app.command("forget")
def forget_profile_command(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="PROFILE@VERSION", help="The version to let go of.")
    ],
    workspace: WorkspaceOption = None,
) -> None:
    """Let a version of a profile change: forget what it was when it was first used."""
    from evalcli.api import profiles

    stored = profiles.forget_profile(name, workspace=state_of(ctx).workspace)
    console.out(
        f"Forgotten: what {stored.identifier}@{stored.version} was at its first use "
        f"({stored.first_use}, {stored.first_used_at:%Y-%m-%d}). Its next use sets it anew."
    )
