"""The bare call path: pipeline, adapter and HTTP client against the bench provider.

    python tests/bench/calls.py

Prints wall time and CPU a call of 2,000 calls at concurrency 32, and the ideal.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evalcli.calls.pipeline import Pipeline
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import resolve_configuration
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    ModelEntry,
    ProviderEntry,
    TrustZone,
    WorkspaceFile,
)
from evalcli.records import ChatRequest

SERVER = Path(__file__).with_name("server.py")
DELAY_S = 0.02


@dataclass(frozen=True, slots=True)
class CallFigures:
    """What the calls took.

    Units: `wall_s` in seconds of the clock for all calls, `cpu_ms` in milliseconds of this
    process's CPU for one call.
    """

    calls: int
    concurrency: int
    wall_s: float
    cpu_ms: float

    @property
    def ideal_s(self) -> float:
        """The time the provider alone takes."""
        return self.calls * DELAY_S / self.concurrency


@contextmanager
def bench_provider() -> Iterator[str]:
    """Run the bench provider in a process of its own; gives its URL."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay-ms", str(DELAY_S * 1000)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the provider has no stdout")
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def measure_calls(url: str, *, calls: int = 2000, concurrency: int = 32) -> CallFigures:
    """Measure so many calls through the pipeline in a bare event loop.

    Raises:
        RuntimeError: a call failed, so that the figures mean nothing.
    """
    return asyncio.run(_measure(url, calls, concurrency))


async def _measure(url: str, calls: int, concurrency: int) -> CallFigures:
    workspace = WorkspaceFile(
        providers={
            "main": ProviderEntry(
                type="openai",
                base_url=f"{url}/v1",
                api_key="env:MAIN_KEY",
                concurrency=concurrency,
                trust_zone=TrustZone.LOCAL,
            )
        },
        models={"model-a": ModelEntry(provider="main")},
        configurations={"bench": ConfigurationEntry(model="model-a")},
    )
    target = resolve_configuration(workspace, configuration="bench")
    numbers = iter(range(calls))
    async with Pipeline(workspace, root=None, environ={"MAIN_KEY": "key-main-0000"}) as pipeline:
        pipeline.check(target)
        started_at, cpu_at = time.perf_counter(), time.process_time()

        async def work() -> None:
            for number in numbers:
                request = ChatRequest("model-a", f"What is the capital of country {number}?")
                result = await pipeline.ask_chat(
                    target, request, data_class=DataClass.EDITOR_CONTENT
                )
                if result.error is not None:
                    raise RuntimeError(str(result.error))

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
        return CallFigures(
            calls,
            concurrency,
            time.perf_counter() - started_at,
            (time.process_time() - cpu_at) * 1000 / calls,
        )


def main() -> None:
    """Measure once and print."""
    with bench_provider() as url:
        figures = measure_calls(url)
    sys.stdout.write(
        f"{figures.calls} calls at {figures.concurrency}: {figures.wall_s:.2f} s "
        f"(ideal {figures.ideal_s:.2f} s), {figures.cpu_ms:.2f} ms CPU a call\n"
    )


if __name__ == "__main__":
    main()
