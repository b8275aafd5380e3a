"""The flags of `orthrus serve` that vLLM does not have."""

import argparse
import math
from pathlib import Path

from orthrus_serving.engine.listener_flags import add_listener_flags
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.pooling import HEADS, BufferedHead
from orthrus_serving.scheduling.policies import POLICY_NAMES, make_policy

DEFAULT_CHUNK_TOKENS = 512
DEFAULT_BATCHED_TOKENS = 2048
DEFAULT_SEQUENCES = 256
DEFAULT_QUEUED_TOKENS = 262_144


def add_orthrus_flags(parser: argparse.ArgumentParser) -> None:
    """Adds our group, and our defaults for the two vLLM flags that size a batch."""
    group = parser.add_argument_group("Orthrus", "Embedding and generation in one batch.")
    group.add_argument(
        "--embedding-pooling",
        choices=tuple(HEADS),
        default="mean",
        help="how the hidden states of a text become its vector",
    )
    group.add_argument(
        "--embedding-normalize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="scale the model's own vectors to length 1, unless a request's use_activation says "
        "otherwise; adapters have a setting of their own",
    )
    group.add_argument(
        "--embedding-chunk-tokens",
        type=int,
        metavar="C",
        help=f"most tokens of one scheduling opportunity; default {DEFAULT_CHUNK_TOKENS}, or the "
        "token budget (--max-num-batched-tokens) where that is less",
    )
    group.add_argument(
        "--batch-policy",
        choices=POLICY_NAMES,
        default="ibs",
        help="ibs: share each step by remaining work; fcfs: arrival order; homogeneous: a step "
        "holds one type",
    )
    group.add_argument(
        "--min-opportunities",
        type=int,
        default=1,
        help="opportunities that each waiting type gets per step; 0 is the paper's form",
    )
    group.add_argument(
        "--max-inter-token-millis",
        type=float,
        metavar="MILLIS",
        help="while streams run, trim the chunks of a step so that it is predicted to stay under "
        "this; each waiting type still gets one KV block per step; default: never trim",
    )
    group.add_argument(
        "--max-queued-tokens",
        type=int,
        metavar="TOKENS",
        default=DEFAULT_QUEUED_TOKENS,
        help="prompt tokens that may wait; a request beyond them is refused whole, with 429",
    )
    group.add_argument(
        "--api-key-file",
        type=Path,
        metavar="FILE",
        help="API keys, one a line, read again whenever the file changes; instead of --api-key",
    )
    group.add_argument(
        "--adapters-file",
        metavar="FILE",
        help="YAML or JSON that declares LoRA adapters; watched (docs/adapters.md)",
    )
    group.add_argument(
        "--embedding-adapter",
        metavar="NAME",
        help="what the served name itself means on /v1/embeddings; the backbone when not set",
    )
    group.add_argument(
        "--admin-key-file",
        metavar="FILE",
        help="keys, one a line, that may load and unload adapters over HTTP; or the variable "
        "ORTHRUS_ADMIN_KEY; the routes are off without one",
    )
    add_listener_flags(group)
    parser.set_defaults(
        max_num_batched_tokens=DEFAULT_BATCHED_TOKENS,
        max_num_seqs=DEFAULT_SEQUENCES,
        max_loras=None,  # sized by the adapters that are declared
    )


def engine_settings(arguments: argparse.Namespace) -> EngineSettings:
    """Our part of the vLLM configuration.

    Raises ValueError for sizes that cannot be scheduled.
    """
    budget: int = arguments.max_num_batched_tokens
    asked: int | None = arguments.embedding_chunk_tokens
    chunk = min(DEFAULT_CHUNK_TOKENS, budget) if asked is None else asked
    if not 1 <= chunk <= budget:
        raise ValueError(
            f"--embedding-chunk-tokens {chunk} must be from 1 to the token budget, "
            f"--max-num-batched-tokens {budget}"
        )
    if arguments.max_num_seqs >= budget:
        raise ValueError(
            f"--max-num-seqs {arguments.max_num_seqs} must be less than --max-num-batched-tokens "
            f"{budget}, or decodes alone could fill a step"
        )
    if arguments.max_queued_tokens < 1:
        raise ValueError(f"--max-queued-tokens {arguments.max_queued_tokens} must be at least 1")
    if arguments.min_opportunities < 0:
        raise ValueError(f"--min-opportunities {arguments.min_opportunities} must be at least 0")
    _prepare_head(arguments.embedding_pooling)
    target: float | None = arguments.max_inter_token_millis
    if target is not None and not (target > 0 and math.isfinite(target)):
        raise ValueError(f"--max-inter-token-millis {target} must be a number above 0")
    places = make_policy(arguments.batch_policy, chunk, arguments.min_opportunities).places_kept
    if arguments.max_num_seqs <= places:
        raise ValueError(
            f"--max-num-seqs {arguments.max_num_seqs} must be at least {places + 1}, or one type "
            "could shut out the other"
        )
    return EngineSettings(
        embedding_pooling=arguments.embedding_pooling,
        embedding_chunk_tokens=chunk,
        batch_policy=arguments.batch_policy,
        min_opportunities=arguments.min_opportunities,
        max_inter_token_millis=target,
    )


def _prepare_head(name: str) -> None:
    """Raises ValueError when a head of another package cannot be loaded."""
    head = HEADS[name]
    try:
        if isinstance(head, BufferedHead):
            head.prepare()
    except Exception as error:
        raise ValueError(
            f"--embedding-pooling {name} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
