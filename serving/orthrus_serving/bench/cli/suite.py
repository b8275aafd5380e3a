"""`orthrus bench suite`."""

from pathlib import Path
from typing import Annotated

import typer

from orthrus_serving.bench.cli.failure import explained

_ENGINES, _WORK = "Engines", "Work"
_ALL = "all"


def suite(
    presets: Annotated[
        list[str] | None, typer.Argument(help="Comparisons by name, or all; none: show them.")
    ] = None,
    *,
    model: Annotated[
        str | None, typer.Option(help="Folder or hub name.", rich_help_panel=_ENGINES)
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for results and logs.")] = Path("bench"),
    rounds: Annotated[int, typer.Option(help="Pairs of each ratio.", min=1)] = 9,
    devices: Annotated[
        int | None,
        typer.Option(
            help="GPUs, or equal groups of cores; default: all GPUs, else each core is one.",
            rich_help_panel=_ENGINES,
        ),
    ] = None,
    model_length: Annotated[
        int, typer.Option(help="--max-model-len of all engines.", rich_help_panel=_ENGINES)
    ] = 2048,
    budget: Annotated[
        int, typer.Option(help="B, of all engines.", rich_help_panel=_ENGINES)
    ] = 2048,
    chunk: Annotated[int, typer.Option(help="C, of Orthrus.", rich_help_panel=_ENGINES)] = 512,
    sequences: Annotated[
        int, typer.Option(help="--max-num-seqs of all engines.", rich_help_panel=_ENGINES)
    ] = 256,
    kv_cache_gib: Annotated[
        int, typer.Option(help="On CPUs, of each engine.", rich_help_panel=_ENGINES)
    ] = 1,
    engines_per_device: Annotated[
        int,
        typer.Option(
            help="On CPUs: how many stay in memory while others run; each takes 1 GiB and more.",
            min=2,
            rich_help_panel=_ENGINES,
        ),
    ] = 5,
    engine_flag: Annotated[
        list[str] | None,
        typer.Option(
            help="One more flag for all engines, as --dtype=half.", rich_help_panel=_ENGINES
        ),
    ] = None,
    embedding_tokens: Annotated[
        str, typer.Option(help="As of `orthrus bench run`.", rich_help_panel=_WORK)
    ] = "128",
    prompt_tokens: Annotated[
        str, typer.Option(help="As of `orthrus bench run`.", rich_help_panel=_WORK)
    ] = "128",
    output_tokens: Annotated[
        str, typer.Option(help="As of `orthrus bench run`.", rich_help_panel=_WORK)
    ] = "uniform:16,48",
    token_ids: Annotated[
        str, typer.Option(help="As of `orthrus bench run`.", rich_help_panel=_WORK)
    ] = "1000-30000",  # noqa: S107 (no password)
    clients: Annotated[
        int, typer.Option(help="Requests open at any time.", min=1, rich_help_panel=_WORK)
    ] = 64,
    targets: Annotated[
        str,
        typer.Option(
            help="Inter-token targets of the preset of that name, in milliseconds.",
            rich_help_panel=_WORK,
        ),
    ] = "1000,500,250,125",
    seconds: Annotated[
        float, typer.Option(help="Of each measurement.", min=1, rich_help_panel=_WORK)
    ] = 20.0,
    warm_up: Annotated[
        float, typer.Option(help="Before each measurement.", min=0, rich_help_panel=_WORK)
    ] = 8.0,
) -> None:
    """Start systems, measure them in turn on equal devices, and divide.

    Results are in OUTPUT/PRESET: summary.json, report.html, and a file for each measurement, which
    `orthrus bench compare` reads.
    """
    from rich.console import Console

    from orthrus_serving.bench.cli.options import parse_token_ids
    from orthrus_serving.bench.load.run import UnusableServerError
    from orthrus_serving.bench.suite.cell import Work
    from orthrus_serving.bench.suite.devices import find_devices
    from orthrus_serving.bench.suite.launch import EngineStartError, Model
    from orthrus_serving.bench.suite.preset import Setting
    from orthrus_serving.bench.suite.presets import PRESETS
    from orthrus_serving.bench.suite.suite import run_suite

    console = Console(stderr=True, highlight=False)
    if not presets or model is None:
        for name, preset in PRESETS.items():
            console.print(f"{name}: {(preset.__doc__ or '').splitlines()[0]}")
        console.print("Give one or more of these, or all, and --model.")
        raise typer.Exit(2)
    names = list(PRESETS) if _ALL in presets else presets
    with explained(ValueError, OSError, EngineStartError, UnusableServerError):
        setting = Setting(
            find_devices(devices, kv_cache_gib, engines_per_device),
            Model(model, model_length, budget, chunk, sequences, engine_flag or []),
            Work(
                embedding_tokens,
                prompt_tokens,
                output_tokens,
                parse_token_ids(token_ids),
                clients,
                seconds,
                warm_up,
            ),
            [float(target) for target in targets.split(",")],
        )
        run_suite(names, setting, rounds, output, console)
