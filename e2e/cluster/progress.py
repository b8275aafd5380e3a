"""What a person sees of something long: a line when it ends, and signs of life until then."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

console = Console(stderr=True, highlight=False)
_HEARTBEAT_SECONDS = 15.0


class Step:
    """A running step; `note` replaces the words behind its title."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = time.monotonic()
        self.detail = ""

    def note(self, detail: str) -> None:
        self.detail = detail

    def line(self) -> str:
        seconds = time.monotonic() - self.started
        return f"{self.title} ({seconds:.0f} s) {self.detail}".rstrip()


@contextmanager
def step(title: str) -> Iterator[Step]:
    """Show `title` as running, then as done with its duration; a failure passes through."""
    running = Step(title)
    ended = threading.Event()
    shown = threading.Thread(target=_show, args=(running, ended), daemon=True)
    shown.start()
    try:
        yield running
    finally:
        ended.set()
        shown.join()
    seconds = time.monotonic() - running.started
    console.print(f"[green]✓[/] {title} [dim]{seconds:.1f} s {running.detail}[/]", soft_wrap=True)


def _show(running: Step, ended: threading.Event) -> None:
    if not console.is_terminal:
        while not ended.wait(_HEARTBEAT_SECONDS):
            console.print(f"… {running.line()}", markup=False, soft_wrap=True)
        return
    with console.status(running.title) as status:
        while not ended.wait(0.2):
            status.update(running.line())
