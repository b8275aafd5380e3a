"""`orthrus sim fleet`: the same load per replica on fleets of several sizes."""

import argparse

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
from orthrus_serving.sim.fleet import FleetFigures, FleetLoad, run_fleet
from orthrus_serving.sim.routers import ROUTER_NAMES
from orthrus_serving.sim.setup import Setup

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
        "--warm-up",
        type=float,
        default=20.0,
        help="seconds before figures count, at every size; twice as long as an answer takes; "
        "default %(default)s",
    )
    fleet.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="seconds that count, at every size; default %(default)s",
    )
    fleet.add_argument(
        "--least-replicas",
        type=int,
        default=64,
        help="a smaller fleet runs as often as it takes to have so many replicas in all, so that "
        "its percentiles are of as many requests; default %(default)s",
    )
    add_mix_arguments(parser)
    add_replica_arguments(parser)
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    kind = make_kind(arguments)
    sizes = parse_numbers(arguments.sizes, "sizes")
    least = int(require_positive(arguments.least_replicas, "--least-replicas"))
    rate = require_positive(arguments.rate_per_replica, "--rate-per-replica")
    load = FleetLoad(make_mix(arguments), rate, arguments.warm_up, arguments.seconds)
    shown = table(
        f"Fleets of {kind.settings.policy} replicas, {rate:g} requests per second and replica",
        *("replicas", "router", "runs", "requests", "per replica", "embedding p50", "p99"),
        *("generation p50", "p99", "first token p99", "busy"),
    )
    shown.caption = (
        f"At every size {load.warm_up:g} s of warm-up, then {load.seconds:g} s that count: about "
        f"{rate * load.seconds:g} requests per replica."
    )
    results = []
    for size in sizes:
        runs = max(1, -(-least // size))
        for router in arguments.routers:
            found = run_fleet(Setup("unified", (size,), kind, router), load, runs, arguments.seed)
            results.append({"replicas": size, "router": router, "figures": found})
            shown.add_row(str(size), router, *_cells(found, size))
    write(arguments.output, "fleet", {"kind": kind, **settings_of(arguments)}, results)
    show(arguments, shown)


def _cells(found: FleetFigures, size: int) -> tuple[str, ...]:
    latencies = (found.embedding.latency, found.generation.latency)
    first = found.generation.first_output
    return (
        str(found.runs),
        str(found.requests),
        f"{found.requests / (found.runs * size):.0f}",
        *(seconds(p) for d in latencies for p in ((d.p50, d.p99) if d else (None, None))),
        seconds(first.p99 if first else None),
        f"{found.busy:.3f}",
    )
