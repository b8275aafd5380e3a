"""`orthrus bench iter-retgen`."""

import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared
from orthrus_serving.bench.cli.failure import explained


@dataclass(frozen=True, kw_only=True)
class RetGenOptions:
    """As they were given."""

    serve: Annotated[
        str | None,
        typer.Option(
            help="Start a replica of this model, a folder or a hub name, on each device instead of "
            "asking a server.",
            rich_help_panel=declared.SERVERS,
        ),
    ] = None
    url: declared.Urls = None
    embedding_url: declared.EmbeddingUrls = None
    generation_url: declared.GenerationUrls = None
    model: declared.ModelName = None
    queries: Annotated[int, typer.Option(help="How many.", min=1)] = 200
    clients: Annotated[int, typer.Option(help="Queries open at any time.", min=1)] = 8
    iterations: Annotated[int, typer.Option(help="Retrievals of each query.", min=1)] = 2
    retrieve: Annotated[int, typer.Option(help="Passages of each retrieval.", min=1)] = 5
    answer_tokens: Annotated[int, typer.Option(help="Of each draft, at most.", min=1)] = 48
    seed: Annotated[int, typer.Option(help="Draws the queries.")] = 0
    output: declared.Output = None
    report: declared.Report = None


def iter_retgen(options: RetGenOptions) -> None:
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
    from orthrus_serving.bench.retgen.load import RequestLostError, RetGenLoad
    from orthrus_serving.bench.retgen.page import retgen_page, table
    from orthrus_serving.bench.suite.launch import EngineFailedError
    from orthrus_serving.bench.suite.replicas import replicas
    from orthrus_serving.scheduling.task import Task

    console = Console(stderr=True, highlight=False)
    errors = (ValueError, OSError, UnusableServerError, RequestLostError, EngineFailedError)
    with explained(*errors), ExitStack() as running:
        if options.serve is not None:
            with console.status("starting replicas"):
                own = running.enter_context(replicas(options.serve))
            urls: dict[Task, list[str]] = dict.fromkeys(Task, own)
        else:
            urls = {
                Task.EMBEDDING: options.embedding_url or options.url or [],
                Task.GENERATION: options.generation_url or options.url or [],
            }
        if not all(urls.values()):
            raise ValueError("give --serve, --url, or --embedding-url and --generation-url")
        collection = read_collection(options.queries, options.seed)
        load = RetGenLoad(
            collection.passages,
            collection.queries,
            options.clients,
            options.iterations,
            options.retrieve,
            options.answer_tokens,
        )
        servers = Servers(
            {task: [without_v1(address) for address in found] for task, found in urls.items()},
            dict.fromkeys(Task, options.model) if options.model else {},
            os.environ.get("OPENAI_API_KEY"),
        )
        settings = {"passages": len(collection.passages)} | {
            name: str(value) if isinstance(value, Path) else value
            for name, value in asdict(options).items()
            if value is not None
        }
        with shown_progress(load, console) as progress:
            result = measure(servers, load, settings=settings, progress=progress)
        findings = load.findings()
        if options.output is not None:
            result.write(options.output)
        if options.report is not None:
            options.report.write_text(retgen_page(result.to_json(), findings))
    shown = Console(highlight=False)
    for each in (table(findings), rates(result.to_json()), durations(result.to_json())):
        shown.print(each)
