"""However a prompt is cut into chunks, and whoever shares its steps, the vector is the same."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from orthrus_serving.pooling import Chunk, IncrementalPooler, PoolingRequest

HIDDEN_SIZE = 8
PADDING_ROWS = 3

ONE_PASS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda hidden: hidden.mean(0),
    "weighted-mean": lambda hidden: (
        torch.stack([(i + 1) * row for i, row in enumerate(hidden)]).sum(0)
        / sum(range(1, len(hidden) + 1))
    ),
    "last": lambda hidden: hidden[-1],
    "cls": lambda hidden: hidden[0],
    "max": lambda hidden: hidden.amax(0),
}
METHODS = sorted(ONE_PASS)


@dataclass(frozen=True)
class Prompt:
    method: str
    normalize: bool
    seed: int
    chunks: tuple[int, ...]
    """Lengths of the chunks, one a step."""

    @property
    def tokens(self) -> int:
        return sum(self.chunks)

    def hidden_states(self) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed)
        # An offset like that of real hidden states, so that sums grow with the prompt.
        return torch.randn(self.tokens, HIDDEN_SIZE, generator=generator) + 2.0

    def expected(self) -> Tensor:
        vector = ONE_PASS[self.method](self.hidden_states().double())
        return vector / vector.norm() if self.normalize else vector


prompts = st.builds(
    Prompt,
    method=st.sampled_from(METHODS),
    normalize=st.booleans(),
    seed=st.integers(0, 2**31),
    chunks=st.lists(st.integers(1, 40), min_size=1, max_size=6).map(tuple),
)


def pool_together(batch: list[Prompt]) -> dict[str, Tensor]:
    """Pool prompts side by side, one chunk of each a step, from one reused padded buffer."""
    pooler = IncrementalPooler(len(batch), HIDDEN_SIZE, torch.device("cpu"))
    for i, prompt in enumerate(batch):
        pooler.add(str(i), PoolingRequest(prompt.method, prompt.tokens, prompt.normalize))
    buffer = torch.full((sum(max(p.chunks) for p in batch) + PADDING_ROWS, HIDDEN_SIZE), torch.nan)
    pooled: dict[str, Tensor] = {}
    for step in range(max(len(p.chunks) for p in batch)):
        buffer.fill_(torch.nan)
        chunks, row = [], 0
        for i, prompt in enumerate(batch):
            if step < len(prompt.chunks):
                start, tokens = sum(prompt.chunks[:step]), prompt.chunks[step]
                buffer[row : row + tokens] = prompt.hidden_states()[start : start + tokens]
                chunks.append(Chunk(str(i), row, tokens, start))
                row += tokens
        if ended := pooler.fold(buffer, chunks):
            buffer.fill_(torch.nan)
            pooled |= ended.wait()
    return pooled


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None)
@given(prompt=prompts)
def test_any_split_into_chunks_equals_one_pass(method: str, prompt: Prompt) -> None:
    prompt = Prompt(method, prompt.normalize, prompt.seed, prompt.chunks)
    vector = pool_together([prompt])["0"]
    assert vector.dtype == torch.float32
    torch.testing.assert_close(vector.double(), prompt.expected(), rtol=1e-5, atol=1e-6)


@settings(deadline=None)
@given(batch=st.lists(prompts, min_size=1, max_size=6))
def test_requests_with_different_heads_share_steps(batch: list[Prompt]) -> None:
    pooled = pool_together(batch)
    assert sorted(pooled) == sorted(str(i) for i in range(len(batch)))
    for i, prompt in enumerate(batch):
        torch.testing.assert_close(pooled[str(i)].double(), prompt.expected(), rtol=1e-5, atol=1e-6)


@settings(deadline=None)
@given(prompt=prompts, neighbours=st.lists(prompts, min_size=1, max_size=4))
def test_neighbours_do_not_change_a_single_bit(prompt: Prompt, neighbours: list[Prompt]) -> None:
    alone = pool_together([prompt])["0"]
    among_others = pool_together([*neighbours, prompt])[str(len(neighbours))]
    assert torch.equal(alone, among_others)


@pytest.mark.parametrize("method", ["last", "cls", "max"])
@settings(deadline=None)
@given(prompt=prompts)
def test_heads_that_only_choose_are_exact(method: str, prompt: Prompt) -> None:
    prompt = Prompt(method, False, prompt.seed, prompt.chunks)
    expected = ONE_PASS[method](prompt.hidden_states())
    assert torch.equal(pool_together([prompt])["0"], expected)


def test_sums_of_bfloat16_hidden_states_are_taken_in_fp32(pooler: IncrementalPooler) -> None:
    ones = torch.ones(1000, 8, dtype=torch.bfloat16)
    pooler.add("r", PoolingRequest("mean", 1000, normalize=False))
    for start in range(0, 1000, 250):
        ended = pooler.fold(ones, [Chunk("r", start, 250, start)])
    assert ended is not None
    # bf16 cannot count past 256.
    assert torch.equal(ended.wait()["r"], torch.ones(8))


@pytest.mark.parametrize("method", METHODS)
def test_hidden_states_of_a_shorter_type_are_summed_in_fp32(method: str) -> None:
    tokens, chunk = 300, 100
    hidden = Prompt(method, False, seed=0, chunks=(tokens,)).hidden_states().bfloat16()
    pooler = IncrementalPooler(1, HIDDEN_SIZE, torch.device("cpu"))
    pooler.add("r", PoolingRequest(method, tokens, normalize=False))
    for start in range(0, tokens, chunk):
        ended = pooler.fold(hidden[start : start + chunk], [Chunk("r", 0, chunk, start)])

    assert ended is not None
    vector = ended.wait()["r"].double()
    torch.testing.assert_close(vector, ONE_PASS[method](hidden.double()), rtol=1e-5, atol=1e-6)
