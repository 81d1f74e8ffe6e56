"""References to secrets (`env:NAME`, `file:PATH`) become the secrets they stand for.

An error names the variable or the file, never what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalcli.declarations.workspace import is_secret_reference
from evalcli.errors import ConfigurationError

_FILE_BYTES = 65_536
_SENDABLE = re.compile(r"[!-~]([ -~]*[!-~])?")


def resolve_secret(
    reference: str, *, where: str, environ: Mapping[str, str], root: Path | None = None
) -> str:
    """Read the secret that a reference stands for.

    `where` names the place of the reference in messages (`provider "main": api_key`). A relative
    path starts at `root`. Line ends after the secret in a file are no part of it.

    Raises:
        ConfigurationError: it is not a reference, or what it names is missing, empty, or cannot
            be sent in a header.
    """
    kind, _, name = reference.partition(":")
    name = name.strip()
    if kind == "env" and name:
        secret, source = _read_variable(name, where, environ), f"the variable {name}"
    elif kind == "file" and name:
        secret, source = _read_file(Path(name), where, root), f"the file {name}"
    else:  # it may be the key itself, so it is not repeated
        raise ConfigurationError(
            f"{where} must say where the key is, and not hold it",
            advice="write env:NAME or file:PATH",
        )
    if not secret:
        raise ConfigurationError(f"{where}: {source} is empty")
    if not _SENDABLE.fullmatch(secret):
        raise ConfigurationError(
            f"{where}: {source} holds a character that cannot stand in a header "
            "(a line break, a space at an end, or one outside of ASCII)"
        )
    return secret


def _read_variable(name: str, where: str, environ: Mapping[str, str]) -> str:
    if name not in environ:
        raise ConfigurationError(f"{where}: the variable {name} is not set", advice="set it")
    return environ[name]


def _read_file(name: Path, where: str, root: Path | None) -> str:
    path = root / name if root is not None else name
    try:
        with path.open("rb") as file:
            raw = file.read(_FILE_BYTES + 1)
    except OSError as exc:
        raise ConfigurationError(
            f"{where}: the file {name} cannot be read: {exc.strerror}"
        ) from None
    if len(raw) > _FILE_BYTES:
        raise ConfigurationError(f"{where}: the file {name} is too large for a key")
    return raw.decode("utf-8", errors="replace").rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class ResolvedHeaders:
    """Request headers, ready to send. `keys` are the secrets in them."""

    headers: Mapping[str, str] = field(repr=False)
    keys: tuple[str, ...] = field(repr=False)


def resolve_headers(
    declared: Mapping[str, str],
    *,
    where: str,
    environ: Mapping[str, str],
    root: Path | None = None,
) -> ResolvedHeaders:
    """Resolve the references among declared headers; other values are sent as written.

    Raises:
        ConfigurationError: a secret is missing, or a value cannot be sent.
    """
    headers: dict[str, str] = {}
    keys: list[str] = []
    for name, value in declared.items():
        place = f"{where}.{name}"
        if is_secret_reference(value):
            headers[name] = resolve_secret(value, where=place, environ=environ, root=root)
            keys += _secret_parts(headers[name])
        elif _SENDABLE.fullmatch(value):
            headers[name] = value
        else:
            raise ConfigurationError(f"{place} holds a character that cannot stand in a header")
    return ResolvedHeaders(headers, tuple(keys))


def _secret_parts(value: str) -> list[str]:
    """Leave out the scheme of `Bearer …`, `Basic …`: the word itself is no secret."""
    scheme, _, rest = value.partition(" ")
    return [rest] if rest and scheme.lower() in ("bearer", "basic", "token") else [value]
