"""How much memory the KV cache of a CPU replica gets."""

import os

from orthrus_serving.engine.frontend.container_memory import memory_limit

SHARE_OF_LIMIT = 0.25
"""The rest holds weights, activations and two Python processes."""
UNLIMITED_BYTES = 4 << 30
"""Without a container limit; never a share of the machine, which others use too."""


def cpu_kv_cache_bytes(asked: int | None) -> int | None:
    """Bytes for `--kv-cache-memory-bytes`; None leaves vLLM to VLLM_CPU_KVCACHE_SPACE."""
    if asked is not None:
        return asked
    if os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
        return None
    limit = memory_limit()
    return UNLIMITED_BYTES if limit is None else int(limit * SHARE_OF_LIMIT)
