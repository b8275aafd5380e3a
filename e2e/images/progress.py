"""Runs a long command: its steps are shown, its whole output is kept in a log."""

import re
import subprocess
import threading
import time
from pathlib import Path

from e2e.images.errors import ImageError

HEARTBEAT_SECONDS = 15.0
STEP_WIDTH = 110

# Lines of buildah and debootstrap that open a step.
STEP = re.compile(r"(\[\d+/\d+\] )?STEP \d+/\d+: (RUN|COPY)|I: (Retrieving Packages|Installing core)")

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


def run(label: str, command: list[str], log: Path, stdin: str | None = None) -> None:
    """Run `command`, print each step with the seconds so far, keep all output in `log`.

    Raises ImageError, in one line, when it fails.
    """
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"[{label} {time.monotonic() - start:4.0f}s] {text[:STEP_WIDTH]}", flush=True)

    log.parent.mkdir(parents=True, exist_ok=True)
    finished = threading.Event()
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        heartbeat = threading.Thread(target=_beat, args=(finished, say), daemon=True)
        heartbeat.start()
        try:
            assert process.stdin and process.stdout
            process.stdin.write(stdin or "")
            process.stdin.close()
            for line in process.stdout:
                output.write(line)
                if STEP.match(line):
                    say(line.strip())
            code = process.wait()
        finally:
            process.kill()
            finished.set()
    if code != 0:
        raise ImageError(_reason(label, log, code))


def _beat(finished: threading.Event, say) -> None:
    while not finished.wait(HEARTBEAT_SECONDS):
        say("…")


def _reason(label: str, log: Path, code: int) -> str:
    lines = [line.strip() for line in log.read_text().splitlines() if line.strip()]
    for line in reversed(lines):
        if any(sign in line for sign in UNREACHABLE):
            return f"{label}: a package index cannot be reached ({line[:200]}); log: {log}"
    last = lines[-1] if lines else "no output"
    return f"{label}: failed with exit status {code} ({last[:200]}); log: {log}"
