"""What an error reply says: the provider's own message, whether to try again, and when; pure.

Source: reference "Wire formats", 1.4, 2.3, 12.5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from http import HTTPStatus

from evalcli.errors import ProviderReplyError, ProviderStatusError
from evalcli.redaction import Redactor

_NEVER_RETRIED = frozenset({400, 401, 402, 403, 404, 413, 422})
_RETRIED = frozenset({408, 409, 429, 498})  # and 500 to 599
_MONEY = re.compile(
    r"insufficient_quota|insufficient_(?:balance|credits?|funds)|credit_balance|billing"
    r"|spend_limit|payment_required|PerDay"
)
_MESSAGE_KEYS = ("message", "msg", "detail", "error")
_NESTING = 4


MODEL_ADVICE: Mapping[int, str] = {
    401: "check the provider's api_key",
    404: "check the model's id, and base_url, which often ends in /v1",
}
"""What to do about a status, where a model was asked."""


def status_error(
    provider: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    document: object,
    *,
    redactor: Redactor,
    private: Sequence[str] = (),
    now: datetime,
    advice: Mapping[int, str] | None = None,
) -> ProviderStatusError:
    """Make the error of a reply whose status is not a success.

    `document` is the parsed body, None where it is not JSON. `headers` are looked up by
    lower-case name. `private` are texts that must not be shown. `advice` says by status what to
    do, by default what helps with a model.
    """
    said = find_message(document) or _page_text(body, headers.get("content-type", ""))
    detail = redactor.clean(said, private)
    phrase = _phrase(status)
    if detail in ("", phrase, f"{status} {phrase}"):
        message = f"{provider} said {status} {phrase}".rstrip()
    else:
        message = f'{provider} said {status} "{detail}"'
    return ProviderStatusError(
        provider,
        message,
        status=status,
        detail=detail,
        is_retryable=_is_retryable(status, headers.get("x-should-retry"), document),
        retry_after_s=find_wait(headers, now=now),
        advice=(MODEL_ADVICE if advice is None else advice).get(status, ""),
    )


def error_in_reply(
    provider: str, document: object, *, redactor: Redactor, private: Sequence[str] = ()
) -> ProviderReplyError | None:
    """Make the error of a reply that says 200 and holds an `error`; None where it holds none.

    Such an error is tried again where its code is a status that is.
    """
    if not isinstance(document, Mapping) or not document.get("error"):
        return None
    error = document["error"]
    status = _status_code(error.get("code")) if isinstance(error, Mapping) else None
    detail = redactor.clean(find_message(document) or "", private)
    code = f" {status}" if status is not None else ""
    quoted = f': "{detail}"' if detail else ""
    return ProviderReplyError(
        provider,
        f"{provider} answered with an error{code}{quoted}",
        status=status,
        detail=detail,
        is_retryable=status is not None and _is_retryable(status, None, document),
    )


def find_message(document: object) -> str | None:
    """Find the message in any of the shapes that providers use for errors.

    They are `error` as text, `error.message`, `message`, `detail` as text, `detail.message`,
    `detail[].msg` with its `loc`, `errors[].message`, and a list of such objects.
    """
    if isinstance(document, list):
        return next((text for item in document[:5] if (text := find_message(item))), None)
    if not isinstance(document, Mapping):
        return None
    for key in ("error", "message", "detail", "errors"):
        text = _text_in(document.get(key), _NESTING)
        if text:
            return text
    return None


def _text_in(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if depth == 0:
        return None
    if isinstance(value, list):
        texts = [text for item in value[:5] if (text := _text_in(item, depth - 1))]
        return "; ".join(texts) or None
    if isinstance(value, Mapping):
        for key in _MESSAGE_KEYS:
            text = _text_in(value.get(key), depth - 1)
            if text:
                return f"{_place_in(value.get('loc'))}{text}"
    return None


def _place_in(loc: object) -> str:
    if not isinstance(loc, list):
        return ""
    return f"{'.'.join(str(part) for part in loc[:8] if isinstance(part, str | int))}: "


def _page_text(body: bytes, content_type: str) -> str:
    """Say in a line what a body that is not JSON says; empty where it is not text."""
    text = body[:16_384].decode("utf-8", errors="replace")
    if sum(char == "�" or char == "\0" for char in text) > len(text) // 10:
        return ""
    if "html" not in content_type.lower() and not text.lstrip().startswith("<"):
        return text
    for tag in ("title", "h1"):
        found = re.search(rf"<{tag}\b[^<>]*>([^<]+)</{tag}", text, re.IGNORECASE)
        if found and found[1].strip():
            return unescape(found[1]).strip()
    bare = re.sub(r"<(script|style)\b.*?(</\1\s*>|\Z)", " ", text, flags=re.IGNORECASE | re.DOTALL)
    return unescape(re.sub(r"<[^<>]*>", " ", bare)).strip()


def _is_retryable(status: int, should_retry: str | None, document: object) -> bool:
    if status in _NEVER_RETRIED or should_retry == "false" or _is_about_money(status, document):
        return False
    return status in _RETRIED or 500 <= status < 600 or should_retry == "true"


def _is_about_money(status: int, document: object) -> bool:
    """Whether a 429 is about money, which no waiting brings.

    Types and codes decide. The message is read only where there are none: Gemini names billing in
    the message of its rate limits too.
    """
    if status != 429:
        return False
    if isinstance(document, list):
        return any(_is_about_money(status, item) for item in document[:5])
    if not isinstance(document, Mapping):
        return False
    errors = [document, document.get("error"), document.get("detail")]
    words = [word for error in errors if isinstance(error, Mapping) for word in _codes_in(error)]
    return any(_MONEY.search(word) for word in words or [find_message(document) or ""])


def _codes_in(error: Mapping[object, object]) -> list[str]:
    codes = [error.get(key) for key in ("type", "code", "status", "error_type")]
    details = error.get("details")
    entries = details[:10] if isinstance(details, list) else [details]
    codes += [str(entry) for entry in entries if isinstance(entry, Mapping)]
    return [code for code in codes if isinstance(code, str)]


def find_wait(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Find the wait a server asks for, in seconds; None where it names none that makes sense.

    `retry-after-ms` goes before `retry-after` (seconds, fractions too, or an HTTP date, which is
    read against the reply's own `date` where it has one, so that clocks need not agree).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    since = _date(headers.get("date", "")) or now
    return max(0.0, (until - since).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _status_code(code: object) -> int | None:
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599:
        return code
    return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
