"""A real language model behind HTTP: llama.cpp's own server, in a process of its own.

Also the program of that process: `python tests/support/llama.py MODEL.gguf` prints its address as
one line of stdout and serves until its stdin ends.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import TracebackType

import pytest

from evalcli.providers.local_models import PACKAGED_MODELS, RUNTIME, has_runtime

MODEL = PACKAGED_MODELS[0]


def model_file() -> Path:
    """Find the packaged model; without it the test fails, since it cannot say anything."""
    path = MODEL.find_file()
    if path is None or not has_runtime():
        pytest.fail("the local model is not installed; `make test-all` installs it", pytrace=False)
    return path


class LlamaServer:
    """llama.cpp's HTTP server with the packaged model: `url` is its address, without `/v1`.

    One thread, since spinning on shared cores makes two slower than one. The process ends with the
    context, and with this process should that die.
    """

    def __init__(self) -> None:
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> LlamaServer:
        process = subprocess.Popen(
            [sys.executable, __file__, str(model_file())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._process = process
        if process.stdout is None:
            raise RuntimeError("the process has no stdout")
        self.url = process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"llama.cpp did not start: exit status {process.wait(10)}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            with self._process as process:
                process.kill()


def serve(path: str) -> None:
    """Serve a model until stdin ends."""
    llama = import_module(RUNTIME)
    params = llama.CommonParams()
    params.model.path = path
    params.model_alias = {MODEL.model}
    params.n_ctx = 8192
    params.n_parallel = 4
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.verbosity = 0
    server = llama.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
