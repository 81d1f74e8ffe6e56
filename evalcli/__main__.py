"""The console script, and python -m evalcli."""

from __future__ import annotations

import gc
import signal
import sys
from types import FrameType

from evalcli import __version__

_INTERRUPTED = 130  # errors.ExitStatus, which is not loaded that early
_BUG = 70


def main() -> None:
    """Run the command line. `--version` alone is answered before anything is loaded."""
    signal.signal(signal.SIGTERM, _interrupt)
    # What modules and declarations make stays to the end: to look for garbage among it after
    # every 700 objects is a twentieth of a command's start.
    gc.set_threshold(50_000, 20, 50)
    try:
        if sys.argv[1:] == ["--version"]:
            _show_version()
            return
        from evalcli.cli.app import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:  # while modules are loaded; later the error boundary has it
        sys.exit(_INTERRUPTED)
    except Exception as exc:  # noqa: BLE001 - Python would end with 1, which is a gate's no
        sys.stderr.write(f"error: evalcli cannot start: {type(exc).__name__}: {exc}\n")
        sys.stderr.write("install it again, with all that it needs\n")
        sys.exit(_BUG)
    finally:
        # The status is decided; a signal that comes while Python shuts down is too late for it.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        gc.freeze()  # to look for garbage at the very end would take a tenth of a small run


def _show_version() -> None:
    from evalcli.cli import console
    from evalcli.errors import OutputError

    try:
        console.out(f"evalcli {__version__}")
    except OutputError as error:
        console.render_error(error)
        sys.exit(int(error.exit_status))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Let SIGTERM end the process as Ctrl-C does: nothing measured is lost."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
