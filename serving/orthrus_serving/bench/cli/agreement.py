"""`orthrus bench agreement`."""

from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli.failure import explained


def agreement(
    *,
    model: Annotated[str, typer.Option(help="Folder or hub name.")],
    pairs: Annotated[int, typer.Option(help="Pairs of each ratio.", min=1)] = 9,
    requests: Annotated[int, typer.Option(help="Of each side of a pair.", min=1)] = 64,
    clients: Annotated[int, typer.Option(help="Requests open at any time.", min=1)] = 16,
    output_tokens: Annotated[int, typer.Option(help="Of a generation.", min=2)] = 32,
    output: Annotated[Path | None, typer.Option(help="Write the ratios, JSON.")] = None,
) -> None:
    """Start stock vLLM, measure the same requests with this client and with `vllm bench serve`.

    The clients take turns. Both should find the same, within 3 %, for either task.
    """
    from rich.console import Console

    from orthrus_serving.bench.agreement.agreement import Agreement
    from orthrus_serving.bench.agreement.sides import SideFailedError
    from orthrus_serving.bench.report import ratio_table
    from orthrus_serving.bench.suite.devices import find_devices
    from orthrus_serving.bench.suite.launch import EngineStartError, Model
    from orthrus_serving.scheduling.task import Task

    console = Console(stderr=True, highlight=False)
    with explained(ValueError, OSError, EngineStartError, SideFailedError):
        served = Model(model, length=1024, budget=1024, chunk=512, sequences=128)
        devices = find_devices(None, kv_cache_gib=1, engines_per_device=1)
        compared = Agreement(served, devices, requests, clients, output_tokens)
        comparisons = [each for task in Task for each in compared.compare(task, pairs, console)]
        if output is not None:
            ratio_table.write(output, comparisons)
    Console(highlight=False).print(ratio_table.table(comparisons))
