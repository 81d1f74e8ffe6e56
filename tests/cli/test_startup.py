"""What starting evalcli must not load: nothing heavy before a command needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"httpx", "aiohttp", "pydantic", "jsonschema", "sqlite_utils", "sqlite3", "yaml", "regex"}

RARELY_NEEDED = {"httpx", "jsonschema", "regex", "rich", "tantivy", "tokenizers", "xllamacpp"}

_LOADED = """
import sys
sys.argv = ["evalcli", *sys.argv[1:]]
from evalcli.cli.app import main
try:
    main()
except SystemExit as end:
    status = end.code or 0
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_nothing_heavy(option: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, option], capture_output=True, text=True, check=True
    )
    assert "evalcli" in done.stdout
    assert not HEAVY & set(done.stderr.split())


def test_public_package_loads_nothing_heavy() -> None:
    code = "import sys, evalcli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_all_functions_together_load_nothing_that_few_of_them_need() -> None:
    code = "import sys, evalcli; [getattr(evalcli, n) for n in dir(evalcli)]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not RARELY_NEEDED & set(done.stdout.split())
