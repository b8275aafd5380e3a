"""One run: a first request of each task, then the load, then its outcomes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthrus_serving.bench.client.addresses import Addresses, Target
from orthrus_serving.bench.client.client import Client, open_session, served_model
from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.load.load import Load
from orthrus_serving.bench.load.record import Record
from orthrus_serving.bench.load.stopwatch import Stopwatch
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

_PROGRESS_SECONDS = 0.5


class UnusableServerError(Exception):
    """A server that cannot be measured; says which, and what it answered."""


@dataclass(frozen=True)
class Servers:
    """Where requests go, and how."""

    urls: Mapping[Task, Sequence[str]]
    models: Mapping[Task, str] = field(default_factory=dict)
    """Where a task has none, its first server is asked."""
    api_key: str | None = None
    timeout: float = 600.0
    generation_extra: Mapping[str, Any] = field(default_factory=dict)
    """Added to the body of a generation."""


Progress = Callable[[float, Record], None]
"""Called with the seconds since the start."""


async def run(servers: Servers, load: Load, progress: Progress = lambda *_: None) -> list[Outcome]:
    """Sends `load`; returns what became of each request.

    Raises:
        UnusableServerError: a first request of a task failed.
    """
    stopwatch = Stopwatch()
    async with open_session(servers.timeout, servers.api_key) as session:
        addresses = Addresses(
            {
                task: Target(urls, await _model(session, servers, task))
                for task, urls in servers.urls.items()
                if task in load.tasks
            }
        )
        client = Client(session, addresses, stopwatch, dict(servers.generation_extra))
        for task in Task:
            if task in load.tasks:
                await _try(client, task, servers.urls[task])
        record = Record(client)
        stopwatch.restart()
        running = asyncio.create_task(load.run(record, stopwatch))
        try:
            while not running.done():
                await asyncio.wait([running], timeout=_PROGRESS_SECONDS)
                progress(stopwatch(), record)
        finally:
            running.cancel()
        await running
    return record.outcomes


async def _model(session: Any, servers: Servers, task: Task) -> str:
    if task in servers.models:
        return servers.models[task]
    try:
        return await served_model(session, servers.urls[task][0])
    except LookupError as error:
        raise UnusableServerError(str(error)) from None


async def _try(client: Client, task: Task, urls: Sequence[str]) -> None:
    """One short request to each server: connections, and what servers do at a first request, are
    no part of a measurement."""
    for _ in urls:
        reply = await client.send(Request(task, "Hello", max_tokens=2), planned=0.0)
        if reply.outcome.error is not None:
            raise UnusableServerError(
                f"a first {task.value} request failed at {', '.join(urls)}: {reply.outcome.error}"
            )
