"""Waiting with a deadline: the only place of this package that sleeps."""

import time
from collections.abc import Callable

from e2e.cluster.errors import ClusterError

_POLL_SECONDS = 0.1


def wait_until(what: str, check: Callable[[], str | None], seconds: float) -> None:
    """Call `check` until it returns None; any text it returns is the state seen last.

    Raises:
        ClusterError: `seconds` passed; the message ends with the last state.
    """
    deadline = time.monotonic() + seconds
    while (state := check()) is not None:
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not after {seconds:.0f} s; last seen: {state}")
        time.sleep(_POLL_SECONDS)
