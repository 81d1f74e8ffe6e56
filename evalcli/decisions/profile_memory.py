"""What a version of a profile was at its first stored use, so that it stays that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from evalcli.comparison.fingerprint import profile_fingerprint
from evalcli.declarations.profile import Profile
from evalcli.errors import DecisionCode, DecisionError, UsageError
from evalcli.history.store import History
from evalcli.records import StoredProfile


def check_profile_memory(history: History, profile: Profile) -> None:
    """Check that this version of a profile is what it was when it was first used.

    Raises:
        DecisionError: INVALID_PROFILE, it has changed.
    """
    stored = history.find_profile(profile.identifier, profile.version)
    if stored is not None:
        _check_same(stored, profile)


def remember_profile(
    history: History, profile: Profile, *, first_use: str, used_at: datetime
) -> StoredProfile:
    """Remember what this version of a profile is, where it was not used before.

    `first_use` says in a word what it is used for: `run`, `batch`, `calibration`.

    Raises:
        DecisionError: INVALID_PROFILE, it was used before and has changed since.
    """
    stored = history.remember_profile(
        StoredProfile(
            identifier=profile.identifier,
            version=profile.version,
            fingerprint=profile_fingerprint(profile),
            first_use=first_use,
            first_used_at=used_at,
            content=profile.content(),
        )
    )
    _check_same(stored, profile)
    return stored


def _check_same(stored: StoredProfile, profile: Profile) -> None:
    if stored.fingerprint == profile_fingerprint(profile):
        return
    name = f"{profile.identifier}@{profile.version}"
    raise DecisionError(
        DecisionCode.INVALID_PROFILE,
        f"profile {name} has changed since its first use ({stored.first_use} of "
        f"{stored.first_used_at:%Y-%m-%d}), and a threshold tuned on it does not carry over",
        advice=f"raise its version, see `evalcli profiles diff {profile.identifier}`, or let go "
        f"of the former one with `evalcli profiles forget {name}`",
    )


# --- what has changed -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """One part of a profile that is not what it was.

    `path` is a question's key, or a key and a field of it. Either side is None where the part is
    not there; a list stands for options or levels, a mapping for a whole question.
    """

    path: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """A profile as it is declared, beside what a version of it was at its first stored use.

    `stored` is None where no version was ever used. `changes` is None where they differ and the
    history keeps no texts to say how.
    """

    declared: Profile
    stored: StoredProfile | None
    changes: tuple[ProfileChange, ...] | None = ()


def compare_with_stored(declared: Profile, stored: StoredProfile | None) -> ProfileComparison:
    """Compare a declared profile with what was remembered of it. Pure."""
    if stored is None or stored.fingerprint == profile_fingerprint(declared):
        return ProfileComparison(declared, stored)
    if stored.content is None:
        return ProfileComparison(declared, stored, changes=None)
    return ProfileComparison(declared, stored, profile_changes(stored.content, declared.content()))


def split_profile_name(name: str) -> tuple[str, int | None]:
    """Split `identifier@version`; the version is None where none is named.

    Raises:
        UsageError: what stands after the `@` is no version.
    """
    identifier, sign, version = name.partition("@")
    if not sign:
        return identifier, None
    if not re.fullmatch(r"[1-9][0-9]{0,9}", version):
        raise UsageError(f'"{version}" is no version of a profile', advice="write a whole number")
    return identifier, int(version)


def profile_changes(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[ProfileChange, ...]:
    """Find what differs between two contents of a profile, question by question. Pure.

    Shapes: both are as `Profile.content()` gives them.
    """
    changes: list[ProfileChange] = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changes += _field_changes(key, old, new)
        elif old != new:
            changes.append(ProfileChange(key, old, new))
    return tuple(changes)


def _field_changes(
    key: str, before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[ProfileChange]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _field_changes(f"{key}.{name}", old, new)
        elif old != new:
            yield ProfileChange(f"{key}.{name}", old, new)
