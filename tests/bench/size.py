"""How large evalcli without extras is, installed from its wheel into a new environment.

    python -m tests.bench.size [PYTHON]

With an interpreter, its environment is measured as it is; without one, a new one is made.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.bench.core_install import core_install
from tests.bench.figures import Figure, show_and_exit

LEFT_OUT = {"pip", "setuptools"}

# Runs in the other environment, so it imports nothing of ours.
_LIST = """
import json
from importlib.metadata import distributions
rows = {}
for dist in distributions():
    files = {str(dist.locate_file(file).resolve()) for file in dist.files or ()}
    rows[dist.metadata["Name"].lower()] = sorted(files)
print(json.dumps(rows))
"""


def measure_figures(python: Path) -> list[Figure]:
    """Measure an environment: the files of its packages with their byte code."""
    done = subprocess.run([str(python), "-c", _LIST], check=True, capture_output=True)
    packages: dict[str, list[str]] = json.loads(done.stdout)
    counted = {name: files for name, files in packages.items() if name not in LEFT_OUT}
    size = sum(Path(file).stat().st_size for files in counted.values() for file in files)
    return [
        Figure("core install, without pip and setuptools", size / 1_000_000, "MB", limit=90),
        Figure("packages of the core install", len(counted), "packages", limit=45),
        Figure("numpy in the core install", float("numpy" in counted), "packages", limit=0),
    ]


def main() -> None:
    """Measure the environment that was named, or the core install."""
    if len(sys.argv) > 1:
        show_and_exit(measure_figures(Path(sys.argv[1])))
    with core_install() as python:
        figures = measure_figures(python)
    show_and_exit(figures)


if __name__ == "__main__":
    main()
