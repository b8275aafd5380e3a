"""Run the engine benchmarks: `python -m e2e.engine_benchmarks [NAME ...]`."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from orthrus_serving.bench.measure.ratios import MIN_PAIRS, Comparison
from orthrus_serving.bench.report import ratio_table


class Benchmark(StrEnum):
    SCHEDULE = "schedule"
    GENERATION = "generation"
    EMBEDDING = "embedding"
    BEHIND = "behind"
    FIRST_TOKEN = "first-token"  # noqa: S105 (no password)
    GAPS = "gaps"


def runs_of(pairs: int) -> dict[Benchmark, Callable[[], list[Comparison]]]:
    # Each imports vLLM, which takes seconds: not for --help.
    from e2e.engine_benchmarks import fairness, plan_cost, stream_gaps, throughput

    cores = sorted(os.sched_getaffinity(0))

    def on_one_core(
        benchmark: Callable[..., Coroutine[Any, Any, list[Comparison]]],
    ) -> list[Comparison]:
        """The client, which is this process, keeps off the engine's core."""
        os.sched_setaffinity(0, cores[1:] or cores)
        try:
            return asyncio.run(benchmark(pairs, cores[:1]))
        finally:
            os.sched_setaffinity(0, cores)

    return {
        Benchmark.SCHEDULE: lambda: plan_cost.plan_cost(pairs),
        Benchmark.GENERATION: lambda: on_one_core(throughput.generation_only),
        Benchmark.EMBEDDING: lambda: on_one_core(throughput.embedding_only),
        Benchmark.BEHIND: lambda: asyncio.run(fairness.embeddings_behind_generations(pairs, cores)),
        Benchmark.FIRST_TOKEN: lambda: asyncio.run(
            fairness.first_token_behind_embeddings(pairs, cores)
        ),
        Benchmark.GAPS: lambda: asyncio.run(stream_gaps.stream_gaps(pairs, cores)),
    }


def main(
    names: Annotated[list[Benchmark] | None, typer.Argument(help="All when none is named.")] = None,
    pairs: Annotated[int, typer.Option(help="Interleaved pairs of runs.")] = MIN_PAIRS,
    output: Annotated[Path | None, typer.Option(help="Write the ratios here, as JSON.")] = None,
) -> None:
    """Print every ratio with its interval and goal; with JSON, for a report that can be re-made."""
    console = Console(stderr=True, highlight=False)
    runs = runs_of(pairs)
    comparisons: list[Comparison] = []
    for benchmark in names or list(Benchmark):
        console.rule(f"[bold]{benchmark}", align="left")
        started = time.monotonic()
        comparisons += runs[benchmark]()
        console.print(f"{benchmark}: {time.monotonic() - started:.0f} s")
        if output is not None:
            ratio_table.write(output, comparisons)
    Console(file=sys.stdout).print(ratio_table.table(comparisons))


if __name__ == "__main__":
    typer.run(main)
