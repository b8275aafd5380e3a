"""`orthrus-operator run | crd | generate [--check]`."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from orthrus_operator.api.crd import custom_resource_definition
from orthrus_operator.generated import generated_files, to_yaml


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the `orthrus-operator` command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="orthrus-operator", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="watch OrthrusDeployments and bring the cluster in line")
    commands.add_parser("crd", help="print the CustomResourceDefinition")
    generate = commands.add_parser("generate", help="write what is generated from the API types")
    generate.add_argument(
        "--check", action="store_true", help="write nothing; fail on a difference"
    )
    generate.add_argument("--root", type=Path, default=Path(), help="repository (default: here)")
    options = parser.parse_args(arguments)
    if options.command == "run":
        return _run()
    if options.command == "crd":
        sys.stdout.write(to_yaml(custom_resource_definition()))
        return 0
    return _generate(options.root, check=options.check)


def _run() -> int:
    # Imported here: the other commands need neither kopf nor the Kubernetes client.
    from orthrus_operator.handlers.operator import StartError, operate
    from orthrus_operator.handlers.settings import OperatorSettings

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        settings = OperatorSettings()
    except ValidationError as error:
        for problem in error.errors():
            variable = f"ORTHRUS_{str(problem['loc'][0]).upper()}"
            sys.stderr.write(f"orthrus-operator: {variable}: {problem['msg']}\n")
        return 2
    try:
        asyncio.run(operate(settings))
    except asyncio.CancelledError:
        return 0
    except StartError as error:
        sys.stderr.write(f"orthrus-operator: {error}\n")
        return 1
    except BaseExceptionGroup as ended:
        # kopf gives up on a watch that keeps failing; a fresh start is how it recovers.
        sys.stderr.write(f"orthrus-operator: ended by {ended.exceptions[0]!r}\n")
        return 1
    return 0


def _generate(root: Path, *, check: bool) -> int:
    stale = [
        path
        for path, content in generated_files().items()
        if not (root / path).exists() or (root / path).read_text() != content
    ]
    for path in stale:
        if check:
            sys.stderr.write(f"{path} is stale: run orthrus-operator generate\n")
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(generated_files()[path])
    return 1 if check and stale else 0
