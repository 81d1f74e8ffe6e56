"""Running a coroutine to its end from plain code; signals cancel it once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from evalcli.errors import UsageError

ResultT = TypeVar("ResultT")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SignalHandlers = dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None]


def run_async(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end on an event loop; the first SIGINT or SIGTERM cancels the work.

    The handlers that were there before have the second signal (somebody is in a hurry), and they
    are there again in the end.

    Raises:
        UsageError: this thread runs an event loop already.
        KeyboardInterrupt: the work was cancelled where it could keep nothing.
    """
    if _is_in_event_loop():
        work.close()
        raise UsageError(
            "this is called inside a running event loop",
            advice="call it in a thread: `await asyncio.to_thread(...)`",
        )

    async def guarded() -> ResultT:
        with _cancelled_by_signals(before):
            return await work

    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _SIGNALS} if is_main else {}
    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _cancelled_by_signals(before: _SignalHandlers) -> Iterator[None]:
    """Let the first signal cancel the present task; `before` is put back then, or in the end."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def restore() -> None:
        for number, handler in before.items():
            if loop.remove_signal_handler(number) and handler is not None:
                signal.signal(number, handler)

    def cancel() -> None:
        restore()
        if task is not None:
            task.cancel()

    for number in before:
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        restore()
