"""evalcli as a user has it: its wheel without extras, in an environment of its own.

What else is installed matters for the figures: some packages import numpy where they find it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON_VARIABLE = "EVALCLI_BENCH_PYTHON"
"""Names the interpreter of a core install that is there already."""


@contextmanager
def core_install() -> Iterator[Path]:
    """Give the interpreter of a core install: the one that is there, or one made for the while."""
    there = os.environ.get(PYTHON_VARIABLE)
    if there:
        yield Path(there)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield install_core(Path(folder))


def install_core(folder: Path) -> Path:
    """Build the wheel, install it alone, and give the new environment's interpreter."""
    venv.create(folder / "env", with_pip=True, symlinks=True)
    python = folder / "env" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    constraints = str(ROOT / "constraints.txt")
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        check=True,
        env={**os.environ, "PIP_BUILD_CONSTRAINT": constraints},
    )
    [wheel] = folder.glob("evalcli-*.whl")
    subprocess.run([*pip, "install", "--constraint", constraints, str(wheel)], check=True)
    return python
