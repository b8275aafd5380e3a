"""How many KV blocks a request still needs."""

from collections.abc import Callable, Mapping

from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.request import Request

from orthrus_serving.scheduling.prefill import Prefill


class BlockDemand:
    """Counts blocks for all that remains of a request, so that admitted prefills cannot starve
    each other half-way.

    Looking for prefix cache hits walks over all block hashes of a prompt, so it is done only
    when the request would not fit without them.

    Args:
        remaining_blocks: blocks for a request's remaining tokens, without cache hits.
    """

    def __init__(
        self,
        manager: KVCacheManager,
        requests: Mapping[str, Request],
        remaining_blocks: Callable[[Request], int],
    ) -> None:
        self._manager = manager
        self._requests = requests
        self._remaining_blocks = remaining_blocks

    def __call__(self, prefill: Prefill, available: int) -> int:
        request = self._requests[prefill.request_id]
        needed = self._remaining_blocks(request)
        if needed <= available or not prefill.waiting:
            return needed
        blocks, hits, _ = self._manager.get_computed_blocks(request)
        if not hits:
            return needed
        return self._manager.coordinator.get_num_blocks_to_allocate(
            request_id=request.request_id,
            num_tokens=request.num_tokens,
            new_computed_blocks=blocks.blocks,
            num_encoder_tokens=0,
            total_computed_tokens=hits,
            num_local_computed_tokens=hits,
            num_tokens_main_model=request.num_tokens,
            apply_admission_cap=True,
            prefill_end=max(request.num_prompt_tokens, request.num_tokens - 1),
        )
