"""The operator shows the metrics of its table, and no others but those of its process."""

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from orthrus_operator.planner.metric_table import OWN_METRICS
from orthrus_operator.reconciler.operator_metrics import OperatorMetrics


def test_only_metrics_of_the_table_are_shown() -> None:
    metrics = OperatorMetrics()
    metrics.requested("get", "pods", "200")
    metrics.reconciled("done", 0.1)
    metrics.waited(0.1)
    families = text_string_to_metric_families(generate_latest(metrics.registry).decode())
    shown = {
        f"{family.name}_total" if family.type == "counter" else family.name for family in families
    }
    ours = {name for name in shown if not name.startswith("process_")}
    assert ours == {metric.name for metric in OWN_METRICS}


def test_how_long_the_oldest_waits_is_asked_when_somebody_looks() -> None:
    metrics, seconds = OperatorMetrics(), [3.0]
    metrics.show_oldest_waiting(lambda: seconds[0])
    name = "orthrus_operator_oldest_waiting_seconds"
    assert metrics.registry.get_sample_value(name) == 3.0
    seconds[0] = 0.0
    assert metrics.registry.get_sample_value(name) == 0.0
