"""A real engine process, driven through the front end's own client."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from torch import Tensor
from vllm import PoolingParams, SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.outputs import PoolingRequestOutput, RequestOutput
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine.async_llm import AsyncLLM

from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient, pull_snapshot
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.scheduling.snapshot import Snapshot

CHUNK = 16
"""C"""
BUDGET = 64
"""B"""
MODEL_LENGTH = 256
"""L"""
SEQUENCES = 8
BLOCK = 32
"""Tokens of a KV block: the least that vLLM's CPU attention takes."""

T = TypeVar("T")


def engine_arguments(model: Path) -> AsyncEngineArgs:
    """Small limits, so that short prompts cross each of them; fp32, so that rounding does not
    pick other tokens in other batches."""
    return AsyncEngineArgs(
        model=str(model),
        dtype="float32",
        max_model_len=MODEL_LENGTH,
        max_num_batched_tokens=BUDGET,
        max_num_seqs=SEQUENCES,
        block_size=BLOCK,
        enforce_eager=True,
    )


def orthrus_arguments(model: Path) -> AsyncEngineArgs:
    arguments = engine_arguments(model)
    arguments.scheduler_cls = "orthrus_serving.engine.scheduler.make_scheduler"
    arguments.worker_cls = "orthrus_serving.engine.worker.OrthrusCPUWorker"
    arguments.additional_config = EngineSettings(
        embedding_chunk_tokens=CHUNK
    ).to_additional_config()
    # Room for three prompts of full length: generations that grow preempt others.
    arguments.num_gpu_blocks_override = 3 * MODEL_LENGTH // BLOCK + 1
    return arguments


@contextmanager
def engine_environment() -> Iterator[None]:
    """A small KV cache, and threads that share the cores with whatever else runs here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_OMP_THREADS_BIND", "nobind")
        patch.setenv("OMP_WAIT_POLICY", "passive")
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        patch.setenv("VLLM_LOGGING_LEVEL", "WARNING")
        yield


class LiveEngine:
    """Embeds and generates token ids; each call is one request."""

    def __init__(self, client: AsyncLLM) -> None:
        self.client = client
        self._ids = itertools.count()

    async def embed(
        self, tokens: list[int], method: str, *, normalize: bool = False
    ) -> PoolingRequestOutput:
        params = PoolingParams(
            task="embed",
            use_activation=normalize,
            skip_reading_prefix_cache=method != "last",
            extra_kwargs={"pooling": method},
        )
        request_id = f"embedding-{next(self._ids)}"
        outputs = [
            output
            async for output in self.client.encode({"prompt_token_ids": tokens}, params, request_id)
        ]
        return outputs[-1]

    async def vector(self, tokens: list[int], method: str, *, normalize: bool = False) -> Tensor:
        output = await self.embed(tokens, method, normalize=normalize)
        vector = output.outputs.data
        assert isinstance(vector, Tensor)
        return vector

    async def generate(self, tokens: list[int], max_tokens: int) -> list[int]:
        """The greedy continuation."""
        params = SamplingParams(
            temperature=0.0,
            max_tokens=max_tokens,
            ignore_eos=True,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        request_id = f"generation-{next(self._ids)}"
        outputs: list[RequestOutput] = [
            output
            async for output in self.client.generate(
                {"prompt_token_ids": tokens}, params, request_id
            )
        ]
        return list(outputs[-1].outputs[0].token_ids)

    async def snapshot(self) -> Snapshot:
        return await pull_snapshot(self.client)

    async def wait_for(self, what: str, condition: Callable[[Snapshot], bool]) -> Snapshot:
        """Waits, a minute at most, until a snapshot meets the condition."""
        try:
            async with asyncio.timeout(60):
                # What is waited for happens in another process: there is no event to await.
                while not condition(snapshot := await self.snapshot()):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pytest.fail(f"not within a minute: {what}; last seen {snapshot}")
        return snapshot

    async def with_generations(
        self, prompts: list[list[int]], max_tokens: int, work: Callable[[], Awaitable[T]]
    ) -> tuple[list[list[int]], T]:
        """Does `work` while the prompts are continued; both results."""
        before = (await self.snapshot()).scheduled_tokens.decode
        generations = asyncio.gather(*(self.generate(p, max_tokens) for p in prompts))
        await self.wait_for(
            "decoding",
            lambda now: now.scheduled_tokens.decode > before or generations.done(),
        )
        result = await work()
        return await generations, result


def start(model: Path) -> LiveEngine:
    return LiveEngine(OrthrusEngineClient.from_engine_args(orthrus_arguments(model)))


def start_stock(model: Path) -> LiveEngine:
    return LiveEngine(AsyncLLM.from_engine_args(engine_arguments(model)))
