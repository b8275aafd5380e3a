"""Reads the step counters of a real replica."""

import asyncio
from collections.abc import Mapping
from itertools import pairwise

import httpx
from prometheus_client.parser import text_string_to_metric_families

from orthrus_serving.sim.calibration import Window

_EVERY_SECONDS = 1.0
"""A replica renews its counters about that often."""
Samples = Mapping[tuple[str, str], float]


async def watch_steps(client: httpx.AsyncClient, seconds: float) -> list[Window]:
    """Windows of about a second each; those without a step are left out.

    Raises ValueError when this is no replica of Orthrus.
    """
    looks = [await _look(client)]
    for _ in range(int(seconds / _EVERY_SECONDS)):
        await asyncio.sleep(_EVERY_SECONDS)
        looks.append(await _look(client))
    windows = [_between(before, after) for before, after in pairwise(looks)]
    return [window for window in windows if window.steps and window.seconds > 0]


async def _look(client: httpx.AsyncClient) -> Window:
    answer = await client.get("/metrics")
    answer.raise_for_status()
    samples = {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(answer.text)
        if family.name.startswith("orthrus_")
        for sample in family.samples
        if not sample.name.endswith("_bucket")
    }
    try:
        return _totals(samples)
    except KeyError as error:
        raise ValueError(f"{answer.url} has no {error.args[0][0]}: is it a replica?") from error


def _totals(samples: Samples) -> Window:
    tokens = {unit: int(samples["orthrus_scheduled_tokens_total", unit]) for unit in _UNITS}
    return Window(
        steps=sum(int(samples["orthrus_steps_total", kind]) for kind in _KINDS),
        chunk_tokens=tokens["embedding_chunk"] + tokens["generation_prefill"],
        decode_tokens=tokens["decode"],
        seconds=sum(samples["orthrus_step_seconds_sum", phase] for phase in _PHASES),
    )


_UNITS = ("embedding_chunk", "generation_prefill", "decode")
_KINDS = ("mixed", "embedding", "generation")
_PHASES = ("schedule", "forward", "emit")


def _between(before: Window, after: Window) -> Window:
    return Window(
        after.steps - before.steps,
        after.chunk_tokens - before.chunk_tokens,
        after.decode_tokens - before.decode_tokens,
        after.seconds - before.seconds,
    )
