"""vLLM without our configuration stays vLLM, in the same environment."""

from importlib.metadata import distribution

import pytest

from tests.orthrus_serving.engine.conftest import StockRun


@pytest.mark.engine
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.timeout(300, func_only=True)
async def test_a_stock_engine_generates_and_neither_embeds_nor_answers_our_calls(
    stock_run: StockRun,
) -> None:
    assert "generate" in stock_run.tasks
    assert "embed" not in stock_run.tasks
    assert "orthrus_snapshot" in stock_run.snapshot_error


def test_nothing_of_ours_loads_into_every_vllm_process() -> None:
    plugins = [e for e in distribution("orthrus").entry_points if e.group.startswith("vllm")]
    assert plugins == []
