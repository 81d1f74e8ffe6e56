"""Fingerprints: short texts that are equal exactly when what is measured is equal.

Each is `v1:` and the SHA-256 of a canonical JSON text. Raise the version when the text that is
hashed changes its form: every stored baseline then differs, and is accepted anew on purpose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import GoldenPrompt

FINGERPRINT_VERSION = "v1"

_encode_json = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
).encode


def canonical_json(value: object) -> str:
    """Write a JSON value so that equal values give equal text, in ASCII.

    Keys are sorted by code point. Numbers are equal by value as in JSON, so `1.0` is written `1`;
    `true` and `1` stay different. Lone surrogates are written as escapes.

    Raises:
        ValueError: a number is NaN or infinite, which JSON does not have.
        TypeError: the value holds a key that is no text, or something that is no JSON value.
    """
    return _encode_json(_normalize(value))


def fingerprint_of(part: str, value: object) -> str:
    """Make the fingerprint of a JSON value.

    `part` says what the value is (`asked`, `graded`), so that equal values of two parts differ.
    """
    text = canonical_json([part, value])
    return f"{FINGERPRINT_VERSION}:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def asked_fingerprint(prompt: GoldenPrompt) -> str:
    """Fingerprint every text of the set that reaches the model: prompt and own system prompt.

    No system prompt and an empty one differ, because the requests do.
    """
    return fingerprint_of("asked", {"prompt": prompt.prompt, "system": prompt.system})


def deterministic_graded_fingerprint(canonicals: Iterable[str]) -> str:
    """Fingerprint what the deterministic grader reads: the prompt's assertions.

    `canonicals` holds each assertion's canonical text. Their order changes no grade and does not
    count; an assertion that stands there twice weighs twice in the score and does.
    """
    return fingerprint_of("graded:deterministic", sorted(canonicals))


def profile_fingerprint(profile: Profile) -> str:
    """Fingerprint all that a decision by a profile rests on: its questions, by key."""
    return fingerprint_of("profile", profile.content())


def system_fingerprint(text: str | None) -> str | None:
    """Fingerprint a configuration's system prompt; None where there is none."""
    return None if text is None else fingerprint_of("system", text)


_PLAIN = (str, int, bool, NoneType)


def _normalize(value: object) -> object:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {_check_key(key): _normalize(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_normalize(item) for item in value]
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _check_key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a JSON key must be text, not {type(key).__name__}")
    return key
