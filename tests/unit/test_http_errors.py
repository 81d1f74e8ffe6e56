"""What an error reply says: message, retry, wait."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.errors import ProviderStatusError
from evalcli.http_errors import error_in_reply, find_message, find_wait, status_error
from evalcli.redaction import Redactor

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "detail", "errors", "msg", "loc", "type", "code", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


def make_error(
    status: int,
    document: object = None,
    *,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    private: tuple[str, ...] = (),
) -> ProviderStatusError:
    content = b"" if document is None else json.dumps(document).encode()
    return status_error(
        "openai",
        status,
        headers or {},
        content if body is None else body,
        document,
        redactor=Redactor(("key-main-4711",)),
        private=private,
        now=NOW,
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param({"error": {"message": "m", "code": "c"}}, "m", id="openai"),
        pytest.param({"error": "m"}, "m", id="ollama"),
        pytest.param({"message": "m", "error_type": "t"}, "m", id="vercel"),
        pytest.param({"object": "error", "message": "m", "code": 400}, "m", id="old-vllm"),
        pytest.param({"detail": "m"}, "m", id="sidecar"),
        pytest.param({"detail": {"error_type": "t", "message": "m"}}, "m", id="typesafe"),
        pytest.param(
            {"detail": [{"loc": ["body", "model"], "msg": "m"}, {"loc": ["body", 0], "msg": "n"}]},
            "body.model: m; body.0: n",
            id="fastapi",
        ),
        pytest.param([{"error": {"code": 429, "message": "m"}}], "m", id="gemini"),
        pytest.param({"errors": [{"message": "m"}, {"message": "n"}]}, "m; n", id="errors"),
        pytest.param({"error": {"error": {"message": "m"}}}, "m", id="nested"),
        pytest.param({"error": {"code": 1}, "message": "m"}, "m", id="second-place"),
        pytest.param({"error": {"message": "  "}}, None, id="blank"),
        pytest.param({"error": None}, None, id="null"),
        pytest.param({"other": "m"}, None, id="unknown"),
        pytest.param("m", None, id="text"),
        pytest.param([], None, id="empty-list"),
    ],
)
def test_message_is_found_in_every_known_shape(document: object, message: str | None) -> None:
    assert find_message(document) == message


@given(JSON)
def test_any_json_is_read_without_error(document: object) -> None:
    error = make_error(429, document)

    assert len(error.detail) <= 200
    error_in_reply("openai", document, redactor=Redactor())


def test_message_form_names_provider_status_and_message() -> None:
    error = make_error(503, {"error": {"message": "The server is overloaded"}})

    assert error.message == 'openai said 503 "The server is overloaded"'
    assert (error.provider, error.status, error.detail) == (
        "openai",
        503,
        "The server is overloaded",
    )


@pytest.mark.parametrize(
    ("body", "content_type", "message"),
    [
        (b"", "", "openai said 502 Bad Gateway"),
        (b"busy", "text/plain", 'openai said 502 "busy"'),
        (
            b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
            "text/html",
            "openai said 502 Bad Gateway",
        ),
        (
            b"<!doctype html><style>p{}</style><script>x()</script><p>Down for <b>repair</b></p>",
            "",
            'openai said 502 "Down for repair"',
        ),
        (b"<title>A &amp; B</title>", "text/html", 'openai said 502 "A & B"'),
        (b"\x00\x01\x02\xff\xfe" * 20, "application/octet-stream", "openai said 502 Bad Gateway"),
    ],
)
def test_body_that_is_not_json(body: bytes, content_type: str, message: str) -> None:
    error = make_error(502, body=body, headers={"content-type": content_type})

    assert error.message == message


def test_hostile_page_is_read_in_no_time() -> None:
    page = b"<title" * 2000 + b"<script" * 600

    assert make_error(502, body=page, headers={"content-type": "text/html"}).status == 502


def test_json_without_a_message_is_shown_itself() -> None:
    assert make_error(500, {"oops": 1}).message == 'openai said 500 "{"oops": 1}"'


def test_unknown_status_has_no_phrase() -> None:
    assert make_error(599).message == "openai said 599"


def test_key_and_prompt_are_taken_out() -> None:
    document = {"error": {"message": "key key-main-4711 asked: What is your favourite colour?"}}
    error = make_error(401, document, private=("What is your favourite colour?",))

    assert error.detail == "key [key] asked: [prompt]"
    assert "4711" not in repr(error) + str(error)


@pytest.mark.parametrize("status", [408, 409, 429, 498, 500, 501, 502, 503, 504, 524, 529])
def test_statuses_that_pass_by_themselves_are_retried(status: int) -> None:
    assert make_error(status).is_retryable


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 410, 413, 418, 422, 451])
def test_other_statuses_are_not_retried(status: int) -> None:
    assert not make_error(status).is_retryable


@pytest.mark.parametrize(
    "document",
    [
        {"error": {"message": "m", "type": "insufficient_quota", "code": "insufficient_quota"}},
        {"error": {"message": "m", "type": "tokens", "code": "credit_balance_exhausted"}},
        {"error": {"message": "m", "code": "billing_hard_limit_reached"}},
        {
            "error": {
                "type": "rate_limit_error",
                "details": {"error_code": "enforced_spend_limit_reached"},
            }
        },
        [
            {
                "error": {
                    "code": 429,
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [{"violations": [{"quotaId": "GenerateRequestsPerDay"}]}],
                }
            }
        ],
        {"detail": {"error_type": "insufficient_credits", "message": "m"}},
        {"error": {"message": "check your plan and billing details"}},
    ],
)
def test_429_about_money_is_not_retried(document: object) -> None:
    assert not make_error(429, document).is_retryable


@pytest.mark.parametrize(
    "document",
    [
        {"error": {"message": "Rate limit", "type": "requests", "code": "rate_limit_exceeded"}},
        {
            "error": {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "check your plan and billing details",
            }
        },
        {"error": "slow down"},
        None,
    ],
)
def test_429_about_speed_is_retried(document: object) -> None:
    assert make_error(429, document).is_retryable


def test_server_says_not_to_retry() -> None:
    assert not make_error(503, headers={"x-should-retry": "false"}).is_retryable


def test_server_says_to_retry() -> None:
    assert make_error(418, headers={"x-should-retry": "true"}).is_retryable


def test_server_cannot_have_a_refusal_retried() -> None:
    assert not make_error(401, headers={"x-should-retry": "true"}).is_retryable


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        (
            {
                "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT",
                "date": "Mon, 30 Nov 2026 12:00:20 GMT",
            },
            10.0,
        ),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_wait_a_server_asks_for(headers: dict[str, str], wait_s: float | None) -> None:
    assert find_wait(headers, now=NOW) == wait_s


@given(st.text())
def test_any_retry_after_is_read_without_error(value: str) -> None:
    wait_s = find_wait({"retry-after": value}, now=NOW)

    assert wait_s is None or wait_s >= 0


@pytest.mark.parametrize(
    "document", [{}, {"error": None}, {"error": {}}, {"error": ""}, [], None, 1]
)
def test_reply_without_error(document: object) -> None:
    assert error_in_reply("openai", document, redactor=Redactor()) is None


@pytest.mark.parametrize(
    ("code", "is_retryable", "status"),
    [(502, True, 502), ("429", True, 429), (400, False, 400), ("x", False, None), (7, False, None)],
)
def test_error_inside_a_200(code: object, is_retryable: bool, status: int | None) -> None:
    document = {"error": {"code": code, "message": "The host is down"}}

    error = error_in_reply("openai", document, redactor=Redactor())

    assert error is not None
    assert (error.is_retryable, error.status) == (is_retryable, status)
    assert error.detail == "The host is down"
    assert error.message.startswith("openai answered with an error")
