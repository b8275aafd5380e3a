"""The HTTP request that is being answered, known to every part that has a hand in it.

The outer application makes it, vLLM's handlers carry it along in the context of their tasks, and
our pieces among them note here what only they see.
"""

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

from orthrus_serving.engine.queued_tokens import Reservation

if TYPE_CHECKING:
    from collections.abc import Callable

current_http_request: ContextVar["HttpRequest | None"] = ContextVar("http_request", default=None)


class HttpRequest:
    """Notes on one request, from its arrival until its answer has left."""

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.model: str | None = None
        """The name asked for, once it is known to be one that is served."""
        self.prompt_tokens = 0
        """Of all its prompts, each as often as it is sampled."""
        self.first_output_seconds: float | None = None
        """From arrival to the first token or vector."""
        self.on_first_output: Callable[[float], None] = lambda _: None
        self.engine_failed = False
        self.broken_vectors = 0
        self.queue_was_full = False
        self._arrived = time.monotonic()
        self._reservation: Reservation | None = None
        self._at_end: list[Callable[[], None]] = []

    @property
    def seconds(self) -> float:
        """Since its arrival."""
        return time.monotonic() - self._arrived

    def hold(self, tokens: int, reservation: Reservation) -> None:
        """Takes over the place in the queue, and gives it back when the request ends."""
        self.prompt_tokens = tokens
        self._reservation = reservation

    def prompt_computed(self, tokens: int) -> None:
        """One of its prompts has its first output, so it waits no longer."""
        if self._reservation is not None:
            self._reservation.release(tokens)
        if self.first_output_seconds is None:
            self.first_output_seconds = self.seconds
            self.on_first_output(self.first_output_seconds)

    def at_end(self, act: "Callable[[], None]") -> None:
        """Calls `act` when the request has ended, however that was."""
        self._at_end.append(act)

    def close(self) -> None:
        for act in self._at_end:
            act()
        if self._reservation is not None:
            self._reservation.close()
