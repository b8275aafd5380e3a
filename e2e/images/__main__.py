"""`python -m e2e.images build NAME… | ref NAME | check NAME…`."""

import argparse
import sys

from e2e.images.build import ROOT, build
from e2e.images.check import check
from e2e.images.errors import ImageError
from e2e.images.reference import NAMES, recipe


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.images", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="build images from this tree")
    command.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    command = commands.add_parser("check", help="build images and import their code as a pod would")
    command.add_argument("names", nargs="+", choices=NAMES, metavar="NAME")
    command = commands.add_parser("ref", help="print the reference that a build would give")
    command.add_argument("name", choices=NAMES, metavar="NAME")
    arguments = parser.parse_args()
    try:
        if arguments.command == "ref":
            print(recipe(ROOT, arguments.name).reference)
        else:
            act = build if arguments.command == "build" else check
            for name in arguments.names:
                act(name)
    except ImageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
