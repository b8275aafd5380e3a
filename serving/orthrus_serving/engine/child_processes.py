"""Bounds how long an engine process waits for its workers."""

import multiprocessing
import time


def end_children(seconds: float) -> None:
    """Give this process's children `seconds` to end, then kill those that are left.

    Python waits for them at exit without any bound. vLLM stops a worker by a SystemExit from its
    signal handler, which Python drops when the signal arrives inside a destructor: the worker
    goes on, and an engine that failed to start never ends.
    """
    deadline = time.monotonic() + seconds
    for child in multiprocessing.active_children():
        child.join(max(0.0, deadline - time.monotonic()))
        if child.is_alive():
            child.kill()
            child.join()
