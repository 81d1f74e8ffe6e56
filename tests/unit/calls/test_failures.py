"""What failed, what refused, and what came and is no answer."""

from __future__ import annotations

import pytest

from evalcli.calls.failures import FailureKind, failure_kind
from evalcli.errors import (
    ProviderConnectionError,
    ProviderError,
    ProviderReplyError,
    ProviderStatusError,
    ProviderTimeoutError,
)


def status(code: int, *, is_retryable: bool = False) -> ProviderStatusError:
    return ProviderStatusError("p", "said", status=code, is_retryable=is_retryable)


@pytest.mark.parametrize(
    "error",
    [
        ProviderConnectionError("p", "refused", is_retryable=True),
        ProviderConnectionError("p", "the certificate is not trusted"),
        ProviderTimeoutError("p", "timed out"),
        ProviderError("p", "anything"),
        status(500),
        status(503, is_retryable=True),
        status(529),
        status(307),
        status(408, is_retryable=True),
        status(429, is_retryable=True),
        status(429),  # about money
        status(402),
        ProviderReplyError("p", "an error inside a success"),
        ProviderReplyError("p", "an error inside a success", status=502),
    ],
    ids=lambda error: f"{type(error).__name__}-{error.status}-{error.is_retryable}",
)
def test_failures(error: ProviderError) -> None:
    assert failure_kind(error) is FailureKind.FAILED


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 413, 418, 422])
def test_refusals(code: int) -> None:
    assert failure_kind(status(code)) is FailureKind.REFUSED
    assert failure_kind(ProviderReplyError("p", "x", status=code)) is FailureKind.REFUSED


def test_a_reply_that_is_no_answer() -> None:
    assert failure_kind(ProviderReplyError("p", "x", status=200)) is FailureKind.NO_ANSWER
