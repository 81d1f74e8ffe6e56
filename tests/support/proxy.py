"""A real loopback HTTP proxy, for forwarded requests and for CONNECT."""

from __future__ import annotations

import contextlib
import socket
import threading
from socketserver import StreamRequestHandler, ThreadingTCPServer

from tests.support.serving import ThreadedServer


class LoopbackProxy(ThreadedServer):
    """Forwards everything to one upstream, whatever host was asked for; a context manager.

    `lines` holds the first line of each request, `authorizations` the `Proxy-Authorization`s.
    With `refuses` every request is answered with that status instead.
    """

    def __init__(self, upstream_port: int, *, refuses: int | None = None) -> None:
        self.upstream_port = upstream_port
        self.refuses = refuses
        self.lines: list[str] = []
        self.authorizations: list[str] = []
        self.open_sockets: set[socket.socket] = set()
        super().__init__(_Server(self))
        self.url = f"http://127.0.0.1:{self.port}"

    def _hang_up(self) -> None:
        for connection in list(self.open_sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingTCPServer):
    daemon_threads = False

    def __init__(self, proxy: LoopbackProxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        proxy = self.server.proxy
        first = self.rfile.readline().decode("latin-1").strip()
        if not first:
            return
        proxy.lines.append(first)
        headers: list[bytes] = []
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "proxy-authorization":
                proxy.authorizations.append(value.strip())
            elif not name.lower().startswith("proxy-"):
                headers.append(line)
        if proxy.refuses is not None:
            self.wfile.write(
                f"HTTP/1.1 {proxy.refuses} No\r\nContent-Length: 0\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            return
        with socket.create_connection(("127.0.0.1", proxy.upstream_port)) as upstream:
            proxy.open_sockets |= {upstream, self.connection}
            method, target, version = first.split(" ")
            if method == "CONNECT":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                path = "/" + target.split("/", 3)[3]
                head = f"{method} {path} {version}\r\n".encode()
                upstream.sendall(head + b"".join(headers) + b"\r\n")
            self._relay(upstream)

    def _relay(self, upstream: socket.socket) -> None:
        back = threading.Thread(target=_copy, args=(upstream, self.connection))
        back.start()
        with contextlib.suppress(OSError):
            while data := self.rfile.read1(65536):
                upstream.sendall(data)
            upstream.shutdown(socket.SHUT_WR)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
