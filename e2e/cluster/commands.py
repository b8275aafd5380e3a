"""Running a short command to its end."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from e2e.cluster.errors import ClusterError


def system_path() -> str:
    """Where commands are looked for: system ones even if a user's PATH leaves them out."""
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


def run(command: Sequence[str | Path], *, stdin: str | None = None, seconds: float = 60) -> str:
    """Run `command` and return its standard output.

    Raises:
        ClusterError: it failed, or took longer than `seconds`; the message has its last line.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env={**os.environ, "PATH": system_path()},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        raise ClusterError(f"{words[0]}: command not found") from None
    except subprocess.TimeoutExpired:
        raise ClusterError(f"{' '.join(words)}: no answer within {seconds:.0f} s") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise ClusterError(f"{' '.join(words)}: exit status {done.returncode}: {said}")
    return done.stdout


def succeeds(command: Sequence[str | Path], *, seconds: float = 60) -> bool:
    """Whether `command` ends with status 0."""
    try:
        run(command, seconds=seconds)
    except ClusterError:
        return False
    return True
