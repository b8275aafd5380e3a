"""The subcommands of `orthrus sim`."""

import argparse
import sys
from collections.abc import Sequence

from orthrus_serving.cli.sim import calibrate, fleet, packing, paper, run, scale

EXIT_USAGE = 2
_COMMANDS = {
    "run": run,
    "fleet": fleet,
    "scale": scale,
    "packing": packing,
    "paper": paper,
    "calibrate": calibrate,
}


def sim(arguments: Sequence[str]) -> int:
    """Runs one of them; returns the exit code of the process."""
    parser = argparse.ArgumentParser(
        "orthrus sim",
        description="Replicas and fleets in simulated time, with the scheduling code of the "
        "engine. Every figure is simulated, but for those of `calibrate`.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, module in _COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(command)
        command.set_defaults(command=module.command)
    parsed = parser.parse_args(arguments)
    try:
        parsed.command(parsed)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"orthrus sim: {error}\n")
        return EXIT_USAGE
    return 0
