"""The subcommands of `orthrus`."""

import argparse
from collections.abc import Sequence
from importlib.metadata import version


def run(arguments: Sequence[str]) -> int:
    """Runs one subcommand; returns the exit code of the process."""
    parser = argparse.ArgumentParser(
        "orthrus", description="Embedding and generation from one model, in one batch."
    )
    parser.add_argument("--version", action="version", version=f"orthrus {version('orthrus')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    commands.add_parser("serve", help="serve a model over HTTP", add_help=False)
    # `serve` parses its own flags, most of which are vLLM's.
    parser.parse_args(arguments[:1])

    from orthrus_serving.cli.serve import serve

    return serve(arguments[1:])
