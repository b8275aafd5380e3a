"""How `orthrus drain --announce` reaches the replica in its container.

A signal: it needs no port, no writable file and no key, and nothing outside the container can send
it, which a route for loopback addresses does not promise behind a side-car proxy.
"""

import os
import signal
from pathlib import Path

ANNOUNCEMENT = signal.SIGUSR1


class NoReplicaError(Exception):
    """The process is not a replica of ours."""


def announce(pid: int) -> None:
    """Tells the replica `pid` that it will be stopped soon.

    Raises NoReplicaError: whatever else the process is, the signal would kill it.
    """
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if not _is_serving(command):
            raise NoReplicaError(f"process {pid} is not `orthrus serve`")
        os.kill(pid, ANNOUNCEMENT)
    except OSError as error:
        raise NoReplicaError(f"process {pid}: {error.strerror}") from error


def _is_serving(command: list[bytes]) -> bool:
    """The interpreter, its options, the `orthrus` script, then the command."""
    scripts = [index for index, part in enumerate(command) if Path(part.decode()).name == "orthrus"]
    return any(command[index + 1 : index + 2] == [b"serve"] for index in scripts)
