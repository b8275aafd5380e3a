"""Flags that the listener needs before vLLM, and with it the whole command line, is loaded."""

import argparse


def add_listener_flags(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--drain-timeout",
        type=_seconds,
        metavar="SECONDS",
        default=120.0,
        help="after SIGTERM, time for running requests to finish",
    )
    group.add_argument(
        "--max-body-bytes",
        type=_at_least_one,
        metavar="BYTES",
        default=16 << 20,
        help="a larger request body is refused with 413",
    )
    group.add_argument(
        "--max-connection-requests",
        type=_at_least_one,
        metavar="N",
        default=1000,
        help="requests after which a connection is closed, so that clients with a pool of "
        "connections come to know new replicas",
    )
    group.add_argument(
        "--max-connection-age",
        type=_seconds,
        metavar="SECONDS",
        default=300.0,
        help="age from which a connection is closed after its next answer, for the same reason",
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} must be 0 or more")
    return value


def _at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 1")
    return value
