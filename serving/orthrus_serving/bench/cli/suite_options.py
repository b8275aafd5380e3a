"""The options of `orthrus bench suite`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli import declared
from orthrus_serving.bench.cli.declared import ENGINES, LOAD


@dataclass(frozen=True, kw_only=True)
class SuiteOptions:
    """As they were given."""

    presets: Annotated[
        list[str] | None, typer.Argument(help="Comparisons by name, or all; none: show them.")
    ] = None
    model: declared.ModelPath = None
    output: Annotated[Path, typer.Option(help="Folder for results and logs.")] = Path("bench")
    rounds: Annotated[int, typer.Option(help="Pairs of each ratio.", min=1)] = 9
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep the rounds that OUTPUT has, and measure the others."),
    ] = False
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what would be measured, and how long.")
    ] = False
    devices: Annotated[
        int | None,
        typer.Option(
            help="GPUs, or equal groups of cores; default: all GPUs, else each core is one.",
            rich_help_panel=ENGINES,
        ),
    ] = None
    model_length: Annotated[
        int, typer.Option(help="--max-model-len of all engines.", rich_help_panel=ENGINES)
    ] = 2048
    budget: Annotated[int, typer.Option(help="B, of all engines.", rich_help_panel=ENGINES)] = 2048
    chunk: Annotated[int, typer.Option(help="C, of Orthrus.", rich_help_panel=ENGINES)] = 512
    sequences: Annotated[
        int, typer.Option(help="--max-num-seqs of all engines.", rich_help_panel=ENGINES)
    ] = 256
    kv_cache_mib: Annotated[
        int, typer.Option(help="On CPUs, of each engine.", rich_help_panel=ENGINES)
    ] = 1024
    engines_per_device: Annotated[
        int,
        typer.Option(
            help="On CPUs: how many stay in memory while others run; each takes the KV cache, the "
            "model, and 2 GiB of programs.",
            min=2,
            rich_help_panel=ENGINES,
        ),
    ] = 3
    engine_flag: Annotated[
        list[str] | None,
        typer.Option(
            help="One more flag for all engines, as --dtype=half.", rich_help_panel=ENGINES
        ),
    ] = None
    embedding_tokens: declared.EmbeddingTokens = "128"
    prompt_tokens: declared.PromptTokens = "128"
    output_tokens: declared.OutputTokens = "uniform:16,48"
    token_ids: declared.TokenIds = declared.TOKEN_IDS
    nonce: declared.Nonce = None
    clients: declared.Clients = 64
    mixes: Annotated[
        str,
        typer.Option(
            help="Of presets that have several: EMBEDDING:GENERATION,… by requests.",
            rich_help_panel=LOAD,
        ),
    ] = "9:1,5:5,1:9"
    targets: Annotated[
        str,
        typer.Option(
            help="Inter-token targets of the preset of that name, in milliseconds.",
            rich_help_panel=LOAD,
        ),
    ] = "1000,500,250,125"
    warm_up: declared.WarmUp = 5.0
    warm_up_most: declared.WarmUpMost = 60.0
    seconds: declared.Seconds = 15.0
    seconds_most: declared.SecondsMost = 120.0
    answers: declared.Answers = 100
