"""All figures of speed and size with their limits: `make bench`.

    python -m tests.bench.run [PART…]

Each part runs in a process of its own; the exit status is 1 where any of them missed a limit.
evalcli itself is measured as a user has it, from its wheel without extras.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from tests.bench.core_install import PYTHON_VARIABLE, ROOT, core_install

PARTS = ("startup", "loading", "eval_run", "decide", "grading", "history", "retrieval", "size")


def run_part(part: str, environ: Mapping[str, str]) -> bool:
    """Run one part; tell whether it kept its limits."""
    sys.stdout.write(f"--- {part}\n")
    sys.stdout.flush()
    words = [sys.executable, "-m", f"tests.bench.{part}"]
    return subprocess.run(words, cwd=ROOT, env=environ, check=False).returncode == 0


def main() -> int:
    """Run the parts that were named, or all."""
    parts = sys.argv[1:] or PARTS
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.stderr.write(f"unknown part {unknown[0]}; known: {', '.join(PARTS)}\n")
        return 2
    with core_install() as python:
        environ = {**os.environ, PYTHON_VARIABLE: str(python)}
        missed = [part for part in parts if not run_part(part, environ)]
    sys.stdout.write(f"missed: {', '.join(missed)}\n" if missed else "every limit is kept\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
