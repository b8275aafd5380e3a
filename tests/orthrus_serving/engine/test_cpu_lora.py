"""Our CPU LoRA kernels beside vLLM's."""

import pytest
import torch
from torch import Tensor
from vllm.lora.layers import LoRAMapping
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

from orthrus_serving.engine.cpu_lora import RunwiseLoRA, runs

SLOTS, RANK, IN, OUT = 2, 3, 5, 7
IDS: list[int | None] = [11, 12]
"""Adapter of each slot: all slots are in use."""
ROWS = (0, 11, 11, 0, 12, 0)
"""Adapter of each row; 0 has none."""


@pytest.fixture
def weights() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(SLOTS, 1, RANK, IN), torch.randn(SLOTS, 1, OUT, RANK)


def _kernels(kind: type[PunicaWrapperCPU]) -> PunicaWrapperCPU:
    kernels = kind(len(ROWS), len(ROWS), "cpu")
    mapping = LoRAMapping(ROWS, ROWS, is_prefill=True)
    kernels.update_metadata(mapping, IDS, SLOTS + 1, vocab_size=OUT)
    return kernels


def _expected(y: Tensor, x: Tensor, down: Tensor, up: Tensor) -> Tensor:
    rows = []
    for row, adapter in enumerate(ROWS):
        change = torch.zeros(OUT)
        if adapter:
            slot = IDS.index(adapter)
            change = up[slot, 0] @ down[slot, 0] @ x[row]
        rows.append(y[row] + change)
    return torch.stack(rows)


def _linear(
    kind: type[PunicaWrapperCPU], y: Tensor, x: Tensor, weights: tuple[Tensor, Tensor]
) -> Tensor:
    """As a packed layer of two slices, the second beginning at column `OUT`."""
    down, up = weights
    result = torch.cat([y, y], dim=1)
    _kernels(kind).add_lora_linear(result, x, (down, down), (up, up), 1.0, (OUT, OUT))
    return result


def test_rows_without_an_adapter_stay_as_they_are_and_others_change_by_theirs(
    weights: tuple[Tensor, Tensor],
) -> None:
    x, y = torch.randn(len(ROWS), IN), torch.randn(len(ROWS), OUT)
    expected = _expected(y, x, *weights)
    found = _linear(RunwiseLoRA, y, x, weights)
    torch.testing.assert_close(found, torch.cat([expected, expected], dim=1))

    logits = y.clone()
    _kernels(RunwiseLoRA).add_lora_logits(logits, x, *weights, 1.0)
    torch.testing.assert_close(logits, expected)


def test_an_adapter_that_overflows_stays_in_its_rows(weights: tuple[Tensor, Tensor]) -> None:
    x, y = torch.randn(len(ROWS), IN), torch.randn(len(ROWS), OUT)
    down, up = weights
    poisoned = _linear(RunwiseLoRA, y, x, (down, torch.full_like(up, torch.inf)))
    for row, adapter in enumerate(ROWS):
        assert bool(torch.isfinite(poisoned[row]).all()) == (adapter == 0)


def test_kernels_of_vllm_still_need_replacing(weights: tuple[Tensor, Tensor]) -> None:
    """When this fails vLLM is right for rows without an adapter: `cpu_lora.py` may go."""
    x, y = torch.randn(len(ROWS), IN), torch.randn(len(ROWS), OUT)
    found = _linear(PunicaWrapperCPU, y, x, weights)
    without = [row for row, adapter in enumerate(ROWS) if not adapter]
    assert not torch.allclose(found[without], torch.cat([y, y], dim=1)[without])


def test_runs_are_consecutive_rows_of_one_slot() -> None:
    assert list(runs([0, 0, -1, 1, 0])) == [(0, slice(0, 2)), (1, slice(3, 4)), (0, slice(4, 5))]
    assert list(runs([-1, -1])) == []
    assert list(runs([])) == []
