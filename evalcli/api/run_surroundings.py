"""What every run of a workspace shares."""

from __future__ import annotations

import os
from collections.abc import Sequence

from evalcli import __version__
from evalcli.api.workspaces import utc_now, workspace_root
from evalcli.history.store import History
from evalcli.loading.catalog import Catalog, LoadedWorkspace
from evalcli.runs.git_state import read_git_state
from evalcli.runs.run import Listener
from evalcli.runs.setting import RunSetting


def run_setting(
    loaded: LoadedWorkspace, catalog: Catalog, history: History, listeners: Sequence[Listener]
) -> RunSetting:
    """Put together what every run of a workspace shares; asks git for its state."""
    root = workspace_root(loaded)
    return RunSetting(
        workspace=loaded.file,
        root=root,
        environ=os.environ,
        history=history,
        git=read_git_state(root, os.environ),
        evalcli_version=__version__,
        now=utc_now,
        find_profile=catalog.find_profile,
        listeners=tuple(listeners),
    )
