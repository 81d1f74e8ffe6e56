"""Fixtures for all tests: a clean environment, a scripted provider."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.approved import Approved
from tests.support.server import ScriptedServer
from tests.support.workspace import CliWorkspace

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_OTHERS = ("NO_COLOR", "FORCE_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR")


# A busy machine is no failed property; speed is measured by the benchmarks. What `make test` says
# of a change is the same each time; `make test-all` searches anew, and longer.
settings.register_profile(
    "evalcli",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("evalcli"), max_examples=300, derandomize=False
)
settings.load_profile("evalcli")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites approved outputs."""
    parser.addoption("--approve", action="store_true", help="rewrite tests/expected/")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say when the tests on labelled collections were not collected."""
    if not os.environ.get("EVALCLI_COLLECTIONS"):
        terminalreporter.write_line(
            "EVALCLI_COLLECTIONS is not set: tests on the labelled collections were not collected"
        )


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Approved:
    """The approved outputs in `tests/expected/`."""
    return Approved(is_approving=bool(request.config.getoption("--approve")))


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths for homes, each its own; a folder by `mktemp` for every test takes ever longer."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> Path:
    """Run each test without proxies, keys and settings of the machine; gives the empty home."""
    for name in list(os.environ):
        known = name.upper() in (*_PROXIES, *_OTHERS)
        if known or name.endswith("_KEY") or name.startswith("EVALCLI_"):
            monkeypatch.delenv(name)
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def provider_server() -> Iterator[ScriptedServer]:
    """A scripted provider on loopback; its base URL is `f"{provider_server.url}/v1"`."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio only."""
    return "asyncio"


@pytest.fixture
def cli_workspace(tmp_path: Path, provider_server: ScriptedServer) -> CliWorkspace:
    """A workspace whose provider `main` is `provider_server`."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return CliWorkspace(folder, provider_server)
