"""LoRA on a CPU, right for rows without an adapter.

vLLM's CPU kernels index the adapter weights by row, and the -1 of a row without an adapter wraps
to the last slot: once that slot has ever been filled, base rows of a batch with adapter rows are
computed with its adapter (vLLM 0.32.0, `lora/ops/torch_ops`). They also copy the weights for
every row.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from vllm.lora.model_manager import LoRAModelManager
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

Run = tuple[int, slice]
"""A slot, and consecutive rows that use it."""


class RunwiseLoRA(PunicaWrapperCPU):
    """One matrix product for each run of rows with the same adapter; other rows are not touched."""

    _token_runs: Sequence[Run] = ()
    _sampler_runs: Sequence[Run] = ()

    def update_metadata(self, *args: Any, **kwargs: Any) -> None:
        super().update_metadata(*args, **kwargs)
        self._token_runs = tuple(runs(self.token_lora_indices.tolist()))
        self._sampler_runs = tuple(runs(self.sampler_indices.tolist()))

    def _apply_shrink(self, y: Tensor, x: Tensor, w_t_all: Tensor, scale: float) -> None:
        shrink(self._token_runs, y, x, w_t_all, scale)

    def _apply_expand(  # noqa: PLR0917 (vLLM's signature)
        self,
        y: Tensor,
        x: Tensor,
        w_t_all: Tensor,
        y_offset: int,
        y_slice_size: int,
        add_inputs: bool = True,
    ) -> None:
        expand(self._token_runs, y[:, y_offset : y_offset + y_slice_size], x, w_t_all)

    def add_lora_embedding(
        self, y: Tensor, x: Tensor, lora_b_stacked: Tensor, *args: Any, **kwargs: Any
    ) -> None:
        expand(self._token_runs, y, x, lora_b_stacked)

    def add_lora_logits(
        self,
        y: Tensor,
        x: Tensor,
        lora_a_stacked: Tensor,
        lora_b_stacked: Tensor,
        scale: float,
        **kwargs: Any,
    ) -> None:
        shrunk = torch.zeros(len(x), lora_b_stacked.size(-1), dtype=torch.float32)
        shrink(self._sampler_runs, shrunk, x, lora_a_stacked, scale)
        expand(self._sampler_runs, y, shrunk, lora_b_stacked)


def runs(slots: Sequence[int]) -> Iterator[Run]:
    """Runs of equal slots, without those of -1."""
    start = 0
    for slot, members in groupby(slots):
        end = start + sum(1 for _ in members)
        if slot >= 0:
            yield slot, slice(start, end)
        start = end


def shrink(token_runs: Sequence[Run], y: Tensor, x: Tensor, weights: Tensor, scale: float) -> None:
    """y = scale · x Aᵀ for the rows of runs; `weights` is [slots, 1, rank, inputs]."""
    for slot, rows in token_runs:
        matrix = weights[slot, 0].to(y.dtype)
        y[rows, : len(matrix)] = scale * (x[rows].to(y.dtype) @ matrix.T)


def expand(token_runs: Sequence[Run], y: Tensor, x: Tensor, weights: Tensor) -> None:
    """y += x Bᵀ for the rows of runs; `weights` is [slots, 1, outputs, rank]."""
    for slot, rows in token_runs:
        matrix = weights[slot, 0].to(y.dtype)
        width = min(len(matrix), y.shape[1])
        y[rows, :width] += x[rows].to(y.dtype) @ matrix[:width].T


def use_runwise_kernels(manager: LoRAModelManager) -> None:
    """Replace vLLM's CPU kernels in the layers of one model."""
    for prefix, stock in manager.punica_wrapper_mapping.items():
        ours = RunwiseLoRA(manager.max_num_batched_tokens, manager.max_num_seqs, stock.device)
        manager.punica_wrapper_mapping[prefix] = ours
        for layer in manager.modules.values():
            if layer.punica_wrapper is stock:
                layer.set_mapping(ours)  # type: ignore[no-untyped-call]
