"""What is read of a replica's metrics, and that they are the ones it has."""

import pytest

from orthrus_operator.planner.replica_sample import READ_METRICS, ReplicaSample, replica_sample
from orthrus_serving.server.metric_table import METRICS

SCRAPE = """\
# HELP orthrus_scheduled_tokens_total tokens
# TYPE orthrus_scheduled_tokens_total counter
orthrus_scheduled_tokens_total{unit="embedding_chunk"} 120.0
orthrus_scheduled_tokens_total{unit="generation_prefill"} 30.0
orthrus_scheduled_tokens_total{unit="decode"} 50.0
# TYPE orthrus_token_budget_total counter
orthrus_token_budget_total 400.0
orthrus_busy_ratio 0.75
orthrus_backlog_tokens{type="embedding"} 1000.0
orthrus_backlog_tokens{type="generation"} 24.0
orthrus_gpu_utilization_ratio{gpu="0"} 0.5
orthrus_embedding_space_info{model="m",space="0123"} 1.0
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 2.0
orthrus_requests_total{model="m",status="ok",type="embedding"} 9.0
"""


def test_what_is_read() -> None:
    assert replica_sample(SCRAPE) == ReplicaSample(
        scheduled_tokens={"embedding_chunk": 120, "generation_prefill": 30, "decode": 50},
        token_budget=400,
        busy_ratio=0.75,
        backlog_tokens={"embedding": 1000, "generation": 24},
        gpu_utilization=(0.5,),
        requests_in_flight=5,
        embedding_spaces={"m": "0123"},
    )


def test_what_a_replica_leaves_out_is_absent_not_zero() -> None:
    assert replica_sample("") == ReplicaSample()
    assert replica_sample("").requests_in_flight is None


def test_nan_is_no_value() -> None:
    assert replica_sample('orthrus_backlog_tokens{type="embedding"} NaN\n') == ReplicaSample()
    assert replica_sample("orthrus_busy_ratio +Inf\n").busy_ratio is None


@pytest.mark.parametrize("text", ["orthrus_busy_ratio\n", 'orthrus_backlog_tokens{type="x"} y\n'])
def test_what_is_no_exposition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        replica_sample(text)


def test_the_names_are_those_of_the_replicas_table() -> None:
    ours = {name for name in READ_METRICS if name.startswith("orthrus_")}
    assert ours <= {metric.name for metric in METRICS}
