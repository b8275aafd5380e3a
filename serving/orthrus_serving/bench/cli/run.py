"""`orthrus bench run`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli.failure import explained

_SERVERS, _WORK, _LOAD, _FIGURES = "Servers", "Work", "Load", "Figures"


def run(
    *,
    url: Annotated[
        list[str] | None,
        typer.Option(help="A server of both tasks; several take turns.", rich_help_panel=_SERVERS),
    ] = None,
    embedding_url: Annotated[
        list[str] | None, typer.Option(help="A server of embeddings.", rich_help_panel=_SERVERS)
    ] = None,
    generation_url: Annotated[
        list[str] | None, typer.Option(help="A server of generation.", rich_help_panel=_SERVERS)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Name of the model; default: the first listed.", rich_help_panel=_SERVERS
        ),
    ] = None,
    embedding_model: Annotated[
        str | None,
        typer.Option(help="The same for embeddings, if it differs.", rich_help_panel=_SERVERS),
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds until a request fails.", rich_help_panel=_SERVERS)
    ] = 600.0,
    mix: Annotated[
        str,
        typer.Option(
            help="EMBEDDING:GENERATION, or the share of generation as 10%.", rich_help_panel=_WORK
        ),
    ] = "5:5",
    mix_unit: Annotated[
        str, typer.Option(help="What the mix counts: requests or tokens.", rich_help_panel=_WORK)
    ] = "requests",
    phases: Annotated[
        str | None,
        typer.Option(
            help="A mix that changes: SECONDS@MIX,…, as 60@10%,60@50%,60@90%.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    embedding_tokens: Annotated[
        str, typer.Option(help="Lengths of texts to embed.", rich_help_panel=_WORK)
    ] = "128",
    prompt_tokens: Annotated[
        str,
        typer.Option(
            help="Lengths of prompts: 128, uniform:LOW,HIGH, choice:A,B,…, "
            "lognormal:MEDIAN,SIGMA,MOST or exponential:MEAN,MOST.",
            rich_help_panel=_WORK,
        ),
    ] = "128",
    output_tokens: Annotated[
        str, typer.Option(help="Lengths of answers.", rich_help_panel=_WORK)
    ] = "uniform:64,192",
    token_ids: Annotated[
        str,
        typer.Option(
            help="FIRST-LAST of the ids that prompts are drawn from.", rich_help_panel=_WORK
        ),
    ] = "1000-30000",  # noqa: S107 (no password)
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="JSONL of real prompts: task, prompt or messages, max_tokens. Tasks that it lacks "
            "are drawn.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    ignore_eos: Annotated[
        bool,
        typer.Option(
            help="Have answers their full length (a field that vLLM and SGLang know).",
            rich_help_panel=_WORK,
        ),
    ] = True,
    seed: Annotated[int, typer.Option(help="Fixes all that is drawn.", rich_help_panel=_WORK)] = 0,
    clients: Annotated[
        int,
        typer.Option(help="Closed loop: requests open at any time.", min=1, rich_help_panel=_LOAD),
    ] = 16,
    requests: Annotated[
        int | None,
        typer.Option(
            help="Closed loop: end after so many instead of a time.", min=1, rich_help_panel=_LOAD
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Open loop: requests a second; latency counts from the planned time.",
            rich_help_panel=_LOAD,
        ),
    ] = None,
    arrivals: Annotated[
        str,
        typer.Option(
            help="Of the open loop: poisson, constant, gamma:CV or burst:REQUESTS.",
            rich_help_panel=_LOAD,
        ),
    ] = "poisson",
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Open loop of recorded arrivals: JSONL of at, task, prompt or prompt_tokens, "
            "max_tokens.",
            rich_help_panel=_LOAD,
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="How long to measure.", min=0.1, rich_help_panel=_LOAD)
    ] = 60.0,
    warm_up: Annotated[
        float,
        typer.Option(
            help="Seconds before it; give the slowest requests time to end.",
            min=0,
            rich_help_panel=_LOAD,
        ),
    ] = 15.0,
    drain: Annotated[
        float,
        typer.Option(
            help="Open loop: seconds that the last requests have.", min=0, rich_help_panel=_LOAD
        ),
    ] = 120.0,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            help="TASK.MEASURE=MILLISECONDS for goodput, as generation.ttft=500; a measure is "
            "total, ttft, tpot or gap (a stream's longest).",
            rich_help_panel=_FIGURES,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write figures and samples, JSON.", rich_help_panel=_FIGURES)
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write one page of HTML.", rich_help_panel=_FIGURES)
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(help="Write plots, PNG, into this folder.", rich_help_panel=_FIGURES),
    ] = None,
) -> None:
    """Load servers with both tasks and measure each.

    The API key is taken from OPENAI_API_KEY. Requests are never sent again; a failed one counts
    as an error.
    """
    from rich.console import Console

    from orthrus_serving.bench.cli.options import RunOptions
    from orthrus_serving.bench.load.measure import measure
    from orthrus_serving.bench.load.progress import shown_progress
    from orthrus_serving.bench.load.run import UnusableServerError
    from orthrus_serving.bench.report.files import write_plots
    from orthrus_serving.bench.report.summary_table import durations, rates

    options = RunOptions(
        url=url or [],
        embedding_url=embedding_url or [],
        generation_url=generation_url or [],
        model=model,
        embedding_model=embedding_model,
        api_key=os.environ.get("OPENAI_API_KEY"),
        timeout=timeout,
        mix=mix,
        mix_unit=mix_unit,
        phases=phases,
        embedding_tokens=embedding_tokens,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        token_ids=token_ids,
        prompts=prompts,
        ignore_eos=ignore_eos,
        seed=seed,
        clients=clients,
        requests=requests,
        rate=rate,
        arrivals=arrivals,
        trace=trace,
        seconds=seconds,
        warm_up=warm_up,
        drain=drain,
        slo=slo or [],
    )
    console = Console(stderr=True, highlight=False)
    with explained(ValueError, OSError, UnusableServerError):
        load = options.load()
        with shown_progress(load, console) as progress:
            result = measure(
                options.servers(load), load, options.objectives(), options.described(), progress
            )
        if output is not None:
            result.write(output)
        found = result.to_json()
        if report is not None:
            from orthrus_serving.bench.report.page import run_page

            report.write_text(run_page(found))
        if plots is not None:
            write_plots(plots, found)
    shown = Console(highlight=False)
    shown.print(rates(found))
    shown.print(durations(found))
    if result.client_was_late:
        console.print(
            "[yellow]The client itself was late (send_lag): lower the load or free a core."
        )
