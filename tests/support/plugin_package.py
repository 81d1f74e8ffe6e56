"""Installs a small package for real: a wheel, put together by hand and installed by pip."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path


def install_package(source: Path, folder: Path) -> dict[str, str]:
    """Install the pure package in `source` below `folder`; gives the environment that sees it.

    Its build backend need not be there: what a wheel of it holds is written down here.
    """
    wheel = _write_wheel(source, folder)
    target = folder / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-compile", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(target)}


def _write_wheel(source: Path, folder: Path) -> Path:
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    points = [
        line
        for group, entries in project["entry-points"].items()
        for line in [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    ]
    info = f"{name}-{version}.dist-info"
    files = {
        str(path.relative_to(source)): path.read_text(encoding="utf-8")
        for path in sorted(source.glob("*/*.py"))
    }
    files |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(points) + "\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel
