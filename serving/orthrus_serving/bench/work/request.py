"""One request of a workload."""

from dataclasses import dataclass
from typing import Any

from orthrus_serving.scheduling.task import Task

Messages = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked; the server's answer says how many tokens it was."""

    task: Task
    prompt: str | list[int] | Messages
    """A text, token ids, or the messages of a chat (generation only)."""
    max_tokens: int = 0
    """Of a generation's output."""
