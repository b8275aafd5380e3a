"""One file of prompts that both clients read."""

import json
from pathlib import Path

from orthrus_serving.bench.retgen.weaknesses import read_weaknesses
from orthrus_serving.scheduling.task import Task

WORDS = 60
"""Of each prompt: real text, so that servers tokenize it for both clients alike."""


def write_prompts(path: Path, task: Task, requests: int, output_tokens: int) -> None:
    """A prompt for each request, all different; vLLM calls `max_tokens` `output_tokens`."""
    texts = [weakness.passage.split() for weakness in read_weaknesses()]
    long_enough = [" ".join(words[:WORDS]) for words in texts if len(words) >= WORDS]
    if requests > len(long_enough):
        raise ValueError(f"{requests} requests: there are {len(long_enough)} prompts")
    lines = [
        {
            "task": task.value,
            "prompt": text,
            "max_tokens": output_tokens,
            "output_tokens": output_tokens,
        }
        for text in long_enough[:requests]
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
