"""Which embeddings may touch the prefix cache."""

from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.request import Request

from orthrus_serving.pooling import head_needs_every_token


def needs_every_token(request: Request) -> bool:
    """Whether a prefix cache hit would hide hidden states that the pooling head needs."""
    params = request.pooling_params
    if params is None:
        return False
    # Without a name the answer is yes, which is never wrong.
    return head_needs_every_token((params.extra_kwargs or {}).get("pooling"))


def keep_embeddings_out_of_prefix_cache(manager: KVCacheManager) -> None:
    """Don't hash the blocks of embeddings that cannot read the cache anyway.

    A stream of documents would evict the prefixes of generations. Blocks without a hash go to
    the front of the free list instead, so they are the first to be used again.
    """
    coordinator = manager.coordinator
    cache_blocks = coordinator.cache_blocks

    def cache_unless_embedding(request: Request, num_computed_tokens: int) -> None:
        if request.pooling_params is None or not needs_every_token(request):
            cache_blocks(request, num_computed_tokens)

    coordinator.cache_blocks = cache_unless_embedding  # type: ignore[method-assign]
