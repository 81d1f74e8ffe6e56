"""`evalcli eval run` as a person starts it, against a provider that answers after 20 ms.

    python -m tests.bench.eval_run

Wall time, CPU a prompt, peak memory, and what a kill -9 leaves in the history.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from tests.bench.calls import DELAY_S, bench_provider
from tests.bench.core_install import core_install
from tests.bench.figures import Figure, median_of, show_and_exit

PROMPTS = 2000
CONCURRENCY = 32
IDEAL_S = PROMPTS * DELAY_S / CONCURRENCY

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
_WORKSPACE = """\
providers:
  main: {{type: openai, base_url: '{url}/v1', trust_zone: local, concurrency: {concurrency}}}
models:
  model-a: {{provider: main}}
configurations:
  bench: {{model: model-a}}
eval: {{configuration: bench}}
"""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one process took.

    Units: seconds of the clock, seconds of CPU, megabytes (10^6 bytes) at the peak.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float


def write_workspace(folder: Path, url: str, prompts: int) -> Path:
    """Write a workspace with the set `bench.run` of so many prompts."""
    (folder / "sets").mkdir(parents=True)
    (folder / "evalcli.yaml").write_text(
        _WORKSPACE.format(url=url, concurrency=CONCURRENCY), encoding="utf-8"
    )
    lines = ["kind: prompts", "identifier: bench.run", "name: Bench", "prompts:"]
    for number in range(prompts):
        lines += [
            f"  - id: p{number:04}",
            f"    prompt: What is the capital of country {number}? Answer in one sentence.",
            "    assertions: [{contains: Paris}]",
        ]
    (folder / "sets" / "run.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def start_run(python: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start a run on a new history, as the console script does."""
    shutil.rmtree(folder / ".evalcli", ignore_errors=True)
    return subprocess.Popen(
        [str(python.with_name("evalcli")), "eval", "run", "bench.run"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def measure_run(python: Path, folder: Path) -> RunCost:
    """Run the set to its end and read from the system what the process took.

    Raises:
        RuntimeError: the run did not end with 0, so that the figures mean nothing.
    """
    started_at = time.perf_counter()
    process = start_run(python, folder)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started_at
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"evalcli eval run ended with {process.returncode}")
    return RunCost(
        wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT / 1_000_000
    )


def measure_kill(python: Path, folder: Path, url: str) -> int:
    """Kill a run at a random moment; count the answers that were sent and are not stored."""
    before = count_answered(url)
    process = start_run(python, folder)
    moment = random.randrange(1, PROMPTS - CONCURRENCY)  # noqa: S311 - no secret
    while count_answered(url) - before < moment and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return count_answered(url) - before - count_stored(folder)


def count_answered(url: str) -> int:
    """Ask the provider how many answers it has sent."""
    with urlopen(f"{url}/counts") as reply:  # noqa: S310 - our own server on loopback
        answered = reply.read().decode("ascii").rpartition(":")[2].strip(" }\n")
    return int(answered)


def count_stored(folder: Path) -> int:
    """Count the graded trials of a history."""
    path = folder / ".evalcli" / "history.db"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database:
        row = database.execute("SELECT count(*) FROM trials WHERE state = 'graded'").fetchone()
    return int(row[0])


def measure_ceiling(url: str) -> float:
    """Measure how long the server needs when the client does next to nothing."""
    return asyncio.run(_drain(int(url.rpartition(":")[2])))


async def _drain(port: int) -> float:
    body = b'{"model":"model-a","messages":[{"role":"user","content":"Hi"}]}'
    request = (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    numbers = iter(range(PROMPTS))

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in numbers:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()
        await writer.wait_closed()

    started_at = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(work())
    return time.perf_counter() - started_at


def measure_figures(python: Path) -> list[Figure]:
    """Measure all figures of a run."""
    with bench_provider() as url, tempfile.TemporaryDirectory() as name:
        one = write_workspace(Path(name, "one"), url, 1)
        many = write_workspace(Path(name, "many"), url, PROMPTS)
        measure_run(python, one)  # byte code and disk cache are warm from here on
        start_cpu_s, _ = median_of(lambda: measure_run(python, one), lambda c: c.cpu_s)
        wall_s, costs = median_of(lambda: measure_run(python, many), lambda c: c.wall_s)
        ceiling_s, _ = median_of(lambda: measure_ceiling(url), float)
        lost = [measure_kill(python, many, url) for _ in range(5)]
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    peak_mb = statistics.median(cost.peak_mb for cost in costs)
    return [
        Figure(
            f"{PROMPTS:,} prompts at {CONCURRENCY}, start included",
            wall_s / IDEAL_S,
            "x ideal",
            limit=3.0,
            note=f"{wall_s:.2f} s; the server alone {ceiling_s / IDEAL_S:.2f} x",
        ),
        Figure(
            "CPU a prompt beyond start-up",
            (cpu_s - start_cpu_s) * 1000 / (PROMPTS - 1),
            "ms",
            limit=2.2,
            note=f"start-up {start_cpu_s:.2f} s",
        ),
        Figure("peak memory", peak_mb, "MB", limit=100),
        Figure(
            "answers lost to kill -9, worst of 5",
            max(lost),
            "answers",
            limit=CONCURRENCY,
            note=f"lost {', '.join(map(str, lost))}",
        ),
    ]


def main() -> None:
    """Measure the core install."""
    with core_install() as python:
        figures = measure_figures(python)
    show_and_exit(figures)


if __name__ == "__main__":
    main()
