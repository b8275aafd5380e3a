"""Run the soak: `python -m e2e.soak`; exit 1 when the replica did not stay as it was."""

import asyncio
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import httpx
import psutil
import typer
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn
from rich.table import Table

from e2e.sample_model import sample_model
from e2e.soak.adapter_loads import load_and_unload, new_versions
from e2e.soak.memory import MAX_GROWTH_MIB_PER_10_MINUTES, MemoryUse
from e2e.soak.requests import Client, Models, is_failure
from tests.orthrus_serving.server.replica_adapters import (
    ADMIN_KEY,
    GENERATING,
    LAST,
    MEAN,
    RAW,
    make_replica_adapters,
)
from tests.orthrus_serving.server.replica_process import (
    MODEL_LENGTH,
    NAME,
    ReplicaProcess,
    replica_process,
)

CLIENTS = 12
MODELS = Models(
    backbone=NAME,
    embedding_adapters=(MEAN, LAST, RAW),
    generation_adapters=GENERATING,
    coming_and_going="hot",
)
SAMPLE_SECONDS = 10.0
WARM_UP_SHARE = 0.25
console = Console(highlight=False)


async def load(
    replica: ReplicaProcess, adapters: Path, minutes: float, memory: MemoryUse
) -> Counter[tuple[str, str]]:
    """Random requests from `CLIENTS` clients while an adapter of the folder `adapters` comes and
    goes; how often each kind had each outcome."""
    outcomes = Counter[tuple[str, str]]()
    started = time.monotonic()
    seconds = minutes * 60

    def is_over() -> bool:
        return time.monotonic() - started >= seconds

    async def client(http: httpx.AsyncClient, seed: int) -> None:
        sender = Client(http, MODELS, MODEL_LENGTH, seed)
        while not is_over():
            outcomes[await sender.send_one()] += 1

    async def change_adapter(http: httpx.AsyncClient) -> None:
        versions = new_versions(adapters / MEAN, adapters)
        changes = load_and_unload(http, MODELS.coming_and_going, versions, ADMIN_KEY)
        async for outcome in changes:
            outcomes[outcome] += 1
            if is_over():
                break

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=replica.url, timeout=None, limits=limits) as http:  # noqa: S113
        clients = asyncio.gather(
            change_adapter(http), *(client(http, seed) for seed in range(CLIENTS))
        )
        with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console) as bar:
            task = bar.add_task("soak", total=seconds)
            while not clients.done():
                now = time.monotonic() - started
                memory.sample(now)
                bar.update(
                    task, completed=min(now, seconds), description=f"{outcomes.total()} requests"
                )
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(clients), SAMPLE_SECONDS)
        await clients
    return outcomes


def main(
    minutes: Annotated[float, typer.Option(help="How long to send requests.", min=1)] = 60,
) -> None:
    """Send everything at once to one replica, and look whether it stays as it was."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the replica ends, too
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        adapters = make_replica_adapters(sample_model(), folder)
        replica = stack.enter_context(replica_process(folder, *adapters.flags))
        replica.wait_ready()
        memory = MemoryUse(psutil.Process(replica.process.pid))
        idle = replica.metric("orthrus_kv_cache_usage_ratio")
        outcomes = asyncio.run(load(replica, adapters.folder, minutes, memory))
        problems = _problems(replica, idle, outcomes, memory, minutes)
    _print(outcomes)
    for problem in problems:
        console.print(f"[red]{problem}")
    if problems:
        raise typer.Exit(1)


def _problems(
    replica: ReplicaProcess,
    idle_kv_usage: float,
    outcomes: Counter[tuple[str, str]],
    memory: MemoryUse,
    minutes: float,
) -> list[str]:
    found = [f"{n} x {key}" for key, n in outcomes.items() if is_failure(*key)]
    for task in ("embedding", "generation"):
        replica.wait_metric("orthrus_backlog_requests", lambda n: n == 0, type=task)
    replica.wait_metric("orthrus_kv_cache_usage_ratio", lambda usage: usage <= idle_kv_usage)
    growth = memory.growth(after=WARM_UP_SHARE * minutes * 60)
    console.print(f"memory: {memory.mib[-1]:.0f} MiB, {growth:+.2f} MiB per 10 minutes")
    if growth > MAX_GROWTH_MIB_PER_10_MINUTES:
        found.append(f"memory grows by {growth:.2f} MiB per 10 minutes")
    return found


def _print(outcomes: Counter[tuple[str, str]]) -> None:
    table = Table("request", "outcome", "count", title="Soak")
    for (kind, outcome), count in sorted(outcomes.items()):
        table.add_row(kind, outcome, str(count))
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
