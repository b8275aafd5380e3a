"""Pools the embedding rows of successive steps, each request by its own head."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from orthrus_serving.pooling.heads import HEADS
from orthrus_serving.pooling.progress import Chunk, PoolingRequest, Progress
from orthrus_serving.pooling.results import PooledStep
from orthrus_serving.pooling.slots import StateSlots


class IncrementalPooler:
    """Keeps a state per live request and folds hidden states into it.

    Nothing here waits for the device: rows are addressed by host integers, so that no index
    travels to it, and the vectors of a step leave in one copy. Sums are taken per request over
    its consecutive rows, so a vector does not depend on which requests share its steps.

    Nothing here raises because of a request: in a vLLM worker that would end the engine and
    with it every other request. One that went wrong ends with a vector of size 0.
    """

    def __init__(self, capacity: int, hidden_size: int, device: torch.device) -> None:
        """`capacity`: most requests that are partly pooled at one time."""
        self._slots = StateSlots(capacity, hidden_size, device)
        self._live: dict[str, Progress] = {}

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._live

    @property
    def slots_taken(self) -> int:
        """Requests that are partly pooled."""
        return self._slots.taken

    def reserve(self, method: str, tokens: int) -> Tensor:
        """What this head keeps for `tokens` live tokens: hold it while the device's memory is
        measured, then let it go."""
        return HEADS[method].begin(self._slots[0], tokens)

    def add(self, request_id: str, request: PoolingRequest) -> None:
        """Expect this request's chunks; one that is known already begins anew."""
        self.remove(request_id)
        self._live[request_id] = Progress(request, HEADS.get(request.method))

    def restart(self, request_id: str) -> None:
        """Drop the state of a preempted request, which will come again from token 0."""
        if progress := self._live.get(request_id):
            self._drop_state(progress)

    def remove(self, request_id: str) -> None:
        """Forget a request that finished or was aborted."""
        if progress := self._live.pop(request_id, None):
            self._drop_state(progress)

    @torch.inference_mode()
    def fold(self, hidden_states: Tensor, chunks: Sequence[Chunk]) -> PooledStep | None:
        """Take in one step; None when no request ends with it.

        `hidden_states`, [rows, hidden size], may be padded and may be overwritten after the
        call: no view of it is kept. Chunks of unknown requests are passed over.
        """
        ended = [chunk.request_id for chunk in chunks if self._take_in(hidden_states, chunk)]
        if not ended:
            return None
        step = self._collect(ended)
        for request_id in ended:
            self._drop_state(self._live[request_id])
        return step

    def _take_in(self, hidden_states: Tensor, chunk: Chunk) -> bool:
        """Fold one chunk; True when it is the last of its prompt."""
        progress = self._live.get(chunk.request_id)
        if progress is None or chunk.start >= progress.request.prompt_tokens:
            return False
        if progress.slot is None and (slot := self._slots.acquire()) is not None:
            progress.begin(slot, self._slots[slot])
        progress.fold(hidden_states[chunk.row : chunk.row + chunk.tokens], chunk)
        return chunk.end >= progress.request.prompt_tokens

    def _collect(self, ended: list[str]) -> PooledStep:
        """Copy the finished states out, those to be normalised first: one slice, no index."""
        to_scale: dict[str, Tensor] = {}
        as_is: dict[str, Tensor] = {}
        for request_id in ended:
            progress = self._live[request_id]
            vector = progress.vector()
            if vector is not None:
                (to_scale if progress.request.normalize else as_is)[request_id] = vector
        ready = to_scale | as_is
        failures = {id_: self._live[id_].failure for id_ in ended if id_ not in ready}
        if not ready:
            return PooledStep((), torch.empty(0, 0), failures)
        stacked = torch.stack(list(ready.values()))
        scaled = stacked[: len(to_scale)]
        scaled.copy_(normalize(scaled, dim=-1))
        return PooledStep(list(ready), stacked, failures)

    def _drop_state(self, progress: Progress) -> None:
        slot = progress.end()
        if slot is not None:
            self._slots.release(slot)
