"""One at a time: a lock that dies with its holder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster.progress import console


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path`; say so when another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.print(f"… another process holds {what}: waiting for it", markup=False)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
