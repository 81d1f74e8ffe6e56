"""What lexical search over one corpus takes in memory: run by `tests.bench.retrieval`.

    python -m tests.bench.retrieval_memory FOLDER

In a process of its own that imports nothing else; prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

from tests.support.retrieval import open_declared


def peak_bytes() -> int:
    """Give the peak memory of this process; getrusage counts the parent's before exec, too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


async def measure(root: Path) -> dict[str, float]:
    """Open, build where needed, and ask a little."""
    started = time.perf_counter()
    entry = {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}, "language": "english"}
    opened = open_declared(root, entry)
    await opened.prepare()
    ready_s = time.perf_counter() - started
    for number in range(50):
        await opened.show(f"w{number:x} w{number * 7:x} w{number * 31:x}", 10)
    return {"ready_s": ready_s, "peak_bytes": peak_bytes()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(measure(Path(sys.argv[1])))))
