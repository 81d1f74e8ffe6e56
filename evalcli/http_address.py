"""Which addresses may be asked, through which proxy, and trusting whose certificates."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from evalcli.errors import ConfigurationError


def check_base_url(provider: str, url: str, allow_plain_http: Collection[str] = ()) -> str:
    """Check that requests may go to this address; returns it without a final slash.

    Plain HTTP is for loopback and for the names in `allow_plain_http`.

    Raises:
        ConfigurationError: the address cannot be used; the message names the provider.
    """
    parts = _split(provider, url)
    host = parts.hostname or ""
    if parts.scheme == "http" and not (is_loopback(host) or _is_listed(parts, allow_plain_http)):
        raise ConfigurationError(
            f'provider "{provider}": base_url {url} is plain HTTP, where anyone on the way can '
            "read key and texts",
            advice=f"write https://, or `allow_plain_http: [{host}]` for a private name",
        )
    return url.rstrip("/")


def _split(provider: str, url: str) -> SplitResult:
    start = f'provider "{provider}": base_url'
    if not url.isprintable() or " " in url:
        raise ConfigurationError(f"{start} holds a space or a control character")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as exc:
        raise ConfigurationError(f"{start} is not an address: {exc}") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            f"{start} holds a user name or password", advice="write it as `api_key: env:NAME`"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"{start} {url} is not an HTTP address", advice="write https://HOST/PATH"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(f"{start} {url} must end before ? and #")
    return parts


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_listed(parts: SplitResult, names: Collection[str]) -> bool:
    host = parts.hostname or ""
    return any(name.lower() in (host, f"{host}:{parts.port}", parts.netloc) for name in names)


def find_proxy(url: str, environ: Mapping[str, str]) -> str | None:
    """Find the proxy for an address in HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.

    As with curl, lower-case names go before upper-case ones. NO_PROXY holds host names (with
    all names below them), addresses, networks in CIDR form, each with or without a port, or `*`.

    Raises:
        ConfigurationError: the proxy is of a kind that is not supported.
    """
    parts = urlsplit(url)
    for variable in (f"{parts.scheme}_proxy", "all_proxy"):
        proxy = environ.get(variable) or environ.get(variable.upper())
        if not proxy:
            continue
        if _is_bypassed(parts, environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
            return None
        return _check_proxy(variable.upper(), proxy.strip())
    return None


def _check_proxy(variable: str, proxy: str) -> str:
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ConfigurationError(f"{variable} is not the address of a proxy")
    if parts.scheme not in ("http", "https"):
        raise ConfigurationError(
            f"{variable} names a {parts.scheme} proxy, which is not supported",
            advice="name an http:// or https:// proxy, or the provider's host in NO_PROXY",
        )
    return address


def _is_bypassed(parts: SplitResult, no_proxy: str) -> bool:
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return any(_covers(entry, host, port) for entry in re.split(r"[,\s]+", no_proxy) if entry)


def _covers(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    name, wanted_port = _split_port(entry.lower())
    if wanted_port is not None and wanted_port != port:
        return False
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False)
    except ValueError:  # one of them is a name
        name = name.removeprefix("*").removeprefix(".")
        return host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"\[?(?P<name>[^\]]*?)\]?(?P<port>:\d{1,5})?", entry)
    if match is None or (match["port"] and ":" in match["name"] and "[" not in entry):
        return entry, None  # a bare IPv6 address
    return match["name"], int(match["port"][1:]) if match["port"] else None


def proxy_secrets(proxy: str | None) -> tuple[str, ...]:
    """The password in a proxy's address, where it has one, as it is written and as it is meant."""
    password = urlsplit(proxy).password if proxy is not None else None
    return (password, unquote(password)) if password else ()


def proxy_place(proxy: str | None) -> str | None:
    """Name a proxy without its user and password."""
    if proxy is None:
        return None
    parts = urlsplit(proxy)
    return f"proxy {parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def tls_context(is_needed: bool, environ: Mapping[str, str]) -> ssl.SSLContext | None:
    """Trust the CAs of SSL_CERT_FILE and SSL_CERT_DIR; None where neither is set.

    Raises:
        ConfigurationError: they cannot be read.
    """
    if not is_needed:  # loading certificates takes time and memory
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if not file and not folder:
        return None
    if folder and not any(Path(part).is_dir() for part in folder.split(os.pathsep)):
        raise ConfigurationError("SSL_CERT_DIR names no folder that there is")
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as exc:  # ssl.SSLError is one
        raise ConfigurationError(
            f"the certificates of SSL_CERT_FILE cannot be read: {exc.strerror or exc}"
        ) from None
