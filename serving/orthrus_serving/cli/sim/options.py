"""Flags that several subcommands share, and what they make."""

import argparse
import math
from dataclasses import dataclass

from orthrus_serving.scheduling.policies import POLICY_NAMES
from orthrus_serving.sim.accelerator import ACCELERATORS
from orthrus_serving.sim.front_end import FrontEndCost
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.lengths import parse_lengths
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.model_shape import MODELS
from orthrus_serving.sim.paper.constants import (
    FITTED,
    MEMORY_SHARE,
    WORKSPACE_BYTES,
    front_end_cost,
    roofline,
)
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.step_cost import StepCost


def add_replica_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("replica", "as the flags of `orthrus serve`")
    group.add_argument("--batch-policy", choices=POLICY_NAMES, default="ibs")
    group.add_argument("--max-num-batched-tokens", type=int, default=2048, metavar="B")
    group.add_argument("--embedding-chunk-tokens", type=int, default=512, metavar="C")
    group.add_argument("--min-opportunities", type=int, default=1)
    group.add_argument("--max-num-seqs", type=int, default=256)
    group.add_argument("--max-inter-token-millis", type=float)
    group.add_argument("--block-size", type=int, default=16)
    group.add_argument(
        "--kv-cache-tokens",
        type=int,
        help="room for keys and values; default: what is left of the accelerator's memory",
    )
    cost = parser.add_argument_group(
        "step time", "a roofline with the constants of `orthrus sim paper`, or costs of your own"
    )
    cost.add_argument("--accelerator", choices=sorted(ACCELERATORS), default="a100-40gb")
    cost.add_argument("--model", choices=sorted(MODELS), default="mistral-7b")
    cost.add_argument(
        "--ideal-front-end", action="store_true", help="answers cost nothing outside the engine"
    )
    cost.add_argument(
        "--linear-cost",
        metavar="STEP:CHUNK:DECODE",
        help="milliseconds of a step, of a chunk token and of a decode token, as on a CPU; takes "
        "the place of the roofline, and needs --kv-cache-tokens",
    )


def add_mix_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("requests", "lengths: 128, 64-512 or exp:MEAN:MOST")
    group.add_argument("--mix", default="5:5", metavar="E:G", help="embeddings to generations")
    group.add_argument("--embedding-tokens", default="128", metavar="LENGTHS")
    group.add_argument("--prompt-tokens", default="128", metavar="LENGTHS")
    group.add_argument("--output-tokens", default="512", metavar="LENGTHS")


def make_mix(arguments: argparse.Namespace, ratio: str | None = None) -> Mix:
    return Mix(
        _embedding_share(ratio or arguments.mix),
        parse_lengths(arguments.embedding_tokens),
        parse_lengths(arguments.prompt_tokens),
        parse_lengths(arguments.output_tokens),
    )


def make_kind(arguments: argparse.Namespace) -> ReplicaKind:
    """Raises ValueError for settings that the engine would refuse."""
    millis = arguments.max_inter_token_millis
    machine = _linear(arguments) if arguments.linear_cost else _modelled(arguments)
    settings = ReplicaSettings(
        KvSpace(machine.kv_tokens, arguments.block_size),
        policy=arguments.batch_policy,
        token_budget=arguments.max_num_batched_tokens,
        chunk_tokens=arguments.embedding_chunk_tokens,
        min_opportunities=arguments.min_opportunities,
        sequences=arguments.max_num_seqs,
        max_inter_token_seconds=None if millis is None else millis / 1000,
    )
    return ReplicaKind(settings, machine.cost, machine.front_end)


@dataclass(frozen=True)
class _Machine:
    cost: StepCost
    front_end: FrontEndCost
    kv_tokens: int


def _modelled(arguments: argparse.Namespace) -> _Machine:
    cost = roofline(FITTED, ACCELERATORS[arguments.accelerator], MODELS[arguments.model])
    front_end = FrontEndCost() if arguments.ideal_front_end else front_end_cost(FITTED)
    kv_tokens = arguments.kv_cache_tokens or cost.kv_tokens(MEMORY_SHARE, WORKSPACE_BYTES)
    return _Machine(cost, front_end, kv_tokens)


def _linear(arguments: argparse.Namespace) -> _Machine:
    if arguments.kv_cache_tokens is None:
        raise ValueError("--linear-cost says nothing of memory: give --kv-cache-tokens")
    text = arguments.linear_cost
    try:
        step, chunk_token, decode_token = (float(part) / 1000 for part in text.split(":"))
    except ValueError as error:
        raise ValueError(f"--linear-cost {text!r}: write three numbers, as in 20:1:4") from error
    if not step > 0 or min(chunk_token, decode_token) < 0:
        raise ValueError(f"--linear-cost {text!r}: a step takes time, and no token gives any back")
    return _Machine(
        LinearCost(step, chunk_token, decode_token), FrontEndCost(), arguments.kv_cache_tokens
    )


def settings_of(arguments: argparse.Namespace) -> dict[str, object]:
    """All flags, for the record."""
    return {k: v for k, v in vars(arguments).items() if k not in {"command", "output"}}


def parse_ratio(text: str, what: str) -> tuple[int, int]:
    """`1:3`; raises ValueError otherwise."""
    parts = text.split(":")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{what} {text!r}: write two whole numbers, as in 1:3")
    return int(parts[0]), int(parts[1])


def parse_numbers(text: str, what: str) -> tuple[int, ...]:
    """`1,4,64`; raises ValueError otherwise."""
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"{what} {text!r}: write whole numbers from 1 up, as in 1,4,64")
    return tuple(map(int, parts))


def require_positive(value: float, what: str) -> float:
    if not 0 < value < math.inf:
        raise ValueError(f"{what} is {value:g}: it must be above 0")
    return value


def _embedding_share(text: str) -> float:
    embeddings, generations = parse_ratio(text, "mix")
    if embeddings + generations == 0:
        raise ValueError("mix '0:0': there would be no requests")
    return embeddings / (embeddings + generations)
