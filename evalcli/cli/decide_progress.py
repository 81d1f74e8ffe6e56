"""How far a batch of decisions is, as a bar on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from evalcli.cli import console
from evalcli.cli.progress import make_progress
from evalcli.records import BatchProgress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class BatchBar:
    """A listener and a context manager; the bar is gone when the context ends."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> BatchBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            console.set_live(None)
            self._progress.stop()
            self._progress = None

    def __call__(self, event: BatchProgress) -> None:
        """Draw how far the batch is."""
        if self._progress is None:
            streams = console.current_streams()
            if not streams.is_live or self._task is not None:
                return
            self._progress = make_progress(streams)
            self._progress.start()
            console.set_live(self._write_above)
            self._task = self._progress.add_task("decisions", total=event.total, standing="")
        if self._task is not None:
            failed = f"{event.failed:,} failed" if event.failed else ""
            self._progress.update(self._task, completed=event.done, standing=failed)

    def _write_above(self, lines: Sequence[str]) -> None:
        from rich.text import Text

        if self._progress is not None:
            for line in lines:
                self._progress.console.print(Text(line), soft_wrap=True)
