"""Which versions of adapters are still needed by requests."""

from collections import Counter
from functools import partial

from vllm.lora.request import LoRARequest

from orthrus_serving.engine.http_request import current_http_request


class AdapterUse:
    """Counts the HTTP requests that found an adapter by its name, until they end.

    The engine hears of an adapter only when the prompt is tokenized, so its own requests alone
    would not do: a version that is replaced in between could be gone when the request arrives.
    """

    def __init__(self) -> None:
        self._requests: Counter[int] = Counter()

    def hold(self, adapter: LoRARequest | None) -> None:
        """For the current HTTP request; None is the backbone, which is always there."""
        if adapter is not None and (request := current_http_request.get()) is not None:
            self._requests[adapter.lora_int_id] += 1
            request.at_end(partial(self._release, adapter.lora_int_id))

    def numbers(self) -> set[int]:
        """vLLM's ids of those in use."""
        return set(self._requests)

    def _release(self, number: int) -> None:
        self._requests[number] -= 1
        if not self._requests[number]:
            del self._requests[number]
