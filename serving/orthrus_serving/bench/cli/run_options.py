"""The options of `orthrus bench run`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared
from orthrus_serving.bench.cli.declared import FIGURES, LOAD, SERVERS, WORK


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """As they were given."""

    url: declared.Urls = None
    embedding_url: declared.EmbeddingUrls = None
    generation_url: declared.GenerationUrls = None
    model: declared.ModelName = None
    embedding_model: Annotated[
        str | None,
        typer.Option(help="The same for embeddings, if it differs.", rich_help_panel=SERVERS),
    ] = None
    timeout: Annotated[
        float, typer.Option(help="Seconds until a request fails.", rich_help_panel=SERVERS)
    ] = 600.0

    mix: Annotated[
        str,
        typer.Option(
            help="EMBEDDING:GENERATION, or the share of generation as 10%.", rich_help_panel=WORK
        ),
    ] = "5:5"
    mix_unit: Annotated[
        str, typer.Option(help="What the mix counts: requests or tokens.", rich_help_panel=WORK)
    ] = "requests"
    phases: Annotated[
        str | None,
        typer.Option(
            help="A mix that changes: SECONDS@MIX,…, as 60@10%,60@50%,60@90%.",
            rich_help_panel=WORK,
        ),
    ] = None
    embedding_tokens: declared.EmbeddingTokens = "128"
    prompt_tokens: declared.PromptTokens = "128"
    output_tokens: declared.OutputTokens = "uniform:64,192"
    token_ids: declared.TokenIds = declared.TOKEN_IDS
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="JSONL of real prompts: task, prompt or messages, max_tokens. Tasks that it lacks "
            "are drawn.",
            rich_help_panel=WORK,
        ),
    ] = None
    ignore_eos: Annotated[
        bool,
        typer.Option(
            help="Have answers their full length (a field that vLLM and SGLang know).",
            rich_help_panel=WORK,
        ),
    ] = True
    seed: Annotated[
        int, typer.Option(help="Fixes order, lengths and arrivals.", min=0, rich_help_panel=WORK)
    ] = 0
    nonce: declared.Nonce = None

    clients: declared.Clients = 16
    embedding_clients: Annotated[
        int | None,
        typer.Option(
            help="Closed loop: clients that only embed, beside --generation-clients; instead of "
            "--clients and --mix.",
            min=1,
            rich_help_panel=LOAD,
        ),
    ] = None
    generation_clients: Annotated[
        int | None,
        typer.Option(
            help="The same for generation: neither task waits for the other's clients.",
            min=1,
            rich_help_panel=LOAD,
        ),
    ] = None
    requests: Annotated[
        int | None,
        typer.Option(
            help="Closed loop: end after so many instead of a time.", min=1, rich_help_panel=LOAD
        ),
    ] = None
    rate: Annotated[
        float | None,
        typer.Option(
            help="Open loop: requests a second; latency counts from the planned time.",
            rich_help_panel=LOAD,
        ),
    ] = None
    arrivals: Annotated[
        str,
        typer.Option(
            help="Of the open loop: poisson, constant, gamma:CV or burst:REQUESTS.",
            rich_help_panel=LOAD,
        ),
    ] = "poisson"
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Open loop of recorded arrivals: JSONL of at, task, prompt or prompt_tokens, "
            "max_tokens.",
            rich_help_panel=LOAD,
        ),
    ] = None
    warm_up: declared.WarmUp = 5.0
    warm_up_most: declared.WarmUpMost = 120.0
    seconds: declared.Seconds = 60.0
    seconds_most: declared.SecondsMost = 180.0
    answers: declared.Answers = 100
    drain: Annotated[
        float,
        typer.Option(
            help="Open loop: seconds that the last requests have.", min=0, rich_help_panel=LOAD
        ),
    ] = 120.0

    slo: Annotated[
        list[str] | None,
        typer.Option(
            help="TASK.MEASURE=MILLISECONDS for goodput, as generation.ttft=500; a measure is "
            "total, ttft, tpot or gap (a stream's longest).",
            rich_help_panel=FIGURES,
        ),
    ] = None
    output: declared.Output = None
    report: declared.Report = None
    plots: Annotated[
        Path | None,
        typer.Option(help="Write plots, PNG, into this folder.", rich_help_panel=FIGURES),
    ] = None
