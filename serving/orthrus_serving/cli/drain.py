"""`orthrus drain --announce`: what a pod runs before it is stopped."""

import argparse
import sys
import time

from orthrus_serving.server.announcement import NoReplicaError, announce

EXIT_NO_REPLICA = 1


def add_drain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a replica not ready and have it close each connection with its next answer, while "
        "it goes on serving; wait, so that clients and load balancers find other replicas. Stop "
        "it with SIGTERM afterwards: an announcement cannot be taken back."
    )
    parser.add_argument("--announce", action="store_true", required=True)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="time to wait; default %(default)s"
    )
    parser.add_argument(
        "--pid", type=int, default=1, help="process of the replica; default 1, as in its container"
    )


def drain(arguments: argparse.Namespace) -> int:
    """Announces, waits; returns the exit code."""
    try:
        announce(arguments.pid)
    except NoReplicaError as error:
        sys.stderr.write(f"orthrus drain: {error}\n")
        return EXIT_NO_REPLICA
    time.sleep(arguments.seconds)
    return 0
