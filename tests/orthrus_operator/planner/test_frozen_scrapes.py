"""The load of an object against a computation by hand, from frozen scrapes of three replicas.

`replica_metrics.txt` is what an idle replica showed (buckets left out); the numbers are put in.
"""

import re
from pathlib import Path

import pytest

from orthrus_operator.planner.deployment_load import Look, deployment_load
from orthrus_operator.planner.replica_sample import ReplicaSample, replica_sample

PAGE = Path(__file__).with_name("replica_metrics.txt").read_text()


def scrape(*counters: float, busy: float, backlog: tuple[int, int]) -> ReplicaSample:
    """Counters: tokens of embedding chunks, prefill and decode, then the budget; backlog: tokens of
    embedding and generation."""
    embedding, prefill, decode, budget = counters
    waiting_embedding, waiting_generation = backlog
    page = PAGE
    for series, value in {
        'orthrus_scheduled_tokens_total{unit="embedding_chunk"}': embedding,
        'orthrus_scheduled_tokens_total{unit="generation_prefill"}': prefill,
        'orthrus_scheduled_tokens_total{unit="decode"}': decode,
        "orthrus_token_budget_total": budget,
        "orthrus_busy_ratio": busy,
        'orthrus_backlog_tokens{type="embedding"}': waiting_embedding,
        'orthrus_backlog_tokens{type="generation"}': waiting_generation,
    }.items():
        page, count = re.subn(rf"(?m)^{re.escape(series)} .*$", f"{series} {value}", page)
        assert count == 1, series
    return replica_sample(page)


LOOKS = (
    # Rises: 45,678 + 12,345 + 3,210 = 61,233 tokens, 98,304 offered.
    Look(
        scrape(1.2e06, 300_000, 80_000, 2e06, busy=0.9, backlog=(9000, 0)),
        scrape(1.245678e06, 312_345, 83_210, 2.098304e06, busy=0.92, backlog=(18432, 1024)),
    ),
    # 0 + 6,789 + 4,321 = 11,110 of 49,152.
    Look(
        scrape(500, 90_000, 40_000, 400_000, busy=0.3, backlog=(0, 0)),
        scrape(500, 96_789, 44_321, 449_152, busy=0.31, backlog=(0, 37)),
    ),
    # Restarted in between: 1,000 + 200 + 50 = 1,250 of 2,048.
    Look(
        scrape(9e06, 9e06, 9e06, 9e07, busy=1.0, backlog=(0, 0)),
        scrape(1000, 200, 50, 2048, busy=0.05, backlog=(7, 0)),
    ),
)


def test_the_load_is_what_a_hand_computes() -> None:
    load = deployment_load(LOOKS)
    # Embedding rises by 45,678, 0 and 1,000, of 73,593 in all.
    assert load.mix_ratio == pytest.approx(0.634272, rel=1e-5)
    # These 73,593 are of 149,504 that were offered.
    assert load.batch_fill_ratio == pytest.approx(0.492248, rel=1e-5)
    # A third of 1.28.
    assert load.busy_ratio == pytest.approx(0.426667, rel=1e-5)
    assert load.backlog_tokens == {"embedding": 18_439, "generation": 1_061}
    assert load.gpu_utilization_ratio is None
    assert load.answering == 3


def test_an_idle_replica_has_nothing_in_flight() -> None:
    assert replica_sample(PAGE).requests_in_flight == 0
