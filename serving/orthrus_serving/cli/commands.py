"""The subcommands of `orthrus`."""

import argparse
from collections.abc import Sequence
from importlib.metadata import version

from orthrus_serving.cli.drain import add_drain_arguments, drain


def run(arguments: Sequence[str]) -> int:
    """Runs one subcommand; returns the exit code of the process."""
    parser = argparse.ArgumentParser(
        "orthrus", description="Embedding and generation from one model, in one batch."
    )
    parser.add_argument("--version", action="version", version=f"orthrus {version('orthrus')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    commands.add_parser("serve", help="serve a model over HTTP", add_help=False)
    commands.add_parser("sim", help="simulate replicas and fleets", add_help=False)
    add_drain_arguments(
        commands.add_parser("drain", help="tell a replica of this container that it is leaving")
    )
    commands.add_parser("bench", help="measure servers under mixed load", add_help=False)
    commands.add_parser("top", help="show what replicas on Kubernetes do", add_help=False)
    if arguments[:1] == ["top"]:
        from orthrus_serving.cli.top import top

        return top(arguments[1:])
    if arguments[:1] == ["bench"]:
        from orthrus_serving.bench.cli.app import bench

        return bench(arguments[1:])
    if arguments[:1] == ["serve"]:  # which parses its own flags, most of them vLLM's
        from orthrus_serving.cli.serve import serve

        return serve(arguments[1:])
    if arguments[:1] == ["sim"]:  # which needs libraries of the `bench` extra
        from orthrus_serving.cli.sim.commands import sim

        return sim(arguments[1:])
    return drain(parser.parse_args(arguments))
