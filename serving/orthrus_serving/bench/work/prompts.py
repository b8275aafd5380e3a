"""Where prompts come from: drawn token ids, or a file of real ones."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from orthrus_serving.bench.work.lengths import Lengths
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

_TYPICAL_LENGTH = 4
"""Characters of a token of English: only weighs a mix by tokens when prompts are text."""


class Prompts(Protocol):
    """Requests of one task."""

    @property
    def mean_tokens(self) -> float:
        """Of one request, output included; an estimate where prompts are text."""

    def requests(self, rng: np.random.Generator, ids: np.random.Generator) -> Iterator[Request]:
        """Without end; `rng` draws what they are like, `ids` what they say."""


@dataclass(frozen=True)
class DrawnPrompts:
    """Random token ids: no two prompts begin alike, so no cache helps."""

    task: Task
    lengths: Lengths
    outputs: Lengths | None
    """None for embeddings."""
    token_ids: range
    """Ordinary tokens, in the vocabulary of the model under test."""

    @property
    def mean_tokens(self) -> float:
        return self.lengths.mean + (self.outputs.mean if self.outputs else 0)

    def requests(self, rng: np.random.Generator, ids: np.random.Generator) -> Iterator[Request]:
        first, beyond = self.token_ids.start, self.token_ids.stop
        while True:
            prompt = ids.integers(first, beyond, self.lengths.draw(rng)).tolist()
            yield Request(self.task, prompt, self.outputs.draw(rng) if self.outputs else 0)


@dataclass(frozen=True)
class ReadPrompts:
    """Prompts of a file in its order, again from the start when all were taken."""

    read: Sequence[Request]

    @property
    def mean_tokens(self) -> float:
        return sum(map(_estimate, self.read)) / len(self.read)

    def requests(self, rng: np.random.Generator, ids: np.random.Generator) -> Iterator[Request]:
        while True:
            yield from self.read


def _estimate(request: Request) -> float:
    prompt = request.prompt
    if isinstance(prompt, str):
        return len(prompt) / _TYPICAL_LENGTH + request.max_tokens
    if all(isinstance(part, int) for part in prompt):
        return len(prompt) + request.max_tokens
    return len(str(prompt)) / _TYPICAL_LENGTH + request.max_tokens


def read_prompts(path: Path, outputs: Lengths) -> dict[Task, ReadPrompts]:
    """The prompts of a JSONL file by task; `outputs` is for generations that name no `max_tokens`.

    Raises:
        ValueError: a line is not as `parse_request` wants it, or there is none.
    """
    rng = np.random.default_rng(0)
    found: dict[Task, list[Request]] = {task: [] for task in Task}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.strip():
            try:
                request = parse_request(json.loads(line), outputs.draw(rng))
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            found[request.task].append(request)
    if not any(found.values()):
        raise ValueError(f"{path} has no prompts")
    return {task: ReadPrompts(requests) for task, requests in found.items() if requests}


def parse_request(line: dict[str, Any], max_tokens: int) -> Request:
    """A request from `{"task": "embedding"|"generation", "prompt": …, "max_tokens": …}`.

    `prompt` is a text or token ids; a generation may have `messages` instead.

    Raises:
        ValueError: something is missing or of another kind.
    """
    task = Task(line["task"]) if "task" in line else Task.GENERATION
    prompt = line.get("messages") if task is Task.GENERATION else None
    if prompt is None:
        prompt = line.get("prompt")
    if not prompt or not isinstance(prompt, str | list):
        raise ValueError("a prompt must be a text or token ids, and not empty")
    if task is Task.EMBEDDING:
        return Request(task, prompt)
    return Request(task, prompt, int(line.get("max_tokens", max_tokens)))


def parse_token_ids(text: str) -> range:
    """The range that FIRST-LAST names.

    Raises:
        ValueError: not of that form.
    """
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"token ids {text!r}: write FIRST-LAST, as 1000-30000")
    return range(int(first), int(last) + 1)
