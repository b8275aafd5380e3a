"""Wait for a state of the world with a deadline, and say what was seen last if it never came."""

import time
from collections.abc import Callable
from typing import TypeVar

Observed = TypeVar("Observed")


def wait_until(
    what: str,
    observe: Callable[[], Observed],
    accept: Callable[[Observed], object],
    *,
    within: float,
    every: float = 1.0,
    progress: Callable[[Observed], None] = lambda _: None,
) -> Observed:
    """Call `observe` every `every` seconds until `accept` of what it saw is true; return that.

    Raises:
        TimeoutError: not within `within` seconds; names the last thing observed.
    """
    deadline = time.monotonic() + within
    while True:
        seen = observe()
        if accept(seen):
            return seen
        progress(seen)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {within:.0f} s; last seen: {seen}")
        time.sleep(every)
