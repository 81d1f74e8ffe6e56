"""The HTTP client against real loopback servers that misbehave."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import inspect
import json
import socket
import ssl
import traceback
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import httpx
import pytest
import trustme
from cryptography.x509 import load_pem_x509_certificate

from evalcli.errors import (
    ConfigurationError,
    ProviderConnectionError,
    ProviderError,
    ProviderReplyError,
    ProviderStatusError,
    ProviderTimeoutError,
)
from evalcli.http_client import (
    BODY_BYTES,
    TRANSPORT_ERRORS,
    HttpClient,
    JsonReply,
    translate_error,
)
from tests.support.proxy import LoopbackProxy
from tests.support.server import ScriptedServer, refusing_url

pytestmark = pytest.mark.anyio

KEY = "key-main-4711"


def make_client(
    url: str,
    *,
    timeout_s: float = 10,
    environ: dict[str, str] | None = None,
    allow_plain_http: tuple[str, ...] = (),
) -> HttpClient:
    return HttpClient(
        "openai",
        url,
        timeout_s=timeout_s,
        headers={"Authorization": f"Bearer {KEY}"},
        environ=environ or {},
        keys=(KEY,),
        allow_plain_http=allow_plain_http,
    )


async def ask(client: HttpClient, document: object = None, private: str = "") -> JsonReply:
    try:
        return await client.post_json("/ask", document, private=[private] if private else [])
    finally:
        await client.aclose()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("is_escaped", [False, True])
async def test_key_that_a_server_gives_back_goes_no_further(
    provider_server: ScriptedServer, encoding: str, is_escaped: bool
) -> None:
    document = {"model": f"m/{KEY}", KEY: [{"text": f"it is {KEY}.", "n": 1}]}
    body = json.dumps(document)
    if is_escaped:
        body = body.replace(KEY, "".join(f"\\u{ord(char):04x}" for char in KEY))
    provider_server.reply(raw=body.encode(encoding), headers={"x-request-id": f"r-{KEY}"})

    reply = await ask(make_client(provider_server.url))

    assert reply.document == {"model": "m/[key]", "[key]": [{"text": "it is [key].", "n": 1}]}
    assert reply.headers["x-request-id"] == "r-[key]"


async def fail(client: HttpClient, document: object = None, private: str = "") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(client, document, private)
    return caught.value


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_server(authority: trustme.CA) -> Iterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "provider.test").configure_cert(context)
    with ScriptedServer(tls=context) as server:
        yield server


@pytest.fixture
def authority_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


# --- what is sent ---


async def test_request_is_sent_as_json_with_its_headers(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"ok": "ü\ud800\0"}, headers={"X-Request-Id": "req-1"})

    reply = await ask(make_client(f"{provider_server.url}/v1"), {"text": "ü\ud800\0"})

    request = provider_server.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/ask")
    assert request.body == {"text": "ü\ud800\0"}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("evalcli/")
    assert request.headers["host"] == f"127.0.0.1:{provider_server.port}"
    assert reply.document == {"ok": "ü\ud800\0"}
    assert reply.headers.get("x-request-id") == "req-1"


async def test_connection_is_used_again(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={}, repeat=True)
    client = make_client(provider_server.url)

    for _ in range(3):
        await client.post_json("/ask", {})

    assert len(provider_server._connections) == 1
    await client.aclose()


async def test_cookies_are_not_kept(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={}, headers={"Set-Cookie": "a=b"}, repeat=True)
    client = make_client(provider_server.url)

    await client.post_json("/ask", {})
    await client.post_json("/ask", {})

    assert "cookie" not in provider_server.requests[1].headers
    await client.aclose()


async def test_many_requests_at_once(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={}, repeat=True, delay_s=0.05)
    client = make_client(provider_server.url)

    await asyncio.gather(*(client.post_json("/ask", {}) for _ in range(64)))

    assert len(provider_server.requests) == 64
    await client.aclose()


# --- faults of the connection ---


async def test_refused_connection() -> None:
    with refusing_url() as url:
        error = await fail(make_client(url))

    place = url.removeprefix("http://")
    assert type(error) is ProviderConnectionError
    assert error.message == f"openai: connection refused at {place}"
    assert error.is_retryable


async def test_refused_connection_by_name() -> None:
    with refusing_url() as url:
        error = await fail(make_client(url.replace("127.0.0.1", "localhost")))

    assert "connection refused at localhost:" in error.message


async def test_host_name_that_does_not_exist() -> None:
    error = await fail(make_client("https://provider.invalid/v1"))

    assert type(error) is ProviderConnectionError
    assert error.message == "openai: the host name of provider.invalid:443 cannot be resolved"


async def test_reset_connection(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="reset")

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderConnectionError
    assert error.is_retryable


async def test_half_a_body(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="half_body")

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderConnectionError
    assert "broke before the answer was complete" in error.message
    assert error.is_retryable


async def test_nothing_until_the_timeout(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="timeout")

    error = await fail(make_client(provider_server.url, timeout_s=0.1))

    assert type(error) is ProviderTimeoutError
    assert "nothing came from" in error.message
    assert "within 0.1 s (timeout_s)" in error.message
    assert error.is_retryable


async def test_dripping_body_is_bounded_by_the_timeout(provider_server: ScriptedServer) -> None:
    provider_server.reply(failure="drip", raw=b" " * 1000)

    error = await fail(make_client(provider_server.url, timeout_s=0.2))

    assert type(error) is ProviderTimeoutError
    assert "the answer was not complete" in error.message


async def test_server_that_does_not_read_is_bounded_by_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"

        error = await fail(make_client(url, timeout_s=0.3), {"text": "x" * 20_000_000})

    assert type(error) is ProviderTimeoutError


async def test_large_request_is_sent_whole(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={})

    await ask(make_client(provider_server.url), {"text": "x" * 3_000_000})

    request = provider_server.requests[0]
    assert request.body == {"text": "x" * 3_000_000}
    assert request.headers["content-length"] == str(len(request.raw))


async def test_answer_that_is_not_http() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    error = await fail(make_client(f"http://127.0.0.1:{port}"))

    assert type(error) is ProviderReplyError
    assert error.message == f"openai: the answer of 127.0.0.1:{port} is not valid HTTP"
    server.close()
    await server.wait_closed()


async def test_cancellation_passes_and_closes_the_connection(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(failure="timeout")
    client = make_client(provider_server.url)
    task = asyncio.create_task(client.post_json("/ask", {}))
    await asyncio.to_thread(provider_server.wait_for_requests, 1)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await client.aclose()


# --- replies that are no answers ---


async def test_status_error_carries_what_the_provider_said(provider_server: ScriptedServer) -> None:
    provider_server.reply(
        status=429,
        headers={"Retry-After": "2"},
        body={"error": {"message": f"Key {KEY} asked too often: 'What is the meaning of life?'"}},
    )

    error = await fail(make_client(provider_server.url), private="What is the meaning of life?")

    assert type(error) is ProviderStatusError
    assert error.message == "openai said 429 \"Key [key] asked too often: '[prompt]'\""
    assert (error.status, error.retry_after_s, error.is_retryable) == (429, 2.0, True)


async def test_large_error_page_is_not_read_to_its_end(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=500, raw=b"<title>Oops</title>" + b"x" * 30_000_000)

    error = await fail(make_client(provider_server.url))

    assert error.message == 'openai said 500 "Oops"'


async def test_body_over_the_limit_is_stopped(provider_server: ScriptedServer) -> None:
    provider_server.reply(raw=b'"' + b"x" * 30_000_000 + b'"')

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderReplyError
    assert error.message == "openai sent more than 20 MB, of which the rest was not read"
    assert not error.is_retryable


async def test_body_at_the_limit_is_read(provider_server: ScriptedServer) -> None:
    provider_server.reply(raw=b'"' + b"x" * (BODY_BYTES - 2) + b'"')

    reply = await ask(make_client(provider_server.url))

    assert isinstance(reply.document, str)
    assert len(reply.document) == BODY_BYTES - 2


async def test_compressed_bomb_is_stopped(provider_server: ScriptedServer) -> None:
    bomb = gzip.compress(b" " * 60_000_000)
    provider_server.reply(raw=bomb, headers={"Content-Encoding": "gzip"})

    error = await fail(make_client(provider_server.url))

    assert "sent more than 20 MB" in error.message


async def test_compressed_reply_is_read(provider_server: ScriptedServer) -> None:
    content = gzip.compress(b'{"a": 1}')
    provider_server.reply(raw=content, headers={"Content-Encoding": "gzip"})

    assert (await ask(make_client(provider_server.url))).document == {"a": 1}


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("br", 'openai used a content encoding nobody asked for: "br"'),
        ("gzip", "openai sent a compressed body that is broken"),
    ],
)
async def test_content_encoding_that_cannot_be_read(
    provider_server: ScriptedServer, encoding: str, message: str
) -> None:
    provider_server.reply(raw=b"{}", headers={"Content-Encoding": encoding})

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderReplyError
    assert error.message.startswith(message)


async def test_reply_in_another_charset_is_read(provider_server: ScriptedServer) -> None:
    content = json.dumps({"a": "Grüße"}, ensure_ascii=False).encode("latin-1")
    provider_server.reply(
        raw=content, headers={"Content-Type": "application/json; charset=latin-1"}
    )

    assert (await ask(make_client(provider_server.url))).document == {"a": "Grüße"}


@pytest.mark.parametrize("raw", [b"", b"<html>login</html>", b'{"a": ', b"[" * 100_000])
async def test_reply_that_is_not_json(provider_server: ScriptedServer, raw: bytes) -> None:
    provider_server.reply(raw=raw)

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderReplyError
    assert error.message.startswith("openai answered with something that is not JSON")
    assert not error.is_retryable


async def test_error_inside_a_200(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"error": {"code": 502, "message": "The host is down"}})

    error = await fail(make_client(provider_server.url))

    assert type(error) is ProviderReplyError
    assert error.message == 'openai answered with an error 502: "The host is down"'
    assert error.is_retryable


# --- redirects ---


async def test_redirect_to_another_host_is_refused(provider_server: ScriptedServer) -> None:
    with ScriptedServer() as other:
        provider_server.reply(status=307, headers={"Location": f"{other.url}/ask"}, raw=b"")

        error = await fail(make_client(provider_server.url))

    assert other.requests == []
    assert type(error) is ProviderStatusError
    assert f"redirects to {other.url}, which is not followed" in error.message
    assert not error.is_retryable


@pytest.mark.parametrize(
    "location", ["https://127.0.0.1/x", "http://evil.example", "//evil.example/x"]
)
async def test_redirect_to_another_origin_is_refused(
    provider_server: ScriptedServer, location: str
) -> None:
    provider_server.reply(status=308, headers={"Location": location}, raw=b"")

    error = await fail(make_client(provider_server.url))

    assert "which is not followed" in error.message
    assert len(provider_server.requests) == 1


async def test_redirect_on_the_same_host_is_followed(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=307, headers={"Location": "/v2/ask"}, raw=b"")
    provider_server.reply(body={"a": 1})

    reply = await ask(make_client(provider_server.url), {"q": 1})

    assert reply.document == {"a": 1}
    assert [request.path for request in provider_server.requests] == ["/ask", "/v2/ask"]
    assert provider_server.requests[1].body == {"q": 1}


async def test_redirect_that_changes_the_method_is_refused(
    provider_server: ScriptedServer,
) -> None:
    provider_server.reply(status=302, headers={"Location": "/login"}, raw=b"")

    error = await fail(make_client(provider_server.url))

    assert "said 302 and redirects to another address" in error.message


async def test_redirects_in_a_circle_end(provider_server: ScriptedServer) -> None:
    provider_server.reply(status=307, headers={"Location": "/ask"}, raw=b"", repeat=True)

    error = await fail(make_client(provider_server.url))

    assert error.status == 307
    assert len(provider_server.requests) == 4


# --- proxy and certificates ---


async def test_plain_requests_go_through_the_proxy(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={"a": 1})
    with LoopbackProxy(provider_server.port) as proxy:
        client = make_client(
            "http://llm.internal/v1",
            environ={"HTTP_PROXY": proxy.url},
            allow_plain_http=("llm.internal",),
        )
        reply = await ask(client)

    assert reply.document == {"a": 1}
    assert proxy.lines == ["POST http://llm.internal/v1/ask HTTP/1.1"]
    assert provider_server.requests[0].path == "/v1/ask"


async def test_tls_requests_go_through_the_proxy(
    tls_server: ScriptedServer, authority_file: str
) -> None:
    tls_server.reply(body={"a": 1})
    with LoopbackProxy(tls_server.port) as proxy:
        address = proxy.url.replace("http://", "http://user:hunter2%21@")
        client = make_client(
            "https://provider.test/v1",
            environ={"https_proxy": address, "SSL_CERT_FILE": authority_file},
        )
        reply = await ask(client)

    assert reply.document == {"a": 1}
    assert proxy.lines == ["CONNECT provider.test:443 HTTP/1.1"]
    assert proxy.authorizations == ["Basic dXNlcjpodW50ZXIyIQ=="]
    assert tls_server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_no_proxy_is_honoured(provider_server: ScriptedServer) -> None:
    provider_server.reply(body={})
    with LoopbackProxy(provider_server.port) as proxy:
        environ = {"ALL_PROXY": proxy.url, "NO_PROXY": "127.0.0.0/8"}
        await ask(make_client(provider_server.url, environ=environ))

    assert proxy.lines == []


async def test_proxy_that_refuses(tls_server: ScriptedServer) -> None:
    with LoopbackProxy(tls_server.port, refuses=407) as proxy:
        address = proxy.url.replace("http://", "http://user:hunter2@")
        error = await fail(make_client("https://provider.test", environ={"HTTPS_PROXY": address}))

    assert type(error) is ProviderConnectionError
    assert error.message == (
        f"openai: the proxy 127.0.0.1:{proxy.port} does not let the request through: it said 407"
    )
    assert_no_secret(error, "hunter2")


async def test_proxy_that_is_down() -> None:
    with refusing_url() as url:
        error = await fail(make_client("https://provider.test", environ={"HTTPS_PROXY": url}))

    assert error.message == f"openai: connection refused at the {url.replace('http://', 'proxy ')}"


async def test_unknown_authority_is_not_trusted(tls_server: ScriptedServer) -> None:
    error = await fail(make_client(tls_server.url))

    assert type(error) is ProviderConnectionError
    assert "is not trusted" in error.message
    assert "SSL_CERT_FILE" in error.advice
    assert not error.is_retryable


async def test_custom_authority_is_trusted(tls_server: ScriptedServer, authority_file: str) -> None:
    tls_server.reply(body={"a": 1})

    reply = await ask(make_client(tls_server.url, environ={"SSL_CERT_FILE": authority_file}))

    assert reply.document == {"a": 1}


async def test_folder_of_authorities_is_trusted(
    tls_server: ScriptedServer, authority: trustme.CA, tmp_path: Path
) -> None:
    pem = authority.cert_pem.bytes()
    (tmp_path / f"{_subject_hash(pem)}.0").write_bytes(pem)
    tls_server.reply(body={"a": 1})

    reply = await ask(make_client(tls_server.url, environ={"SSL_CERT_DIR": str(tmp_path)}))

    assert reply.document == {"a": 1}


async def test_certificate_for_another_name_is_not_trusted(
    tls_server: ScriptedServer, authority_file: str
) -> None:
    url = tls_server.url.replace("127.0.0.1", "localhost")

    error = await fail(make_client(url, environ={"SSL_CERT_FILE": authority_file}))

    assert "is not trusted: hostname mismatch" in error.message.lower()


async def test_plain_server_asked_with_tls(provider_server: ScriptedServer) -> None:
    error = await fail(make_client(provider_server.url.replace("http:", "https:")))

    assert type(error) is ProviderConnectionError
    assert "no TLS connection" in error.message


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_authorities_that_cannot_be_read_are_refused(tmp_path: Path, variable: str) -> None:
    with pytest.raises(ConfigurationError, match=variable):
        make_client("https://provider.test", environ={variable: str(tmp_path / "missing")})


# --- errors ---


def assert_no_secret(error: BaseException, *secrets: str) -> None:
    """Look in the error, in what it is chained to, and in the traceback as text."""
    shown = "".join(traceback.format_exception(error))
    chained: BaseException | None = error
    while chained is not None:
        shown += f"{chained!r} {chained} {chained.args!r} {vars(chained)!r}"
        chained = chained.__cause__ or chained.__context__
    for secret in secrets:
        assert secret not in shown


@pytest.mark.parametrize(
    "failure", ["reset", "half_body", "timeout", "status", "not_json", "error"]
)
async def test_no_error_holds_the_key(provider_server: ScriptedServer, failure: str) -> None:
    match failure:
        case "reset" | "half_body" | "timeout":
            provider_server.reply(failure=failure)
        case "status":
            provider_server.reply(status=401, body={"error": {"message": f"bad key {KEY}"}})
        case "not_json":
            provider_server.reply(raw=f"who is {KEY}?".encode())
        case _:
            provider_server.reply(body={"error": f"bad key {KEY}"})

    error = await fail(make_client(provider_server.url, timeout_s=0.5))

    assert_no_secret(error, KEY, KEY[-8:])


def _all_subclasses(base: type[BaseException]) -> Iterator[type[BaseException]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _all_subclasses(kind)


def _name(kind: type[BaseException]) -> str:
    return kind.__name__


_AIOHTTP_ERRORS = sorted(set(_all_subclasses(aiohttp.ClientError)), key=_name)
_HTTPX_ERRORS: list[type[BaseException]] = sorted(
    (
        kind
        for name in httpx.__all__
        if inspect.isclass(kind := getattr(httpx, name)) and issubclass(kind, Exception)
    ),
    key=_name,
)


def _make(kind: type[BaseException]) -> BaseException:
    """Make an exception of any signature, as far as a translation may look."""
    error = kind.__new__(kind)
    error.args = ("secret text",)
    return error


def test_exceptions_of_httpx_are_found() -> None:
    assert len(_HTTPX_ERRORS) >= 27


@pytest.mark.parametrize("kind", _HTTPX_ERRORS, ids=_name)
def test_every_exception_of_httpx_is_translated(kind: type[BaseException]) -> None:
    assert issubclass(kind, TRANSPORT_ERRORS)  # else it is not caught
    error = translate_error("openai", _make(kind), "host:1")

    is_timeout = issubclass(kind, httpx.TimeoutException)
    assert isinstance(error, ProviderTimeoutError) == is_timeout
    assert error.message.startswith("openai: ")
    assert "host:1" in error.message or "proxy" in error.message
    assert "secret text" not in str(error)


@pytest.mark.parametrize("kind", _AIOHTTP_ERRORS, ids=_name)
def test_every_exception_of_aiohttp_is_translated(kind: type[BaseException]) -> None:
    cause = _make(kind)
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        cause._certificate_error = ssl.SSLCertVerificationError("x")
    elif isinstance(cause, aiohttp.ClientConnectorError):
        cause._os_error = ConnectionRefusedError(111, "refused")
    elif isinstance(cause, aiohttp.ClientResponseError):
        cause.status = 502
    wrapper = httpx.ConnectTimeout("as the transport says")
    wrapper.__cause__ = cause

    error = translate_error("openai", wrapper, "host:1")

    is_timeout = issubclass(kind, aiohttp.ServerTimeoutError)
    assert isinstance(error, ProviderTimeoutError) == is_timeout
    assert "secret text" not in str(error)


def _subject_hash(pem: bytes) -> str:
    """The name under which OpenSSL looks a CA up in a folder.

    Source: OpenSSL, X509_NAME_hash: SHA-1 over the canonical (lower-case UTF-8) subject.
    """
    canonical = b""
    for attribute in load_pem_x509_certificate(pem).subject:
        text = _der(0x0C, " ".join(str(attribute.value).lower().split()).encode())
        canonical += _der(
            0x31, _der(0x30, _der(0x06, _ORGANIZATION[attribute.oid.dotted_string]) + text)
        )
    digest = hashlib.sha1(canonical, usedforsecurity=False).digest()
    return digest[3::-1].hex()


_ORGANIZATION = {"2.5.4.10": b"\x55\x04\x0a", "2.5.4.11": b"\x55\x04\x0b"}


def _der(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content
