"""What a provider's error amounts to: it failed, it refused, or its reply is of no use; pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evalcli.errors import ProviderError, ProviderReplyError

_MONEY: Final = frozenset({402, 429})  # no money, and limits that are about money


class FailureKind(StrEnum):
    """What came instead of an answer, and so what may follow."""

    FAILED = "failed"  # outage, time-out, rate limit, no money: another provider may do better
    REFUSED = "refused"  # this request, as it is: asking again unchanged does not help
    NO_ANSWER = "no_answer"  # a reply that came, and is no answer


def failure_kind(error: ProviderError) -> FailureKind:
    """Tell failures, refusals and unusable replies apart, by status and class."""
    status = error.status
    if isinstance(error, ProviderReplyError) and status == 200:
        return FailureKind.NO_ANSWER
    is_refusal = status is not None and 400 <= status < 500 and status not in _MONEY
    return FailureKind.REFUSED if is_refusal and not error.is_retryable else FailureKind.FAILED
