"""Chunked beside single-pass embeddings, cell by cell (paper, Table 7): `python -m e2e.exactness`.

Single-pass vectors are those of Transformers, in fp32, from the same checkpoint.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.functional import cosine_similarity

from e2e.sample_model import sample_model
from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient
from orthrus_serving.engine.settings import EngineSettings
from tests.orthrus_serving.engine.live_engine import (
    LiveEngine,
    engine_arguments,
    engine_environment,
)
from tests.orthrus_serving.engine.prompts import prompt
from tests.orthrus_serving.engine.reference import ONE_PASS, Reference

CHUNK_SIZES = (256, 512, 1024)
HEADS = ("mean", "cls", "weighted-mean", "last")
MODEL_LENGTH = 2048
MIN_COSINE = 0.9999
MAX_RELATIVE_L2 = 0.01


@dataclass(frozen=True)
class Cell:
    """One head at one chunk size, over all samples."""

    head: str
    chunk_tokens: int
    min_cosine: float
    mean_l2: float
    p99_l2: float
    """Distances are relative to the length of the single-pass vector."""

    @property
    def is_equal(self) -> bool:
        return self.min_cosine > MIN_COSINE and self.p99_l2 < MAX_RELATIVE_L2


async def measure(samples: int) -> list[Cell]:
    """Every cell, over `samples` prompts of one token to the model length; the longest is in."""
    lengths = [MODEL_LENGTH, *random.Random(0).choices(range(1, MODEL_LENGTH), k=samples - 1)]  # noqa: S311
    prompts = [prompt(length, seed=i) for i, length in enumerate(lengths)]
    reference = Reference(sample_model())
    expected = [_all_heads(reference.hidden_states(tokens)) for tokens in prompts]
    cells: list[Cell] = []
    for chunk_tokens in CHUNK_SIZES:
        vectors = await _embed(prompts, chunk_tokens)
        cells += [
            _cell(head, chunk_tokens, [v[head] for v in vectors], [e[head] for e in expected])
            for head in HEADS
        ]
    return cells


def _all_heads(hidden_states: Tensor) -> dict[str, Tensor]:
    return {head: ONE_PASS[head](hidden_states) for head in HEADS}


async def _embed(prompts: Sequence[list[int]], chunk_tokens: int) -> list[dict[str, Tensor]]:
    """The engine's vectors of every prompt, by head. The budget is one chunk, so that no step
    holds two chunks of a prompt."""
    arguments = replace(
        engine_arguments(sample_model()),
        max_model_len=MODEL_LENGTH,
        max_num_batched_tokens=chunk_tokens,
        scheduler_cls="orthrus_serving.engine.scheduler.make_scheduler",
        worker_cls="orthrus_serving.engine.worker.OrthrusCPUWorker",
        additional_config=EngineSettings(
            embedding_chunk_tokens=chunk_tokens
        ).to_additional_config(),
    )
    with engine_environment():
        client = await asyncio.to_thread(OrthrusEngineClient.from_engine_args, arguments)
    engine = LiveEngine(client)
    try:
        return [{head: await engine.vector(tokens, head) for head in HEADS} for tokens in prompts]
    finally:
        client.shutdown()


def _cell(head: str, chunk_tokens: int, vectors: list[Tensor], expected: list[Tensor]) -> Cell:
    ours, theirs = torch.stack(vectors).double(), torch.stack(expected)
    distance = (ours - theirs).norm(dim=1) / theirs.norm(dim=1)
    return Cell(
        head,
        chunk_tokens,
        float(cosine_similarity(ours, theirs).min()),
        float(distance.mean()),
        float(distance.quantile(0.99)),
    )


def main(
    samples: Annotated[int, typer.Option(help="Prompts; the paper has 250.", min=2)] = 24,
) -> None:
    """Print the table; exit 1 when a cell is out of the paper's bounds."""
    cells = asyncio.run(measure(samples))
    title = f"Chunked against single-pass embeddings, {samples} prompts"
    table = Table("head", "C", "min cosine", "mean rel. L2", "p99 rel. L2", title=title)
    for cell in cells:
        table.add_row(
            cell.head,
            str(cell.chunk_tokens),
            f"{cell.min_cosine:.7f}",
            f"{cell.mean_l2:.2e}",
            f"{cell.p99_l2:.2e}",
        )
    Console().print(table)
    if not all(cell.is_equal for cell in cells):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
