"""`evalcli decide --batch` as a person starts it, against a judge that answers after 20 ms.

    python -m tests.bench.decide

Wall time with process start, and whether memory grows with the number of lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.calls import DELAY_S
from tests.bench.core_install import ROOT, core_install
from tests.bench.eval_run import RunCost
from tests.bench.figures import Figure, median_of, show_and_exit

LINES = 5000
FEW, MANY = 1000, 100_000
CONCURRENCY = 32
IDEAL_S = LINES * DELAY_S / CONCURRENCY

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
_PROFILE = {
    "kind": "profile",
    "identifier": "bench.answer",
    "version": 1,
    "requires": ["task", "candidate", "evidence"],
    "questions": {
        "verdict": {
            "type": "choice",
            "instructions": "What should happen to `candidate`?",
            "options": ["publish", "revise", "discard"],
        },
        "supported": {"type": "yes_no", "instructions": "Is `candidate` supported by `evidence`?"},
    },
}


@contextmanager
def bench_judge(delay_s: float) -> Iterator[str]:
    """Run the judge in a process of its own; gives its URL."""
    words = ["-m", "tests.bench.decision_server", "--delay-ms", str(delay_s * 1000)]
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the judge has no stdout")
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def write_workspace(folder: Path, url: str) -> None:
    """Write a workspace with the profile and a judge."""
    judge = {
        "type": "typesafe",
        "base_url": f"{url}/v1",
        "trust_zone": "local",
        "concurrency": CONCURRENCY,
    }
    declared = {
        "providers": {"judge": judge},
        "models": {"jev-1.14.0": {"provider": "judge", "capabilities": ["decision"]}},
        "configurations": {"judge": {"model": "jev-1.14.0"}},
        "decision": {"configuration": "judge"},
    }
    (folder / "profiles").mkdir(parents=True)
    (folder / "evalcli.yaml").write_text(json.dumps(declared, indent=1), encoding="utf-8")
    (folder / "profiles" / "p.yaml").write_text(json.dumps(_PROFILE, indent=1), encoding="utf-8")


def measure_batch(python: Path, folder: Path, lines: int) -> RunCost:
    """Decide about so many subjects with a new output and read what the process took.

    Raises:
        RuntimeError: the batch did not end with 0, so that the figures mean nothing.
    """
    source = folder / f"in{lines}.jsonl"
    if not source.exists():
        with source.open("w", encoding="utf-8") as handle:
            for number in range(lines):
                subject = {
                    "task": f"Name the capital of country {number}.",
                    "candidate": f"The capital of country {number} is Paris.",
                    "evidence": ["Paris is the capital of France."],
                }
                handle.write(f"{json.dumps(subject)}\n")
    output = folder / "out.jsonl"
    output.unlink(missing_ok=True)
    words = ["decide", "bench.answer", "--batch", source.name, "--output", output.name]
    started_at = time.perf_counter()
    process = subprocess.Popen(
        [str(python.with_name("evalcli")), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started_at
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"evalcli decide ended with {process.returncode}")
    return RunCost(
        wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT / 1_000_000
    )


def measure_figures(python: Path) -> list[Figure]:
    """Measure all figures of a batch."""
    with tempfile.TemporaryDirectory() as name:
        with bench_judge(DELAY_S) as url:
            folder = Path(name, "timed")
            write_workspace(folder, url)
            measure_batch(python, folder, 1)  # byte code and disk cache are warm from here on
            wall_s, costs = median_of(
                lambda: measure_batch(python, folder, LINES), lambda cost: cost.wall_s, runs=3
            )
        with bench_judge(0.0) as url:
            folder = Path(name, "large")
            write_workspace(folder, url)
            few = measure_batch(python, folder, FEW)
            many = measure_batch(python, folder, MANY)
    return [
        Figure(
            f"{LINES:,} decisions at {CONCURRENCY}, start included",
            wall_s / IDEAL_S,
            "x ideal",
            limit=2.6,
            note=f"{wall_s:.2f} s, {costs[0].cpu_s:.2f} s CPU",
        ),
        Figure(
            f"memory of {MANY:,} lines beyond {FEW:,}",
            many.peak_mb - few.peak_mb,
            "MB",
            limit=10,
            note=f"{few.peak_mb:.0f} MB and {many.peak_mb:.0f} MB",
        ),
    ]


def main() -> None:
    """Measure the core install."""
    with core_install() as python:
        figures = measure_figures(python)
    show_and_exit(figures)


if __name__ == "__main__":
    main()
