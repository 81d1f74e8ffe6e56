"""The one HTTP client: time-outs, size bounds, proxies, redirects.

Nothing else knows httpx or aiohttp. Every exception of theirs becomes a `ProviderError` here, and
none of them is chained: they carry request headers, and with them the key. Requests go to the
host of the base URL and nowhere else.

httpx requests are handed to the aiohttp transport directly. httpx's client above it costs as much
time as the transport itself; what it does for us is little, and is here: proxy, redirects, total
time. httpx's own connection pool is ten times slower at 32 connections.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import json
import os
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from evalcli import __version__
from evalcli.errors import (
    ConfigurationError,
    ProviderConnectionError,
    ProviderError,
    ProviderReplyError,
    ProviderStatusError,
    ProviderTimeoutError,
)
from evalcli.http_address import (
    check_base_url,
    find_proxy,
    proxy_place,
    proxy_secrets,
    tls_context,
)
from evalcli.http_body import ENCODINGS, BrokenBodyError, NotJson, parse_json, read_body
from evalcli.http_errors import error_in_reply, status_error
from evalcli.redaction import Redactor

BODY_BYTES: Final = 20_000_000
"""The largest body that is read, after decompression."""

_ERROR_BODY_BYTES: Final = 65_536
_WHOLE_BYTES: Final = 1 << 20  # aiohttp warns of larger ones: they hold up the loop
_PIECE_BYTES: Final = 65_536
_REDIRECTS: Final = 3
_encode_json = json.JSONEncoder(separators=(",", ":")).encode
TRANSPORT_ERRORS: Final = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpx.CookieConflict,
    aiohttp.ClientError,
    OSError,
)
"""All that the transport may raise; nothing of it gets past `HttpClient`."""


@dataclass(frozen=True, slots=True)
class JsonReply:
    """A successful reply. `headers` have their names in lower case."""

    document: object
    headers: Mapping[str, str]


class HttpClient:
    """Asks one provider, on its own host only.

    `headers` go with every request. `keys` are the secrets that must not be in an error; `environ`
    is looked up for proxy and CA variables. `advice` says by status what to do, by default what
    helps with a model. `now` reads dates in `Retry-After`.
    Units: `timeout_s` in seconds, for the whole call with the last byte of its body.

    Raises:
        ConfigurationError: the address, the proxy or the CA cannot be used.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        timeout_s: float,
        headers: Mapping[str, str],
        environ: Mapping[str, str],
        keys: Sequence[str] = (),
        allow_plain_http: Sequence[str] = (),
        advice: Mapping[int, str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.provider = provider
        self._base_url = check_base_url(provider, base_url, allow_plain_http)
        self._timeout_s = timeout_s
        self._now = now
        self._advice = advice
        self._urls: dict[str, httpx.URL] = {}
        proxy = find_proxy(self._base_url, environ)
        self.redactor = Redactor((*keys, *proxy_secrets(proxy)))
        origin = self._url("")
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        self._place = f"{host}:{_origin(origin)[2]}"
        self._proxy_place = proxy_place(proxy)
        self._headers = _make_headers(headers)
        is_tls = origin.scheme == "https" or (proxy or "").startswith("https:")
        context = tls_context(is_tls, environ) or httpx.create_ssl_context(trust_env=False)
        self._transport = AiohttpTransport(
            verify=context,
            proxy=_make_proxy(proxy),
            client=lambda: aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=context),
                cookie_jar=aiohttp.DummyCookieJar(),
            ),
        )

    async def post_json(
        self,
        path: str,
        document: object,
        *,
        private: Sequence[str] = (),
        unique_keys: bool = False,
    ) -> JsonReply:
        """Send one request, once, and read its JSON reply.

        `path` begins with a slash and is added to the base URL. `private` are texts of the
        request that must not come back in an error. With `unique_keys` a reply in which an object
        has a key twice is an error.

        Raises:
            ProviderError: of the kind that happened, with `is_retryable` and `retry_after_s`.
        """
        content = _encode_json(document).encode("ascii")
        return await self._ask("POST", self._url(path), content, private, unique_keys=unique_keys)

    async def get_json(self, path: str) -> JsonReply:
        """Send one GET request; as `post_json`."""
        return await self._ask("GET", self._url(path), b"", ())

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    def reply_error(
        self, message: str, *, said: str = "", private: Sequence[str] = ()
    ) -> ProviderReplyError:
        """Make the error of a reply that is no answer; `said` is quoted from it."""
        detail = self.redactor.clean(said, private)
        quoted = f': "{detail}"' if detail else ""
        return ProviderReplyError(
            self.provider, f"{self.provider} {message}{quoted}", status=200, detail=detail
        )

    def _url(self, path: str) -> httpx.URL:
        url = self._urls.get(path)
        if url is None:
            try:
                url = self._urls[path] = httpx.URL(self._base_url + path)
            except httpx.InvalidURL as exc:
                raise ConfigurationError(
                    f'provider "{self.provider}": base_url is not an address: {exc}'
                ) from None
        return url

    async def _ask(
        self,
        method: str,
        url: httpx.URL,
        content: bytes,
        private: Sequence[str],
        *,
        unique_keys: bool = False,
    ) -> JsonReply:
        progress = "nothing came"
        failure: ProviderError
        try:
            async with asyncio.timeout(self._timeout_s):
                for _ in range(_REDIRECTS + 1):
                    request = self._make_request(method, url, content)
                    response = await self._transport.handle_async_request(request)
                    progress = "the answer was not complete"
                    status, headers = response.status_code, _read_headers(response)
                    body = await self._read(response, headers)
                    if not 300 <= status < 400:
                        break
                    url = self._follow(request, status, headers)
        except TimeoutError:
            failure = ProviderTimeoutError(
                self.provider,
                f"{self.provider}: timed out: {progress} from {self._place} within "
                f"{self._timeout_s:g} s (timeout_s)",
                is_retryable=True,
            )
        except TRANSPORT_ERRORS as exc:
            failure = translate_error(self.provider, exc, self._place, self._proxy_place)
        else:
            return self._judge(status, headers, body, private, unique_keys=unique_keys)
        raise failure  # outside of the handlers, so that nothing is chained

    def _make_request(self, method: str, url: httpx.URL, content: bytes) -> httpx.Request:
        if len(content) <= _WHOLE_BYTES:
            # As a stream, httpx leaves the headers as they are; aiohttp adds host and length.
            stream = httpx.ByteStream(content)
            request = httpx.Request(method, url, headers=self._headers, stream=stream)
            request.read()
            return request
        headers = self._headers.copy()
        headers["content-length"] = str(len(content))
        return httpx.Request(method, url, headers=headers, stream=_Pieces(content))

    def _judge(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        private: Sequence[str],
        *,
        unique_keys: bool,
    ) -> JsonReply:
        """Take a reply that came in whole for what it is."""
        is_strict = unique_keys and status < 300
        document = parse_json(body, headers.get("content-type", ""), unique_keys=is_strict)
        if status >= 300:
            raise status_error(
                self.provider,
                status,
                headers,
                body,
                document,
                redactor=self.redactor,
                private=private,
                now=self._now(),
                advice=self._advice,
            )
        if isinstance(document, NotJson):
            raise self.reply_error(
                f"answered with something that is not JSON ({document.why})",
                said=body[:400].decode("utf-8", errors="replace"),
                private=private,
            )
        error = error_in_reply(self.provider, document, redactor=self.redactor, private=private)
        if error is not None:
            raise error
        # What a server gives back of a key, as a name or in an answer, goes no further.
        document = self.redactor.document_without_keys(document, body)
        clean = self.redactor.without_keys
        return JsonReply(document, {name: clean(value) for name, value in headers.items()})

    async def _read(self, response: httpx.Response, headers: Mapping[str, str]) -> bytes:
        """Read a body; an error's only as far as a message may stand in it."""
        stream = response.stream
        if not isinstance(stream, httpx.AsyncByteStream):
            raise TypeError("an asynchronous transport gave a synchronous stream")
        is_success = response.status_code < 300
        limit = BODY_BYTES if is_success else _ERROR_BODY_BYTES
        encoding = headers.get("content-encoding", "identity").strip().lower()
        try:
            if encoding not in ENCODINGS:
                raise self.reply_error("used a content encoding nobody asked for", said=encoding)
            body = await read_body(stream, encoding, limit)
        except BrokenBodyError as exc:
            raise self.reply_error(f"sent a compressed body that is broken: {exc}") from None
        finally:
            await stream.aclose()
        if len(body) > limit and is_success:
            raise self.reply_error(
                f"sent more than {BODY_BYTES // 1_000_000} MB, of which the rest was not read"
            )
        return body[:limit]

    def _follow(self, request: httpx.Request, status: int, headers: Mapping[str, str]) -> httpx.URL:
        """Find where a redirect leads, if it may be followed: on the same host, with no change.

        Raises:
            ProviderStatusError: it may not.
        """
        target: httpx.URL | None
        try:
            target = request.url.join(headers.get("location", ""))
        except httpx.InvalidURL:
            target = None
        is_same = target is not None and _origin(target) == _origin(request.url)
        if is_same and target is not None and (status in (307, 308) or request.method == "GET"):
            return target
        other = "another address"
        if target is not None and not is_same:
            other = self.redactor.clean(f"{target.scheme}://{target.netloc.decode('ascii')}")
        raise ProviderStatusError(
            self.provider,
            f"{self.provider} said {status} and redirects to {other}, which is not followed",
            status=status,
            advice="write the final address as base_url if you trust it",
        )


@dataclass(frozen=True, slots=True)
class _Fault:
    kinds: tuple[type[BaseException], ...]
    text: str
    error_type: type[ProviderError] = ProviderConnectionError
    is_retryable: bool = True
    advice: str = ""


_FAULTS: Final = (  # the first that fits is taken
    _Fault(
        (aiohttp.ClientConnectorDNSError,),
        "the host name of {place} cannot be resolved",
    ),
    _Fault(
        (aiohttp.ClientProxyConnectionError,),
        "{reason} at the {proxy}",
    ),
    _Fault(
        (aiohttp.ClientHttpProxyError, httpx.ProxyError),
        "the {proxy} does not let the request through: {reason}",
        is_retryable=False,
    ),
    _Fault(
        (aiohttp.ClientConnectorCertificateError,),
        "the certificate of {place} is not trusted: {reason}",
        is_retryable=False,
        advice="name the CA's certificate in SSL_CERT_FILE if it is yours",
    ),
    _Fault(
        (aiohttp.ServerTimeoutError, httpx.TimeoutException, TimeoutError),
        "timed out at {place}",
        ProviderTimeoutError,
    ),
    _Fault(
        (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
        "{place} closed the connection before it answered",
    ),
    _Fault(
        (aiohttp.ClientConnectionError, OSError),
        "{reason} at {place}",
    ),
    _Fault(
        (aiohttp.ClientPayloadError, httpx.NetworkError),
        "the connection to {place} broke before the answer was complete",
    ),
    _Fault(
        (aiohttp.ClientResponseError, httpx.DecodingError, httpx.HTTPStatusError),
        "the answer of {place} is not valid HTTP",
        ProviderReplyError,
        is_retryable=False,
    ),
    _Fault(
        (
            aiohttp.InvalidURL,
            aiohttp.NonHttpUrlClientError,
            httpx.InvalidURL,
            httpx.UnsupportedProtocol,
            httpx.TooManyRedirects,
        ),
        "an address at {place} cannot be asked",
        is_retryable=False,
        advice="check base_url",
    ),
    _Fault(
        (
            aiohttp.ClientError,
            httpx.HTTPError,
            httpx.StreamError,
            httpx.CookieConflict,
        ),
        "the request to {place} cannot be sent",
        is_retryable=False,
    ),
)


def translate_error(
    provider: str, exc: BaseException, place: str, proxy: str | None = None
) -> ProviderError:
    """Turn an exception of httpx or aiohttp into ours, without a trace of its request.

    The transport calls a refused connection a time-out, so its cause decides where it has one.
    """
    cause = exc.__cause__ if isinstance(exc.__cause__, aiohttp.ClientError) else exc
    fault = next(fault for fault in _FAULTS if isinstance(cause, fault.kinds))
    text = fault.text.format(place=place, proxy=proxy or "proxy", reason=_reason(cause))
    return fault.error_type(
        provider, f"{provider}: {text}", is_retryable=fault.is_retryable, advice=fault.advice
    )


def _reason(cause: BaseException) -> str:
    """Say in a few words why; from what the system says, never from the exception's own text."""
    if isinstance(cause, aiohttp.ClientHttpProxyError):
        return f"it said {cause.status}"
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return str(getattr(cause.certificate_error, "verify_message", "")) or "not verified"
    inner = cause.os_error if isinstance(cause, aiohttp.ClientConnectorError) else cause
    if isinstance(inner, ssl.SSLError):
        return f"no TLS connection ({(inner.reason or 'handshake failed').lower()})"
    number = inner.errno if isinstance(inner, OSError) else None
    if number == errno.ECONNREFUSED:
        return "connection refused"
    if isinstance(inner, ConnectionError) or number in (errno.ECONNRESET, errno.EPIPE):
        return "connection reset"
    if number is not None and number in errno.errorcode:
        return os.strerror(number).lower()
    return "no connection"


class _Pieces(httpx.AsyncByteStream):
    """A large body, sent piece by piece."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), _PIECE_BYTES):
            yield self._content[start : start + _PIECE_BYTES]


def _make_proxy(address: str | None) -> httpx.Proxy | None:
    """Send the proxy's password as a header: the transport's own way is deprecated in aiohttp."""
    if address is None:
        return None
    proxy = httpx.Proxy(address)
    if proxy.auth is None:
        return proxy
    user, password = proxy.auth
    token = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return httpx.Proxy(proxy.url, headers={"authorization": f"Basic {token}"})


def _read_headers(response: httpx.Response) -> Mapping[str, str]:
    """Read all headers once, by name in lower case; httpx reads each anew whenever it is asked."""
    found: dict[str, str] = {}
    for raw_name, raw_value in response.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), _header_text(raw_value)
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _header_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


def _make_headers(headers: Mapping[str, str]) -> httpx.Headers:
    """Merge headers with ours; theirs win."""
    return httpx.Headers(
        {
            **{
                "accept": "application/json",
                "accept-encoding": "gzip, deflate",
                "content-type": "application/json",
                "user-agent": f"evalcli/{__version__}",
            },
            **{name.lower(): value for name, value in headers.items()},
        }
    )
