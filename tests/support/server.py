"""A real loopback HTTP server that answers as scripted, and misbehaves as scripted.

with ScriptedServer() as server:
    server.reply(text="Paris", to="capital")        # an OpenAI chat completion
    server.reply(status=429, headers={"Retry-After": "2"}, body={"error": {"message": "slow"}})
    server.reply(failure="half_body")
    ...  # base_url: f"{server.url}/v1"
    assert server.requests[0].headers["authorization"] == "Bearer key-main-0000"
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import EllipsisType
from typing import Any, Literal

from tests.support.serving import ThreadedServer

Failure = Literal["reset", "timeout", "half_body", "drip"]

DEFAULT_USAGE: Mapping[str, object] = {
    "prompt_tokens": 12,
    "completion_tokens": 3,
    "total_tokens": 15,
}
DRIP_S = 0.02
"""Seconds between two bytes of a dripping body."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as it came in.

    `path` includes the query; header names are lower-case; `body` is the parsed JSON, None where
    there is none; `at` is `time.monotonic()`, in seconds.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    raw: bytes
    at: float

    @property
    def user_text(self) -> str:
        """The last user message of a chat request; the whole JSON as text for any other."""
        if isinstance(self.body, dict) and isinstance(self.body.get("messages"), list):
            for message in reversed(self.body["messages"]):
                if message.get("role") == "user":
                    return str(message.get("content"))
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(slots=True)
class _Reply:
    content: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    to: str | None = None
    path: str | None = None
    failure: Failure | None = None
    repeat: bool = False
    delay_s: float = 0
    until: threading.Event | None = None

    def fits(self, request: RecordedRequest) -> bool:
        if self.path is not None and not request.path.endswith(self.path):
            return False
        return self.to is None or self.to in request.user_text


class ScriptedServer(ThreadedServer):
    """Answers requests from a script, in a thread of its own; use as a context manager.

    The first scripted reply that fits a request is taken (and kept where it repeats). A request
    that no reply fits gets status 500 and says so. `GET …/models` lists `models` unless a reply
    with that `path` is scripted.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.models = ["model-a"]
        self.requests: list[RecordedRequest] = []
        self.unexpected: list[RecordedRequest] = []
        self.peak_in_flight = 0
        self._in_flight = 0
        self._replies: list[_Reply] = []
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        super().__init__(_Server(self, tls))
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop answering, end held requests, close every connection; harmless when repeated."""
        if self._closing.is_set():
            return
        self._closing.set()
        super().close()

    def _hang_up(self) -> None:
        with self._changed:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def reply(
        self,
        *,
        text: str | None = None,
        to: str | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        body: object | None = None,
        raw: bytes | None = None,
        failure: Failure | None = None,
        repeat: bool = False,
        delay_s: float = 0,
        until: threading.Event | None = None,
        path: str | None = None,
        model: str = "model-a",
        usage: Mapping[str, object] | EllipsisType | None = ...,
        finish_reason: str = "stop",
    ) -> None:
        """Script one reply.

        `text` is sent as an OpenAI chat completion, `body` as JSON, `raw` byte for byte. `to` must
        occur in the last user message (in the whole JSON where there are no messages), `path` at
        the end of the request's path. The answer is held back for `delay_s`, or `until` is set.
        `usage=None` leaves it out. `half_body` and `drip` send the content announced, but only its
        first half, or one byte every `DRIP_S`; `timeout` sends nothing at all.
        """
        if body is None and raw is None:
            counted = DEFAULT_USAGE if isinstance(usage, EllipsisType) else usage
            body = chat_completion(
                text if text is not None else "ok", model, counted, finish_reason
            )
        content = raw if raw is not None else json.dumps(body).encode("ascii")
        scripted = _Reply(
            content, status, dict(headers or {}), to, path, failure, repeat, delay_s, until
        )
        with self._changed:
            self._replies.append(scripted)

    def reset(self) -> None:
        """Forget the script and what came in so far; held requests end as they would."""
        with self._changed:
            self._replies.clear()
            self.requests.clear()
            self.unexpected.clear()

    def wait_for_requests(self, count: int, *, timeout_s: float = 10) -> None:
        """Block until so many requests came in.

        Raises:
            TimeoutError: they did not within `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise TimeoutError(f"{len(self.requests)} of {count} requests came in")

    def requests_to(self, text: str) -> list[RecordedRequest]:
        """The requests whose last user message holds this text."""
        with self._changed:
            return [request for request in self.requests if text in request.user_text]

    # --- called by the handler, in its threads ---

    def _take(self, request: RecordedRequest) -> _Reply:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            for index, reply in enumerate(self._replies):
                if reply.fits(request) and (request.method != "GET" or reply.path is not None):
                    return reply if reply.repeat else self._replies.pop(index)
            if request.method == "GET" and request.path.endswith("/models"):
                listed = [{"id": name, "object": "model", "owned_by": "x"} for name in self.models]
                return _Reply(json.dumps({"object": "list", "data": listed}).encode())
            self.unexpected.append(request)
        message = f"the test script has no reply left for {request.method} {request.path}"
        return _Reply(json.dumps({"error": {"message": message}}).encode(), status=500)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self._in_flight += 1
            self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1

    def _hold(self, reply: _Reply) -> None:
        if reply.delay_s:
            self._closing.wait(reply.delay_s)
        while reply.until is not None and not self._closing.is_set() and not reply.until.wait(0.01):
            pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = False  # so that server_close waits for the handlers

    def __init__(self, script: ScriptedServer, tls: ssl.SSLContext | None) -> None:
        self.script = script
        self.tls = tls
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's own asks the DNS for a name nobody needs
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.tls is not None:
            connection = self.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        with self.script._changed:
            self.script._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self.script._changed:
            self.script._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):  # clients that go away are part of the script
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base names it so
        pass

    def _serve(self) -> None:
        script = self.server.script
        with script._counted():
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            request = RecordedRequest(
                self.command,
                self.path,
                {name.lower(): value for name, value in self.headers.items()},
                _parse(raw),
                raw,
                time.monotonic(),
            )
            reply = script._take(request)
            script._hold(reply)
            if script._closing.is_set():
                self.close_connection = True
            elif reply.failure in ("reset", "timeout"):
                self._fail(reply.failure)
            else:
                self._send(reply)

    def _fail(self, failure: Failure) -> None:
        self.close_connection = True
        if failure == "timeout":
            self._wait_for_goodbye()
        else:  # linger 0: close sends RST, not FIN
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _wait_for_goodbye(self) -> None:
        """Send nothing until the client hangs up or the server is closed."""
        with contextlib.suppress(OSError):
            while self.connection.recv(65536):
                pass

    def _send(self, reply: _Reply) -> None:
        self.send_response(reply.status)
        names = {name.lower() for name in reply.headers}
        if "content-type" not in names:
            self.send_header("Content-Type", "application/json")
        if "content-length" not in names and "transfer-encoding" not in names:
            self.send_header("Content-Length", str(len(reply.content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.failure == "half_body":
            self.wfile.write(reply.content[: len(reply.content) // 2])
            self.close_connection = True
        elif reply.failure == "drip":
            self._drip(reply.content)
        else:
            self.wfile.write(reply.content)

    def _drip(self, content: bytes) -> None:
        for byte in content:
            self.wfile.write(bytes([byte]))
            if self.server.script._closing.wait(DRIP_S):
                self.close_connection = True
                break


def chat_completion(
    text: str | None,
    model: str = "model-a",
    usage: Mapping[str, object] | None = DEFAULT_USAGE,
    finish_reason: str = "stop",
) -> dict[str, object]:
    """Write an answer in the form of `POST /chat/completions`."""
    answer: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1764460800,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
    }
    if usage is not None:
        answer["usage"] = dict(usage)
    return answer


@contextlib.contextmanager
def refusing_url() -> Iterator[str]:
    """Give the URL of a port that refuses every connection while the context lasts."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound and never listening: nobody else can take the port
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None
