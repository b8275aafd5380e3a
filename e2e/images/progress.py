"""Runs a long command: its steps are shown, its whole output is kept in a log."""

import re
import subprocess
import threading
import time
from pathlib import Path

from e2e.images.errors import ImageError

HEARTBEAT_SECONDS = 15.0
WIDTH = 100

# Lines of buildah and debootstrap that open a step, without the numbers of stage and step.
STEP = re.compile(r"(?:\[\d+/\d+\] )?STEP \d+/\d+: ((?:RUN|COPY) .*)|I: (Retrieving Packages.*)")
CACHED = "--> Using cache"

# What package installers say when an index or mirror does not answer.
UNREACHABLE = (
    "Temporary failure resolving",
    "Could not resolve",
    "Could not connect",
    "Connection refused",
    "Connection failed",
    "Failed to fetch",
    "error sending request",
    "dns error",
    "Couldn't download",
)


class _Progress:
    """What is shown of one command: steps as they begin, and a sign of life in between."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._start = time.monotonic()
        self._opened = ""
        self._latest = ""

    def read(self, line: str) -> None:
        """A step is shown by the line after it, which tells whether a cached layer is taken."""
        text = line.strip()
        if self._opened and not text.startswith(CACHED):
            self._say(self._opened)
        step = STEP.match(text)
        self._opened = (step[1] or step[2]) if step else ""
        self._latest = text or self._latest

    def beat_until(self, finished: threading.Event) -> None:
        while not finished.wait(HEARTBEAT_SECONDS):
            self._say(f"… {self._latest}")

    def _say(self, text: str) -> None:
        seconds = time.monotonic() - self._start
        print(f"[{self._label} {seconds:4.0f} s] {text[:WIDTH]}", flush=True)


def run(label: str, command: list[str], log: Path) -> None:
    """Run `command`, print its steps with the seconds so far, keep all its output in `log`.

    Raises ImageError, in one line, when it fails.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    progress = _Progress(label)
    finished = threading.Event()
    threading.Thread(target=progress.beat_until, args=(finished,), daemon=True).start()
    with (
        log.open("w") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                output.write(line)
                progress.read(line)
        finally:
            # Ctrl-C reaches the builder too: it needs the time to remove its container.
            code = process.wait()
            finished.set()
    if code != 0:
        raise ImageError(reason(label, log.read_text(), code, log))


def reason(label: str, output: str, code: int, log: Path) -> str:
    """One line that says why a command failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in reversed(lines):
        if any(sign in line for sign in UNREACHABLE):
            return f"{label}: a package index cannot be reached ({line[:200]}); log: {log}"
    last = next((line for line in reversed(lines) if "exited with" not in line), "no output")
    return f"{label}: failed with exit status {code} ({last[:200]}); log: {log}"
