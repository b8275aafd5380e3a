"""The paper's systems (Table 2) as set-ups of the simulator."""

from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.model_shape import MISTRAL_7B
from orthrus_serving.sim.paper.constants import (
    MEMORY_SHARE,
    WORKSPACE_BYTES,
    Fitted,
    front_end_cost,
    roofline,
)
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.setup import Layout, Setup

_NVLINK_BYTES_PER_SECOND = 100e9
"""A cautious share of what NVLink between A100s does; the paper names no link."""


def replica_kind(fitted: Fitted, policy: str) -> ReplicaKind:
    """One A100-40GB with Mistral-7B; C and B as the paper chose them (A.2)."""
    cost = roofline(fitted)
    kv = KvSpace(cost.kv_tokens(MEMORY_SHARE, WORKSPACE_BYTES))
    return ReplicaKind(
        ReplicaSettings(kv, policy=policy, token_budget=2048, chunk_tokens=512),
        cost,
        front_end_cost(fitted),
    )


def unified(fitted: Fitted, policy: str, gpus: int) -> Setup:
    return Setup("unified", (gpus,), replica_kind(fitted, policy))


def dedicated(fitted: Fitted, embed: int, generate: int) -> Setup:
    return _split(fitted, "dedicated", embed, generate)


def disaggregated(fitted: Fitted, prefill: int, decode: int) -> Setup:
    return _split(fitted, "disaggregated", prefill, decode)


def _split(fitted: Fitted, layout: Layout, first: int, second: int) -> Setup:
    per_token = MISTRAL_7B.kv_bytes_per_token / _NVLINK_BYTES_PER_SECOND
    kind = replica_kind(fitted, "fcfs")
    return Setup(layout, (first, second), kind, kv_seconds_per_token=per_token)
