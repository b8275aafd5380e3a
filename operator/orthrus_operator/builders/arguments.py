"""The command line of a replica."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.adapters import ADAPTERS_FILE, MOST_IN_A_BATCH, loaded_at_most
from orthrus_operator.builders.volumes import API_KEY_FILE, model_argument

ADAPTER_ROOM = "max-cpu-loras"
"""The flag that says how many adapters may be loaded."""


def serve_arguments(orthrus: OrthrusDeployment, room: int = 0) -> list[str]:
    """Arguments of the container: `serve MODEL --flag=value …`, in a fixed order; with room for
    `room` adapters if there are any."""
    spec = orthrus.spec
    flags = {
        "served-model-name": orthrus.served_name,
        "revision": spec.model.revision,
        "embedding-adapter": spec.embedding.adapter,
        "embedding-pooling": spec.embedding.pooling,
        "embedding-normalize": spec.embedding.normalize,
        "batch-policy": spec.scheduling.policy,
        "max-num-batched-tokens": spec.scheduling.max_batched_tokens,
        "embedding-chunk-tokens": spec.scheduling.chunk_tokens,
        "min-opportunities": spec.scheduling.min_opportunities,
        "max-queued-tokens": spec.scheduling.max_queued_tokens,
        "max-inter-token-millis": spec.scheduling.max_inter_token_millis,
        "max-num-seqs": spec.scheduling.sequences,
        "drain-timeout": spec.drain_seconds,
        "adapters-file": ADAPTERS_FILE if spec.adapters else None,
        "max-loras": MOST_IN_A_BATCH if spec.adapters else None,
        ADAPTER_ROOM: loaded_at_most(orthrus, room) if spec.adapters else None,
        "api-key-file": API_KEY_FILE if spec.auth else None,
    }
    owned = [_flag(name, value) for name, value in flags.items() if value is not None]
    extra = [_engine_flag(name, value) for name, value in sorted((spec.engine_args or {}).items())]
    return ["serve", model_argument(orthrus), *owned, *extra]


def _engine_flag(name: str, value: str) -> str:
    return _flag(name, {"true": True, "false": False}.get(value, value))


def _flag(name: str, value: str | int) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name}={value}"
