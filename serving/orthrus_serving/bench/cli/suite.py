"""`orthrus bench suite`."""

import typer

from orthrus_serving.bench.cli.failure import explained
from orthrus_serving.bench.cli.suite_options import SuiteOptions

_ALL = "all"


def suite(options: SuiteOptions) -> None:
    """Start systems, measure them in turn on equal devices, and divide.

    Results are in OUTPUT/PRESET: summary.json, report.html, and a file for each measurement, which
    `orthrus bench compare` reads. Exit code 1: some measurements failed, and are in the report.
    """
    from rich.console import Console

    from orthrus_serving.bench.load.steady import Bounds
    from orthrus_serving.bench.suite.cell import Work
    from orthrus_serving.bench.suite.devices import find_devices
    from orthrus_serving.bench.suite.launch import Model
    from orthrus_serving.bench.suite.preset import Setting
    from orthrus_serving.bench.suite.presets import PRESETS
    from orthrus_serving.bench.suite.suite import plans_of, run_suite, show_plan
    from orthrus_serving.bench.work.prompts import parse_token_ids
    from orthrus_serving.bench.work.workload import drawn_nonce

    console = Console(stderr=True, highlight=False)
    if not options.presets or options.model is None:
        for name, preset in PRESETS.items():
            console.print(f"{name}: {(preset.__doc__ or '').splitlines()[0]}")
        console.print("Give one or more of these, or all, and --model.")
        raise typer.Exit(2)
    names = list(PRESETS) if _ALL in options.presets else options.presets
    with explained(ValueError, OSError):
        setting = Setting(
            find_devices(options.devices, options.kv_cache_mib, options.engines_per_device),
            Model(
                options.model,
                options.model_length,
                options.budget,
                options.chunk,
                options.sequences,
                options.engine_flag or [],
            ),
            Work(
                options.embedding_tokens,
                options.prompt_tokens,
                options.output_tokens,
                parse_token_ids(options.token_ids),
                options.clients,
                Bounds(
                    options.warm_up,
                    options.warm_up_most,
                    options.seconds,
                    options.seconds_most,
                    options.answers,
                ),
                drawn_nonce() if options.nonce is None else options.nonce,
            ),
            [float(target) for target in options.targets.split(",")],
            options.mixes.split(","),
        )
        plans = plans_of(names, setting)
        if options.plan:
            show_plan(plans, options.rounds, console)
            return
        failures = run_suite(
            plans, setting, options.rounds, options.output, console, resume=options.resume
        )
    if failures:
        raise typer.Exit(1)
