"""A request as the planner sees it: prefill tokens still to schedule."""

from dataclasses import dataclass

from orthrus_serving.scheduling.task import Task


@dataclass(eq=False, slots=True)
class Prefill:
    """One request, compared by identity; `Backlog` keeps `remaining` and `waiting` up to date.

    A preempted generation comes back with its output tokens to compute again: they are prefill
    tokens like those of the prompt.
    """

    request_id: str
    task: Task
    arrival: int
    """Position in the order of arrival, unique."""
    adapter: int = 0
    """LoRA id; 0 is the backbone, which takes no adapter slot."""
    remaining: int = 0
    """Prefill tokens not yet scheduled; 0 while the request cannot be scheduled at all."""
    waiting: bool = False
    """In its task's waiting queue; otherwise running, or not schedulable."""
    overtaken: int = 0
    """How often another request was admitted since it could not run, and took what it lacks."""
    arrived_at: float = 0.0
    """Moment of arrival in seconds, by the clock of whoever asks for ages."""
