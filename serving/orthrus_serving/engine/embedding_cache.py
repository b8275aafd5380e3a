"""Which embeddings may touch the prefix cache."""

from typing import Any

from vllm.v1.core.kv_cache_manager import KVCacheBlocks, KVCacheManager
from vllm.v1.request import Request

POOLINGS_THAT_SKIP_TOKENS = frozenset({"last"})
"""Heads that need no hidden state of a cached token: the last token is always computed."""


def needs_every_token(request: Request) -> bool:
    """Whether a prefix cache hit would hide hidden states that the pooling head needs."""
    params = request.pooling_params
    if params is None:
        return False
    # Without a name the answer is yes, which is never wrong.
    return (params.extra_kwargs or {}).get("pooling") not in POOLINGS_THAT_SKIP_TOKENS


def keep_embeddings_out_of_prefix_cache(manager: KVCacheManager) -> None:
    """Don't hash the blocks of embeddings that cannot read the cache anyway.

    A stream of documents would evict the prefixes of generations. Blocks without a hash go to
    the front of the free list instead, so they are the first to be used again.
    """
    allocate_slots = manager.allocate_slots

    def allocate(request: Request, num_new_tokens: int, **options: Any) -> KVCacheBlocks | None:
        if needs_every_token(request):
            options["delay_cache_blocks"] = True
        return allocate_slots(request, num_new_tokens, **options)

    manager.allocate_slots = allocate  # type: ignore[method-assign,assignment]
