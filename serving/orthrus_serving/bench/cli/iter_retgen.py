"""`orthrus bench iter-retgen`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli.failure import explained


def iter_retgen(
    *,
    url: Annotated[
        list[str] | None, typer.Option(help="A server of both tasks; several take turns.")
    ] = None,
    embedding_url: Annotated[list[str] | None, typer.Option(help="A server of embeddings.")] = None,
    generation_url: Annotated[
        list[str] | None, typer.Option(help="A server of generation.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Name of the model; default: the first listed.")
    ] = None,
    queries: Annotated[int, typer.Option(help="How many.", min=1)] = 200,
    clients: Annotated[int, typer.Option(help="Queries open at any time.", min=1)] = 8,
    iterations: Annotated[int, typer.Option(help="Retrievals of each query.", min=1)] = 2,
    retrieve: Annotated[int, typer.Option(help="Passages of each retrieval.", min=1)] = 5,
    answer_tokens: Annotated[int, typer.Option(help="Of each draft, at most.", min=1)] = 48,
    seed: Annotated[int, typer.Option(help="Draws the queries.")] = 0,
    output: Annotated[Path | None, typer.Option(help="Write figures and samples, JSON.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write one page of HTML.")] = None,
) -> None:
    """Answer questions about real vulnerabilities by iterative retrieval-generation.

    The collection is the Common Weakness Enumeration; a question is right when the passage of its
    own kind of weakness is retrieved.
    """
    from rich.console import Console

    from orthrus_serving.bench.client.addresses import without_v1
    from orthrus_serving.bench.load.measure import measure
    from orthrus_serving.bench.load.progress import shown_progress
    from orthrus_serving.bench.load.run import Servers, UnusableServerError
    from orthrus_serving.bench.report.summary_table import durations, rates
    from orthrus_serving.bench.retgen.collection import read_collection
    from orthrus_serving.bench.retgen.findings import find
    from orthrus_serving.bench.retgen.load import RequestLostError, RetGenLoad
    from orthrus_serving.bench.retgen.page import retgen_page, table, write
    from orthrus_serving.scheduling.task import Task

    urls = {
        Task.EMBEDDING: embedding_url or url or [],
        Task.GENERATION: generation_url or url or [],
    }
    console = Console(stderr=True, highlight=False)
    with explained(ValueError, OSError, UnusableServerError, RequestLostError):
        if not all(urls.values()):
            raise ValueError("give --url, or --embedding-url and --generation-url")
        collection = read_collection(queries, seed)
        load = RetGenLoad(
            collection.passages, collection.queries, clients, iterations, retrieve, answer_tokens
        )
        servers = Servers(
            {task: [without_v1(address) for address in found] for task, found in urls.items()},
            dict.fromkeys(Task, model) if model else {},
            os.environ.get("OPENAI_API_KEY"),
        )
        settings = {
            "passages": len(collection.passages),
            "queries": queries,
            "clients": clients,
            "iterations": iterations,
            "retrieve": retrieve,
            "answer_tokens": answer_tokens,
            "seed": seed,
        }
        with shown_progress(load, console) as progress:
            result = measure(servers, load, settings=settings, progress=progress)
        findings = find(load)
        if output is not None:
            write(output, result, findings)
        if report is not None:
            report.write_text(retgen_page(result.to_json(), findings))
    shown = Console(highlight=False)
    for each in (table(findings), rates(result.to_json()), durations(result.to_json())):
        shown.print(each)
