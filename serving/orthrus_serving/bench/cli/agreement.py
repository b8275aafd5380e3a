"""`orthrus bench agreement`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared
from orthrus_serving.bench.cli.failure import explained


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """As they were given."""

    model: Annotated[str, typer.Option(help="Folder or hub name.")]
    pairs: Annotated[int, typer.Option(help="Pairs of each ratio.", min=1)] = 9
    requests: Annotated[int, typer.Option(help="Of each side of a pair.", min=1)] = 64
    clients: declared.Clients = 16
    output_tokens: Annotated[int, typer.Option(help="Of a generation.", min=2)] = 32
    output: declared.Output = None


def agreement(options: AgreementOptions) -> None:
    """Start stock vLLM, measure the same requests with this client and with `vllm bench serve`.

    The clients take turns on one server, which has one device; they run on the other cores where
    there are some. Both should find the same, within 3 %, for either task.
    """
    from rich.console import Console

    from orthrus_serving.bench.agreement.agreement import Agreement
    from orthrus_serving.bench.agreement.sides import SideFailedError
    from orthrus_serving.bench.report import ratio_table
    from orthrus_serving.bench.suite.devices import find_devices
    from orthrus_serving.bench.suite.launch import EngineFailedError, Model
    from orthrus_serving.scheduling.task import Task

    console = Console(stderr=True, highlight=False)
    with explained(ValueError, OSError, EngineFailedError, SideFailedError):
        served = Model(options.model, length=1024, budget=1024, chunk=512, sequences=128)
        devices = find_devices(None, kv_cache_mib=512, engines_per_device=1, least=1)
        compared = Agreement(
            served, devices, options.requests, options.clients, options.output_tokens
        )
        comparisons = [
            each for task in Task for each in compared.compare(task, options.pairs, console)
        ]
        if options.output is not None:
            ratio_table.write(options.output, comparisons)
    Console(highlight=False).print(ratio_table.table(comparisons))
