"""What a person sees of decision profiles: lists, one profile, what has changed in one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from evalcli.cli.workspace_text import fault_document, write_table
from evalcli.decisions.profile_memory import ProfileChange, ProfileComparison
from evalcli.declarations.profile import ChoiceQuestion, Profile, Question, YesNoQuestion
from evalcli.loading.catalog import Listing, Shelf
from evalcli.records import StoredProfile
from evalcli.reports.plain_text import plain_lines, plain_text
from evalcli.reports.text_layout import Page, Report

_MAX_DESCRIPTION = 60


# --- lists ----------------------------------------------------------------------------------------


def render_profile_list(shelf: Shelf) -> Report:
    """Render the profiles that can be used."""
    return Report(partial(_write_list, shelf.listings))


def _write_list(listings: Sequence[Listing], page: Page) -> None:
    profiles = [(one, one.declaration) for one in listings]
    rows = [
        (
            profile.identifier,
            str(profile.version),
            str(len(profile.questions)),
            plain_text(profile.description, limit=_MAX_DESCRIPTION),
            f"{listing.origin} ({listing.file})",
        )
        for listing, profile in profiles
        if isinstance(profile, Profile)
    ]
    if not rows:
        page.say("No profile can be used.")
        return
    write_table(page, ("profile", "version", "questions", "description", "from"), rows)


# --- one profile ----------------------------------------------------------------------------------


def render_profile(listing: Listing) -> Report:
    """Render one profile with all its texts."""
    return Report(partial(_write_profile, listing))


def _write_profile(listing: Listing, page: Page) -> None:
    profile = listing.declaration
    if not isinstance(profile, Profile):
        page.say(f"{listing.identifier} in {plain_text(listing.file)}")
        return
    required = ", ".join(profile.requires)
    page.heading(
        [
            f"{profile.identifier} v{profile.version}",
            f"requires {required}" if required else "requires nothing",
            str(profile.data_class),
            f"{listing.origin} ({plain_text(listing.file)})",
        ]
    )
    for line in plain_lines(profile.description):
        page.say(line)
    for key, question in profile.questions.items():
        page.blank()
        _write_question(key, question, page)


def _write_question(key: str, question: Question, page: Page) -> None:
    page.say(f"{key} ({question.type})", style="bold")
    for line in plain_lines(question.instructions):
        page.say(line, indent=2)
    for label, meaning in label_meanings(question):
        page.label(plain_text(label), plain_text(meaning or ""))


def label_meanings(question: Question) -> list[tuple[str, str | None]]:
    """Give what a question can be answered by, and what each answer means where it is said."""
    if isinstance(question, YesNoQuestion):
        return [("yes", question.yes), ("no", question.no)]
    if isinstance(question, ChoiceQuestion):
        return [(option, question.descriptions.get(option)) for option in question.options]
    return [(str(index), level) for index, level in enumerate(question.levels)]


# --- what has changed -----------------------------------------------------------------------------


def render_profile_comparison(comparison: ProfileComparison) -> Report:
    """Render what has changed in a profile since a version of it was first used."""
    return Report(partial(_write_comparison, comparison))


def _write_comparison(comparison: ProfileComparison, page: Page) -> None:
    declared, stored = comparison.declared, comparison.stored
    if stored is None:
        page.say(f"No version of {declared.identifier} was used yet: nothing to compare with.")
        return
    then = f"version {stored.version} at its first use ({_use_words(stored)})"
    page.heading([declared.identifier, f"{then} → version {declared.version} as declared"])
    if comparison.changes is None:
        page.say("They differ. How, the history does not say: it keeps no texts.")
    elif not comparison.changes:
        page.say("No question differs.")
    for change in comparison.changes or ():
        page.blank()
        _write_change(change, page)
    if comparison.changes != () and stored.version == declared.version:
        page.blank()
        page.say(
            f"Raise the version, or let go of the former content with "
            f"`evalcli profiles forget {declared.identifier}@{stored.version}`."
        )


def _use_words(stored: StoredProfile) -> str:
    return f"{plain_text(stored.first_use)}, {stored.first_used_at:%Y-%m-%d}"


def _write_change(change: ProfileChange, page: Page) -> None:
    page.say(plain_text(change.path), style="bold")
    if isinstance(change.before, list) and isinstance(change.after, list):
        _write_list_change(change.before, change.after, page)
        return
    for name, value in (("before", change.before), ("now", change.after)):
        page.label(name, plain_text(_value_words(value)))


def _write_list_change(before: list[object], after: list[object], page: Page) -> None:
    removed = [str(item) for item in before if item not in after]
    added = [str(item) for item in after if item not in before]
    for name, items in (("removed", removed), ("added", added)):
        for item in items:
            page.label(name, plain_text(item))
    if not removed and not added:
        page.label("order", plain_text(", ".join(str(item) for item in after)))


def _value_words(value: object) -> str:
    if value is None:
        return "(not there)"
    if isinstance(value, dict):
        return str(value.get("instructions", ""))
    return str(value)


# --- JSON -----------------------------------------------------------------------------------------


def profile_list_document(shelf: Shelf) -> dict[str, object]:
    """Describe all profiles, and what is wrong with those that cannot be used."""
    return {
        "profiles": [
            {
                "identifier": listing.identifier,
                "version": listing.declaration.version,
                "description": listing.declaration.description,
                "questions": list(listing.declaration.questions),
                "origin": listing.origin,
                "file": listing.file,
            }
            for listing in shelf.listings
            if isinstance(listing.declaration, Profile)
        ],
        "faults": [fault_document(fault) for fault in shelf.faults],
    }


def profile_document(listing: Listing) -> dict[str, object]:
    """Describe one profile."""
    described: dict[str, object] = {"origin": listing.origin, "file": listing.file}
    return {"profile": described | listing.declaration.model_dump(mode="json")}


def comparison_document(comparison: ProfileComparison) -> dict[str, object]:
    """Describe what has changed; `changes` is null where the history keeps no texts to say so."""
    stored, changes = comparison.stored, comparison.changes
    return {
        "identifier": comparison.declared.identifier,
        "declared_version": comparison.declared.version,
        "stored": None
        if stored is None
        else {
            "version": stored.version,
            "fingerprint": stored.fingerprint,
            "first_use": stored.first_use,
            "first_used_at": stored.first_used_at.isoformat(),
        },
        "is_changed": changes != (),
        "changes": None
        if changes is None
        else [
            {"path": change.path, "before": change.before, "after": change.after}
            for change in changes
        ],
    }
