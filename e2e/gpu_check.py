"""The pooling package on a GPU: exact, cheap, and never waiting for the device.

`python -m e2e.gpu_check` needs a CUDA device and torch, nothing else of the project.
"""

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import torch
from rich.console import Console
from torch import Tensor

from orthrus_serving.pooling import BufferedHead, Chunk, IncrementalPooler, PoolingRequest

METHODS = ("mean", "weighted-mean", "last", "cls")
TOKENS, HIDDEN_SIZE = 8192, 4096
"""Of the step whose cost is measured."""
REQUESTS = 32
ROUNDS = 50


def main() -> None:
    """Print what was found; exit 1 at the first thing that is wrong."""
    if not torch.cuda.is_available():
        raise SystemExit("gpu-check needs a CUDA device, and torch finds none")
    console = Console(highlight=False)
    console.print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for dtype in (torch.float32, torch.bfloat16):
        console.print(f"{dtype}: largest relative difference to the CPU {_difference(dtype):.1e}")
    _require_copies_from_the_host()
    console.print("a pooling function that answers from the host: ok")
    _require_no_synchronisation()
    console.print("no synchronisation in a step: ok")
    pooling, product = _milliseconds_per_step()
    console.print(
        f"{TOKENS} tokens of {REQUESTS} requests x {HIDDEN_SIZE}: pooling {pooling:.3f} ms, "
        f"one {TOKENS} x {HIDDEN_SIZE} x {HIDDEN_SIZE} product {product:.3f} ms, "
        f"ratio {pooling / product:.2f} (medians of {ROUNDS})"
    )


def _difference(dtype: torch.dtype) -> float:
    """Largest relative L2 distance between the vectors of GPU and CPU, over heads and splits.

    Raises SystemExit above 1e-5: both sum the same numbers in fp32, in another order.
    """
    draw = random.Random(0)  # noqa: S311
    worst = 0.0
    for method, tokens in itertools.product(METHODS, (1, 17, 512, 2000)):
        hidden = torch.randn(tokens, HIDDEN_SIZE, dtype=dtype) + 2.0
        cuts = sorted({0, tokens, *(draw.randrange(tokens) for _ in range(3))})
        chunks = list(itertools.pairwise(cuts))
        on_gpu, on_cpu = (
            _pool(hidden, method, chunks, torch.device(device)) for device in ("cuda", "cpu")
        )
        distance = float((on_gpu - on_cpu).norm() / on_cpu.norm())
        if not distance < 1e-5:
            raise SystemExit(f"{method}, {tokens} tokens, {dtype}: GPU and CPU differ {distance}")
        worst = max(worst, distance)
    return worst


def _pool(
    hidden: Tensor, method: str, chunks: list[tuple[int, int]], device: torch.device
) -> Tensor:
    pooler = IncrementalPooler(1, HIDDEN_SIZE, device)
    pooler.add("r", PoolingRequest(method, len(hidden), normalize=True))
    hidden = hidden.to(device)
    vectors: dict[str, Tensor] = {}
    for start, end in chunks:
        step = pooler.fold(hidden[start:end], [Chunk("r", 0, end - start, start)])
        vectors |= step.wait() if step else {}
    return vectors["r"].clone()


def _require_copies_from_the_host() -> None:
    """Raises SystemExit when a function of a user's own has to know where its vector belongs."""
    head = BufferedHead(lambda: lambda hidden: hidden.cpu().double().mean(0))
    hidden = torch.randn(17, HIDDEN_SIZE, device="cuda")
    state = head.begin(hidden[0], len(hidden))
    head.fold(state, hidden, 0)
    vector = head.vector(state, len(hidden))
    if vector.device != state.device or vector.dtype != state.dtype:
        raise SystemExit(f"a vector from the host stays on {vector.device} as {vector.dtype}")
    torch.testing.assert_close(vector, hidden.mean(0))


def _require_no_synchronisation() -> None:
    """Raises torch's error when a step, ending or not, waits for the device."""
    step = _Step()
    step.fold()
    torch.cuda.synchronize()
    with _synchronisation_is_an_error():
        for _ in range(3):
            step.fold()


@contextmanager
def _synchronisation_is_an_error() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


class _Step:
    """A full step of equal requests, one half of each head's ending with it."""

    def __init__(self) -> None:
        device = torch.device("cuda")
        self._hidden = torch.randn(TOKENS, HIDDEN_SIZE, dtype=torch.bfloat16, device=device)
        self._pooler = IncrementalPooler(REQUESTS, HIDDEN_SIZE, device)
        each = TOKENS // REQUESTS
        self._requests = [
            PoolingRequest(METHODS[i % 4], each if i % 8 < 4 else 2 * each, normalize=True)
            for i in range(REQUESTS)
        ]
        self._chunks = [Chunk(str(i), i * each, each, 0) for i in range(REQUESTS)]

    def fold(self) -> None:
        for chunk, request in zip(self._chunks, self._requests, strict=True):
            self._pooler.add(chunk.request_id, request)
        self._pooler.fold(self._hidden, self._chunks)


def _milliseconds_per_step() -> tuple[float, float]:
    """Medians, in turn: a pooling step, and a matrix product as large as its hidden states."""
    step = _Step()
    left = torch.randn(TOKENS, HIDDEN_SIZE, dtype=torch.bfloat16, device="cuda")
    right = torch.randn(HIDDEN_SIZE, HIDDEN_SIZE, dtype=torch.bfloat16, device="cuda")
    pooling: list[float] = []
    product: list[float] = []
    for round_ in range(ROUNDS + 5):
        with _timed(pooling if round_ >= 5 else []):
            step.fold()
        with _timed(product if round_ >= 5 else []):
            torch.mm(left, right)
    return median(pooling), median(product)


@contextmanager
def _timed(milliseconds: list[float]) -> Iterator[None]:
    """Appends the device time of the block."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begin.record()
    yield
    end.record()
    end.synchronize()
    milliseconds.append(begin.elapsed_time(end))


if __name__ == "__main__":
    main()
