"""How long `evalcli --version` and `--help` take, beside an import of Typer alone.

python -m tests.bench.startup
"""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path

from tests.bench.core_install import core_install
from tests.bench.figures import Figure, show_and_exit

ROUNDS = 15


def commands(python: Path) -> dict[str, list[str]]:
    """Give the commands of an environment by the names of their figures."""
    evalcli = str(python.with_name("evalcli"))
    return {
        "import typer": [str(python), "-c", "import typer"],
        "--version": [evalcli, "--version"],
        "--help": [evalcli, "--help"],
    }


def measure_seconds(command: list[str]) -> float:
    """Run a command to its end."""
    started_at = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started_at


def measure_figures(python: Path) -> list[Figure]:
    """Measure the commands in turn."""
    measured = commands(python)
    for command in measured.values():
        measure_seconds(command)
    rounds = [
        {name: measure_seconds(command) for name, command in measured.items()}
        for _ in range(ROUNDS)
    ]
    medians = {name: statistics.median(row[name] for row in rounds) for name in measured}
    base = medians["import typer"]
    return [
        Figure(
            f"evalcli {name}",
            medians[name] / base,
            "x typer",
            limit=limit,
            note=f"{medians[name] * 1000:.0f} ms; import typer {base * 1000:.0f} ms",
        )
        for name, limit in (("--version", 1.3), ("--help", 2.5))
    ]


def main() -> None:
    """Measure the core install."""
    with core_install() as python:
        figures = measure_figures(python)
    show_and_exit(figures)


if __name__ == "__main__":
    main()
