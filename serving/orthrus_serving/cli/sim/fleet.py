"""`orthrus sim fleet`: the same load per replica on fleets of several sizes."""

import argparse
import time
from math import inf
from random import Random

from orthrus_serving.cli.sim.options import (
    add_mix_arguments,
    add_replica_arguments,
    make_kind,
    make_mix,
    parse_numbers,
    require_positive,
    settings_of,
)
from orthrus_serving.cli.sim.output import add_output_arguments, seconds, show, table, write
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.routers import ROUTER_NAMES
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Phase, Poisson

HELP = "the same load per replica on fleets of several sizes, by router"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    fleet = parser.add_argument_group("fleet")
    fleet.add_argument("--sizes", default="1,4,64,1024", help="replicas; default %(default)s")
    fleet.add_argument(
        "--routers", nargs="+", choices=ROUTER_NAMES, default=["random", "least-loaded"]
    )
    fleet.add_argument(
        "--rate-per-replica", type=float, default=8.0, help="Poisson; default %(default)s per s"
    )
    fleet.add_argument(
        "--requests",
        type=int,
        default=20_000,
        help="of each simulation, or --requests-per-"
        "replica times the size if that is more; default %(default)s",
    )
    fleet.add_argument("--requests-per-replica", type=int, default=200, help="default %(default)s")
    add_mix_arguments(parser)
    add_replica_arguments(parser)
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    kind = make_kind(arguments)
    sizes = parse_numbers(arguments.sizes, "sizes")
    shown = table(
        f"{kind.settings.policy}, {arguments.rate_per_replica:g} requests per second and replica",
        *("replicas", "router", "requests", "embedding p50", "p99", "generation p50", "p99"),
        *("first token p99", "busy", "took"),
    )
    results = []
    for size in sizes:
        for router in arguments.routers:
            started = time.perf_counter()
            found = _simulate(kind, size, router, arguments)
            took = time.perf_counter() - started
            results.append({"replicas": size, "router": router, "report": found})
            shown.add_row(str(size), router, *_cells(found), f"{took:.1f} s")
    write(arguments.output, "fleet", {"kind": kind, **settings_of(arguments)}, results)
    show(shown)


def _simulate(kind: ReplicaKind, size: int, router: str, arguments: argparse.Namespace) -> Report:
    rate = require_positive(arguments.rate_per_replica, "--rate-per-replica")
    count = max(arguments.requests, size * arguments.requests_per_replica)
    random = Random(arguments.seed)  # noqa: S311
    clock = Clock()
    setup = Setup("unified", (size,), kind, router)
    source = Poisson([Phase(make_mix(arguments), rate * size, inf)], random, count)
    simulation = Simulation(clock, lambda done: setup.build(clock, random, done), source)
    simulation.run()
    return report(simulation, 0.0, clock.now)


def _cells(found: Report) -> tuple[str, ...]:
    latencies = (found.embedding.latency, found.generation.latency)
    first = found.generation.first_output
    return (
        str(found.answered),
        *(seconds(p) for d in latencies for p in ((d.p50, d.p99) if d else (None, None))),
        seconds(first.p99 if first else None),
        f"{found.pools[0].busy:.3f}",
    )
