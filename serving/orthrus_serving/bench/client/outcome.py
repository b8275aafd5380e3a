"""What became of a request."""

from dataclasses import dataclass

from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True, slots=True)
class Outcome:
    """Times are seconds after the start of the run."""

    task: Task
    planned: float
    """When it was due: every latency counts from here, so that a late client hides nothing."""
    sent: float
    ended: float
    """When its last byte came, or when it failed."""
    arrivals: tuple[float, ...] = ()
    """When messages with output tokens came; a message may hold several tokens."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    error: str | None = None
    """Kind of the failure."""

    @property
    def latency(self) -> float:
        return self.ended - self.planned

    @property
    def first_token(self) -> float | None:
        """Seconds from the planned time to the first message; None for an embedding."""
        return self.arrivals[0] - self.planned if self.arrivals else None

    @property
    def gaps(self) -> list[float]:
        """Seconds between messages: what a reader of the stream waits."""
        return [
            later - earlier
            for earlier, later in zip(self.arrivals, self.arrivals[1:], strict=False)
        ]

    @property
    def seconds_per_token(self) -> float | None:
        """Mean of its output tokens after the first."""
        if self.output_tokens < 2 or not self.arrivals:
            return None
        return (self.arrivals[-1] - self.arrivals[0]) / (self.output_tokens - 1)


@dataclass(frozen=True, slots=True)
class Reply:
    """An outcome and what was answered: a text, or a vector."""

    outcome: Outcome
    text: str = ""
    vector: tuple[float, ...] = ()
