"""`orthrus sim scale`: an autoscaled fleet under a load that changes."""

import argparse
from itertools import accumulate

from orthrus_serving.cli.sim.options import (
    add_mix_arguments,
    add_replica_arguments,
    make_kind,
    make_mix,
    parse_numbers,
    settings_of,
)
from orthrus_serving.cli.sim.output import add_output_arguments, seconds, show, table, write
from orthrus_serving.sim.autoscaler import Autoscaler, AutoscalerSettings
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.draws import draws
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.report import Report, report
from orthrus_serving.sim.routers import ROUTER_NAMES
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Phase, Poisson

HELP = "an autoscaled fleet under a load that changes, by the time that a replica loads"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    scaling = parser.add_argument_group("autoscaling", "as `spec.autoscaling`, by the HPA's rule")
    scaling.add_argument("--min-replicas", type=int, default=1)
    scaling.add_argument("--max-replicas", type=int, default=64)
    scaling.add_argument("--backlog-tokens-per-replica", type=float, default=8192)
    scaling.add_argument(
        "--load-seconds",
        default="10,60,180",
        help="time until a new replica is ready, each in turn; default %(default)s",
    )
    scaling.add_argument("--metric-age", type=float, default=15.0, help="seconds; default 15")
    scaling.add_argument("--router", choices=ROUTER_NAMES, default="least-loaded")
    load = parser.add_argument_group("load")
    load.add_argument(
        "--phases",
        nargs="+",
        default=["8:600", "64:1800", "8:1800"],
        metavar="RATE:SECONDS[:E:G]",
        help="Poisson, one after the other, with a mix of their own or that of --mix; "
        "default 8:600 64:1800 8:1800",
    )
    add_mix_arguments(parser)
    add_replica_arguments(parser)
    add_output_arguments(parser)


def command(arguments: argparse.Namespace) -> None:
    kind = make_kind(arguments)
    phases = [_phase(text, arguments) for text in arguments.phases]
    loads = parse_numbers(arguments.load_seconds, "--load-seconds")
    shown = table(
        f"{arguments.min_replicas} to {arguments.max_replicas} replicas, "
        f"{arguments.backlog_tokens_per_replica:g} backlog tokens per replica",
        *("a replica loads", "answered", "most replicas", "full after", "replica hours"),
        *("embedding p99", "first token p99", "generation p99"),
    )
    results = []
    for load_seconds in loads:
        found, sizes = _simulate(kind, phases, load_seconds, arguments)
        results.append({"load_seconds": load_seconds, "report": found, "sizes": sizes})
        shown.add_row(f"{load_seconds} s", *_cells(found, sizes, phases))
    write(arguments.output, "scale", {"kind": kind, **settings_of(arguments)}, results)
    show(arguments, shown)


def _phase(text: str, arguments: argparse.Namespace) -> Phase:
    rate, _, rest = text.partition(":")
    duration, _, mix = rest.partition(":")
    try:
        return Phase(make_mix(arguments, mix or None), float(rate), float(duration))
    except ValueError as error:
        raise ValueError(f"phase {text!r} (RATE:SECONDS or RATE:SECONDS:E:G): {error}") from error


def _simulate(
    kind: ReplicaKind, phases: list[Phase], load_seconds: float, arguments: argparse.Namespace
) -> tuple[Report, list[tuple[float, int]]]:
    settings = AutoscalerSettings(
        arguments.min_replicas,
        arguments.max_replicas,
        arguments.backlog_tokens_per_replica,
        load_seconds,
        arguments.metric_age,
    )
    seed = arguments.seed
    clock = Clock()
    setup = Setup("unified", (arguments.min_replicas,), kind, arguments.router)
    simulation = Simulation(
        clock, lambda done: setup.build(clock, seed, done), Poisson(phases, draws(seed, "work"))
    )
    autoscaler = Autoscaler(clock, simulation.system.pools[0], settings)
    end = sum(phase.seconds for phase in phases)
    simulation.run(end)
    return report(simulation, 0.0, end), autoscaler.sizes


def _cells(found: Report, sizes: list[tuple[float, int]], phases: list[Phase]) -> tuple[str, ...]:
    most = max(size for _, size in sizes)
    reached = next(moment for moment, size in sizes if size == most)
    begun = max(
        start for start in accumulate((p.seconds for p in phases), initial=0.0) if start <= reached
    )
    first = found.generation.first_output
    return (
        f"{found.answered} of {found.sent}",
        str(most),
        seconds(reached - begun),
        f"{found.pools[0].replica_seconds / 3600:.2f}",
        *(seconds(d.p99 if d else None) for d in (found.embedding.latency, first)),
        seconds(found.generation.latency.p99 if found.generation.latency else None),
    )
