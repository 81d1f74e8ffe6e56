"""How long a big golden set takes to read: 2,000 prompts, in CPU time.

python -m tests.bench.loading
"""

from __future__ import annotations

import time

from evalcli.loading.reader import read_declaration
from tests.bench.figures import Figure, median_of, show_and_exit

PROMPTS = 2_000
LIMIT_MS = 500


def bench_loading() -> list[Figure]:
    """Measure reading and checking, the median of five."""
    lines = ["kind: prompts", "identifier: bench.big", "name: Big", "prompts:"]
    for number in range(PROMPTS):
        lines += [
            f"  - id: prompt-{number}",
            "    prompt: |",
            f"      Answer question {number}.",
            "      Take care.",
            "    assertions:",
            f"      - contains: word{number}",
        ]
    data = ("\n".join(lines) + "\n").encode()
    spent_ms, _ = median_of(lambda: _measure(data), lambda each: each)
    return [Figure(f"a set of {PROMPTS:,} prompts read", spent_ms, "ms", limit=LIMIT_MS)]


def _measure(data: bytes) -> float:
    started = time.process_time()
    reading = read_declaration(data, "big.yaml", folder="sets", read_text=str)
    spent_ms = (time.process_time() - started) * 1000
    if reading.faults:
        raise ValueError(f"the set has faults: {reading.faults[0].message}")
    return spent_ms


def main() -> None:
    """Show the figure; the exit status is 1 where it is missed."""
    show_and_exit(bench_loading())


if __name__ == "__main__":
    main()
