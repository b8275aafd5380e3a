"""Engines under measurement, each a process group of its own on given cores."""

import asyncio
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from vllm import PoolingParams, SamplingParams
from vllm.config import PoolerConfig
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine.async_llm import AsyncLLM

from e2e.sample_model import sample_model
from orthrus_serving.bench.suite.devices import cpu_variables, pinned
from orthrus_serving.engine.frontend.engine_client import OrthrusEngineClient, pull_snapshot
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.scheduling.snapshot import Snapshot

BUDGET = 2048
"""B, and the model length: stock mean pooling takes no longer prompt than a step."""
CHUNK = 512
"""C"""
SEQUENCES = 256
_KV_CACHE_GIB = 2
_SPIN_SECONDS = 1.2


@dataclass(frozen=True)
class System:
    """What runs: stock vLLM for one task when `settings` is None, else Orthrus for both."""

    name: str
    settings: EngineSettings | None = None
    pools: bool = False
    """Stock only: an engine that embeds instead of one that generates."""


def orthrus(name: str = "orthrus", **settings: object) -> System:
    """Orthrus with these fields of `EngineSettings`."""
    return System(name, EngineSettings(embedding_chunk_tokens=CHUNK, **settings))  # type: ignore[arg-type]


STOCK_GENERATE = System("stock vLLM, generate")
STOCK_POOLING = System("stock vLLM, pooling", pools=True)


@dataclass(eq=False)
class RunningEngine:
    """One engine, equal to itself alone; each call is one request of token ids."""

    system: System
    client: AsyncLLM
    _ids: Iterator[int] = field(default_factory=itertools.count)

    async def embed(self, tokens: list[int]) -> float:
        """Mean-pools one prompt; returns the seconds that it took."""
        started = time.perf_counter()
        params = PoolingParams(task="embed", use_activation=True)
        if self.system.settings is not None:
            params.skip_reading_prefix_cache = True
            params.extra_kwargs = {"pooling": "mean"}
        request_id = f"e{next(self._ids)}"
        async for _ in self.client.encode({"prompt_token_ids": tokens}, params, request_id):
            pass
        return time.perf_counter() - started

    async def generate(self, tokens: list[int], max_tokens: int) -> list[float]:
        """Greedy continuation; returns the seconds from the call to each output token."""
        started = time.perf_counter()
        arrivals: list[float] = []
        params = SamplingParams(
            temperature=0.0,
            max_tokens=max_tokens,
            ignore_eos=True,
            output_kind=RequestOutputKind.DELTA,
        )
        request_id = f"g{next(self._ids)}"
        async for output in self.client.generate({"prompt_token_ids": tokens}, params, request_id):
            now = time.perf_counter() - started
            arrivals += [now] * len(output.outputs[0].token_ids)
        return arrivals

    async def snapshot(self) -> Snapshot:
        """Only of Orthrus: stock vLLM has no such call."""
        return await pull_snapshot(self.client)

    async def reach(self, condition: Callable[[Snapshot], bool]) -> None:
        """Waits until a snapshot meets `condition`; a minute at most."""
        async with asyncio.timeout(60):
            # It comes true in another process: there is no event to await.
            while not condition(await self.snapshot()):  # noqa: ASYNC110
                await asyncio.sleep(0.001)


async def others_are_idle() -> None:
    """Lets engines that share these cores end their spin.

    A vLLM worker polls for a second after each message
    (`vllm.distributed.device_communicators.shm_broadcast.SpinCondition`), at the cost of whoever is
    measured next.
    """
    await asyncio.sleep(_SPIN_SECONDS)


@asynccontextmanager
async def running(system: System, cores: Sequence[int]) -> AsyncIterator[RunningEngine]:
    """`system` with its model loaded, its processes pinned to `cores`, until the block ends."""
    os.environ.update(
        cpu_variables(cores),
        VLLM_CPU_KVCACHE_SPACE=str(_KV_CACHE_GIB),
        VLLM_LOGGING_LEVEL="ERROR",
    )
    with pinned(cores):
        engine = RunningEngine(system, await asyncio.to_thread(_start, system))
    try:
        yield engine
    finally:
        engine.client.shutdown()


def _start(system: System) -> AsyncLLM:
    arguments = AsyncEngineArgs(
        model=str(sample_model()),
        dtype="float32",
        max_model_len=BUDGET,
        max_num_batched_tokens=BUDGET,
        max_num_seqs=SEQUENCES,
        enforce_eager=True,
        enable_prefix_caching=False,
        disable_log_stats=True,
    )
    if system.settings is not None:
        arguments.scheduler_cls = "orthrus_serving.engine.scheduler.make_scheduler"
        arguments.worker_cls = "orthrus_serving.engine.worker.OrthrusCPUWorker"
        arguments.additional_config = system.settings.to_additional_config()
        return OrthrusEngineClient.from_engine_args(arguments)
    if system.pools:
        arguments.runner = "pooling"
        arguments.convert = "embed"
        arguments.pooler_config = PoolerConfig(pooling_type="MEAN")
    return AsyncLLM.from_engine_args(arguments)
