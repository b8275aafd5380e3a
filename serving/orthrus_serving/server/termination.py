"""Tells Kubernetes, and the user, why a replica could not start."""

import sys
from pathlib import Path

TERMINATION_LOG = Path("/dev/termination-log")
MESSAGE_LIMIT = 4096
"""Bytes that the kubelet reads."""


def report_failed_start(reason: str, message: str, log: Path = TERMINATION_LOG) -> None:
    """Writes `reason: message` as one line to standard error, and to `log` where that exists."""
    line = f"{reason}: {' '.join(message.split())}"
    sys.stderr.write(f"orthrus serve: {line}\n")
    if log.exists():
        log.write_bytes(line.encode()[:MESSAGE_LIMIT])
