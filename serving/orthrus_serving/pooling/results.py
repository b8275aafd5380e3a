"""The vectors that one step finished, on their way from the device to the host."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


class PooledStep:
    """Copies a step's vectors to the host in one transfer; only `wait` blocks on it."""

    def __init__(
        self, request_ids: Sequence[str], vectors: Tensor, failures: Mapping[str, str]
    ) -> None:
        """`vectors`, [requests, hidden size], belongs to `request_ids` row by row; `failures`
        says why the others that ended have none."""
        self._request_ids = tuple(request_ids)
        self.failures = failures
        self._on_device = vectors
        self._on_host = vectors
        self._copied: torch.Event | None = None
        if vectors.device.type != "cpu":
            self._on_host = torch.empty_like(vectors, device="cpu", pin_memory=True)
            self._on_host.copy_(vectors, non_blocking=True)
            self._copied = torch.Event(vectors.device, blocking=True)
            self._copied.record()

    def wait(self) -> dict[str, Tensor]:
        """The host vector of every request that ended in this step, by request.

        One of size 0 stands for a failure: a tensor, because vLLM's front end dies on a pooling
        request that ends without one.
        """
        if self._copied is not None:
            self._copied.synchronize()
        vectors = dict(zip(self._request_ids, self._on_host.unbind(), strict=True))
        return vectors | {request_id: torch.empty(0) for request_id in self.failures}
