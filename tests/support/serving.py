"""A loopback server in a thread of its own; the servers of the tests are made on it."""

from __future__ import annotations

import threading
from socketserver import TCPServer
from types import TracebackType
from typing import Self


class ThreadedServer:
    """A context manager: it serves until the end, then nothing of it is left."""

    def __init__(self, server: TCPServer) -> None:
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self.port = int(server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving, hang up, and wait for the handlers."""
        self._server.shutdown()
        self._hang_up()
        self._server.server_close()
        self._thread.join()

    def _hang_up(self) -> None:
        """End the connections that handlers still wait at."""
