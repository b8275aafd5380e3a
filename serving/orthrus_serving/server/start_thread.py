"""Loads the engine in a thread, so that the listener answers from the first moment."""

import asyncio
import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from typing import TypeVar

import psutil

Result = TypeVar("Result")


def run_in_thread(function: Callable[[], Result]) -> "asyncio.Future[Result]":
    """Like `asyncio.to_thread`, in a daemon thread: a load that hangs cannot hold the exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def work() -> None:
        _spare_children_from_interrupts()
        try:
            result = function()
        except BaseException as error:
            loop.call_soon_threadsafe(settle, None, error)
        else:
            loop.call_soon_threadsafe(settle, result, None)

    threading.Thread(target=work, name="engine-start", daemon=True).start()
    return future


def _spare_children_from_interrupts() -> None:
    """Processes that this thread starts never see SIGINT: Ctrl-C in a terminal reaches them all at
    once, and the engine must outlive the requests that the server lets finish."""
    # Its start unblocks SIGINT in the thread that needs it first, so that is done before.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def kill_engine_processes() -> None:
    """Kills every process that the engine started, children of children included."""
    for child in multiprocessing.active_children():
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(child.pid)
            for member in [*process.children(recursive=True), process]:
                member.kill()
