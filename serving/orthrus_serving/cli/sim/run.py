"""`orthrus sim run`: one system under one load."""

import argparse
from math import inf
from random import Random

from orthrus_serving.cli.sim.options import (
    add_mix_arguments,
    add_replica_arguments,
    make_kind,
    make_mix,
    parse_ratio,
    require_positive,
    settings_of,
)
from orthrus_serving.cli.sim.output import add_output_arguments, show, table, task_row, write
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.model_shape import MODELS
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.routers import ROUTER_NAMES
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import ClosedLoop, Phase, Poisson, Source

HELP = "one system under one load"
_KV_BYTES_PER_SECOND = 25e9
"""Between GPUs of a machine over PCI Express 4.0 x16."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    system = parser.add_argument_group("system")
    system.add_argument(
        "--layout", choices=("unified", "dedicated", "disaggregated"), default="unified"
    )
    system.add_argument(
        "--replicas",
        default="1",
        metavar="N|A:B",
        help="N unified ones, A that embed and B that "
        "generate, or A for prompts and embeddings and B for decodes",
    )
    system.add_argument("--router", choices=ROUTER_NAMES, default="round-robin")
    load = parser.add_argument_group("load")
    either = load.add_mutually_exclusive_group()
    either.add_argument("--clients", type=int, help="closed loop; default 64")
    either.add_argument("--rate", type=float, help="Poisson arrivals per second")
    end = load.add_mutually_exclusive_group()
    end.add_argument("--seconds", type=float, default=180.0, help="default %(default)s")
    end.add_argument(
        "--requests", type=int, help="send so many, and end when all are answered, whenever that is"
    )
    load.add_argument(
        "--warm-up", type=float, default=0.0, help="seconds before figures count; default 0"
    )
    add_mix_arguments(parser)
    add_replica_arguments(parser)
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    setup = _setup(arguments)
    found = _simulate(setup, arguments)
    write(arguments.output, "run", {"setup": setup, **settings_of(arguments)}, found)
    shown = table(
        f"{arguments.layout} {arguments.replicas}, {setup.kind.settings.policy}",
        *("task", "requests", "per s", "p50", "p99", "max", "first token p99", "gap p50"),
    )
    shown.add_row(*task_row("embedding", found.embedding))
    shown.add_row(*task_row("generation", found.generation))
    pools = table("Replicas", "pool", "replicas", "busy", "fill", "steps", "preemptions")
    for name, pool in zip(_pool_names(setup), found.pools, strict=True):
        pools.add_row(
            name,
            str(pool.replicas),
            f"{pool.busy:.3f}",
            f"{pool.fill:.3f}",
            str(pool.steps),
            str(pool.preemptions),
        )
    show(arguments, shown, pools)


def _setup(arguments: argparse.Namespace) -> Setup:
    kind = make_kind(arguments)
    if ":" in arguments.replicas:
        replicas: tuple[int, ...] = parse_ratio(arguments.replicas, "replicas")
    elif arguments.replicas.isdecimal():
        replicas = (int(arguments.replicas),)
    else:
        raise ValueError(f"replicas {arguments.replicas!r}: write a number, or two as in 1:3")
    return Setup(
        arguments.layout,
        replicas,
        kind,
        arguments.router,
        kv_seconds_per_token=MODELS[arguments.model].kv_bytes_per_token / _KV_BYTES_PER_SECOND,
    )


def _simulate(setup: Setup, arguments: argparse.Namespace) -> Report:
    seed, clock = arguments.seed, Clock()
    source = _source(arguments, draws(seed, "work"))
    simulation = Simulation(clock, lambda done: setup.build(clock, seed, done), source)
    if arguments.requests is None:
        simulation.run(require_positive(arguments.seconds, "--seconds"))
    else:
        require_positive(arguments.requests, "--requests")
        simulation.run()
    if not 0 <= arguments.warm_up < clock.now:
        raise ValueError(
            f"--warm-up is {arguments.warm_up:g}: it must be from 0 to below the end of the run, "
            f"which is at {clock.now:g} s"
        )
    return report(simulation, arguments.warm_up, clock.now)


def _source(arguments: argparse.Namespace, random: Random) -> Source:
    mix = make_mix(arguments)
    count = inf if arguments.requests is None else arguments.requests
    if arguments.rate is not None:
        return Poisson([Phase(mix, arguments.rate)], random, count)
    clients = 64 if arguments.clients is None else arguments.clients
    return ClosedLoop(mix, clients, random, count=count)


def _pool_names(setup: Setup) -> tuple[str, ...]:
    return {
        "unified": ("all",),
        "dedicated": ("embedding", "generation"),
        "disaggregated": ("prefill", "decode"),
    }[setup.layout]
