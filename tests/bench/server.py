"""A provider that answers every chat request after a fixed delay, in a process of its own.

    python tests/bench/server.py [--delay-ms 20] [--text Paris]

Prints its port as the first line of stdout and serves until it is killed. Keep-alive, HTTP/1.1,
only as much parsing as a well-formed client needs. `GET /counts` answers
`{"received": N, "answered": M}`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Final

_HEAD_END: Final = b"\r\n\r\n"


class BenchProvider:
    """What all connections share: the finished answer and the counts."""

    def __init__(self, document: dict[str, object], delay_s: float) -> None:
        self.delay_s = delay_s
        self.received = 0
        self.answered = 0
        self.answer = _response(document)

    def counts(self) -> bytes:
        """Answer how many requests came in and how many answers went out."""
        return _response({"received": self.received, "answered": self.answered})


class BenchConnection(asyncio.Protocol):
    """One connection: reads whole requests, writes the answer after the delay."""

    def __init__(self, provider: BenchProvider) -> None:
        self._provider = provider
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._call_later = asyncio.get_running_loop().call_later

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport to write to."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the transport, so that a late answer is dropped."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Take bytes; answer each request that is complete."""
        self._buffer += data
        while True:
            head_end = self._buffer.find(_HEAD_END)
            if head_end < 0:
                return
            end = head_end + 4 + _content_length(self._buffer[:head_end])
            if len(self._buffer) < end:
                return
            is_count = self._buffer.startswith(b"GET /counts")
            self._buffer = self._buffer[end:]
            if is_count:
                if self._transport is not None:
                    self._transport.write(self._provider.counts())
            else:
                self._provider.received += 1
                self._call_later(self._provider.delay_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None:
            self._transport.write(self._provider.answer)
            self._provider.answered += 1


def _content_length(head: bytes) -> int:
    start = head.lower().find(b"\r\ncontent-length:")
    if start < 0:
        return 0
    return int(head[start + 17 :].split(b"\r\n", 1)[0])


def _response(document: dict[str, object]) -> bytes:
    body = json.dumps(document).encode("ascii")
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: req-1\r\n"
        b"Content-Length: " + str(len(body)).encode("ascii") + _HEAD_END + body
    )


def _completion(text: str) -> dict[str, object]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1764460800,
        "model": "model-a",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


async def serve_document(document: dict[str, object], delay_s: float) -> None:
    """Answer everything with one document, on a free loopback port, until the process is killed."""
    provider = BenchProvider(document, delay_s)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: BenchConnection(provider), "127.0.0.1", 0, backlog=512
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(description="A provider with a fixed delay, for the bench.")
    parser.add_argument("--delay-ms", type=float, default=20.0)
    parser.add_argument("--text", default="Paris")
    options = parser.parse_args()
    asyncio.run(serve_document(_completion(options.text), options.delay_ms / 1000))


if __name__ == "__main__":
    main()
