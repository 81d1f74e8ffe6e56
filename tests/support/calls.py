"""Builders for the call path: a workspace with one provider, its target, a clock that jumps."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal

from evalcli.declarations.resolution import ResolvedConfiguration, resolve_configuration
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    ModelEntry,
    Prices,
    ProviderEntry,
    WorkspaceFile,
)

KEY = "key-main-4711"
ENVIRON = {"MAIN_KEY": KEY}


@dataclass(slots=True)
class JumpingTime:
    """A clock that moves only when somebody sleeps; `waits` are the sleeps, in seconds."""

    now: float = 1000.0
    waits: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def make_target(
    entry: ProviderEntry, *, prices: Prices | None = None
) -> tuple[WorkspaceFile, ResolvedConfiguration]:
    """Declare provider `main` with `model-a`; gives the workspace and what to ask."""
    workspace = WorkspaceFile(
        providers={"main": entry},
        models={"model-a": ModelEntry(provider="main", prices=prices)},
        configurations={"default": ConfigurationEntry(model="model-a", temperature=Decimal(0))},
    )
    return workspace, resolve_configuration(workspace, configuration="default")
