"""The values of `format` that `formats: true` enforces, checked without further packages."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from urllib.parse import urlsplit

from evalcli.graders.patterns import compile_pattern
from evalcli.protocols import AssertionFaultError

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))"
)
_DURATION = re.compile(
    r"P(?:[0-9]+W|(?=[0-9T])(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)?"
    r"(?:T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))?)"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_URI_TEXT = re.compile(r"(?:[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_JSON_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def _is_date(text: str) -> bool:
    """Source: RFC 3339, full-date."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    """Source: RFC 3339, full-time; a 60th second is accepted as the leap second it may be."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hours, minutes, seconds, offset_hours, offset_minutes = (
        int(part or 0) for part in found.groups()
    )
    is_clock = hours < 24 and minutes < 60 and seconds <= 60
    return is_clock and offset_hours < 24 and offset_minutes < 60


def _is_date_time(text: str) -> bool:
    """Source: RFC 3339, date-time."""
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_duration(text: str) -> bool:
    """Source: RFC 3339, appendix A."""
    return _DURATION.fullmatch(text) is not None and not text.endswith("T")


def _is_hostname(text: str) -> bool:
    """Source: RFC 1123, section 2.1."""
    return len(text) <= 253 and _HOSTNAME.fullmatch(text) is not None


def _is_email(text: str) -> bool:
    """Source: RFC 5321, a mailbox with a dot-string and a domain or an address literal."""
    local, at, domain = text.rpartition("@")
    if not at or len(local) > 64 or not _LOCAL_PART.fullmatch(local):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        literal = domain[1:-1]
        return _is_ipv6(literal[5:]) if literal.startswith("IPv6:") else _is_ipv4(literal)
    return _is_hostname(domain)


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return address.scope_id is None


def _is_uri_reference(text: str) -> bool:
    """Source: RFC 3986."""
    before, _, fragment = text.partition("#")
    if not _URI_TEXT.fullmatch(before) or not _URI_TEXT.fullmatch(fragment):
        return False
    try:
        # Reading the port checks it.
        return urlsplit(text).port is None or True
    except ValueError:
        return False


def _is_uri(text: str) -> bool:
    return _SCHEME.match(text) is not None and _is_uri_reference(text)


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def _is_json_pointer(text: str) -> bool:
    """Source: RFC 6901."""
    return _JSON_POINTER.fullmatch(text) is not None


def _is_regex(text: str) -> bool:
    """Whether the `regex` package takes it; the empty pattern is one, too."""
    try:
        compile_pattern(text or "(?:)")
    except AssertionFaultError:
        return False
    return True


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "json-pointer": _is_json_pointer,
    "regex": _is_regex,
    "time": _is_time,
    "uri": _is_uri,
    "uri-reference": _is_uri_reference,
    "uuid": _is_uuid,
}
"""Name to check; a value that is no text satisfies every format."""
