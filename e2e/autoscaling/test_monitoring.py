"""Prometheus sees all replicas and the operator, and rules and dashboard have data: real parts."""

import json
import math

import pytest
import yaml

from e2e.autoscaling.conftest import Apply
from e2e.conftest import Installation
from e2e.kubectl import Kubectl
from e2e.load import Demand, Load
from e2e.monitoring.generated import DASHBOARD, ROOT, RULES
from e2e.monitoring.metrics import KNOWN, OF_OPERATOR, OF_REPLICAS, names
from e2e.monitoring.prometheus import Prometheus
from e2e.sample import NAME, OF_REPLICA, service_url
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
NOT_HERE = {
    name for name, known in KNOWN.items() if "_gpu_" in name or known.labels.keys() & {"adapter"}
}
"""Metrics of what there is none of: no GPU, no adapter."""


def panel_queries() -> dict[str, str]:
    """Each query of the dashboard, by panel and letter, as Grafana would send it."""
    values = {"$__rate_interval": "1m", "$namespace": ".+", "$name": ".+"}
    queries = {}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for variable, value in values.items():
                query = query.replace(variable, value)
            queries[f"{panel['title']} {target['refId']}"] = query
    return queries


def test_every_replica_is_scraped_without_the_prometheus_operator(
    kubectl: Kubectl, prometheus: Prometheus, replica: Apply
) -> None:
    pods = {pod["metadata"]["name"] for pod in kubectl.list("pods", OF_REPLICA)}
    wait_until(
        "a scrape of every replica",
        lambda: prometheus.target_problems("orthrus-replicas", kubectl.namespace),
        lambda errors: errors.keys() == pods and not any(errors.values()),
        within=60,
    )


def test_docs_live_metrics_rules_and_dashboard_have_the_same_names(prometheus: Prometheus) -> None:
    ours = OF_REPLICAS.keys() | OF_OPERATOR.keys()
    live = wait_until(
        "every metric",
        lambda: {name for series in prometheus.names() for name in names(series)},
        lambda live: ours - NOT_HERE <= live,
        within=60,
    )
    assert {name for name in live if name.startswith("orthrus_")} == ours - NOT_HERE
    pages = [(ROOT / "docs" / name).read_text() for name in ("metrics.md", "operator-metrics.md")]
    assert all(f"| `{name}` |" in "".join(pages) for name in ours)
    groups = yaml.safe_load(RULES.read_text())["groups"]
    rules = [rule["expr"] for group in groups for rule in group["rules"]]
    for expression in (*rules, *panel_queries().values()):
        assert set(names(expression)) <= live | NOT_HERE, expression


def test_every_rule_is_evaluated(prometheus: Prometheus) -> None:
    wait_until("healthy rules", prometheus.rule_problems, lambda found: not found, within=40)


def test_every_panel_has_data(
    installation: Installation, kubectl: Kubectl, prometheus: Prometheus
) -> None:
    with service_url(installation.cluster, kubectl) as url, Load(url, NAME) as load:
        load.set(Demand(embeddings=1, generations=1))
        # An operator to which nothing happens has nothing to show of its work.
        kubectl("annotate", "orth", NAME, "example.org/nudge=looked-at")
        wait_until(
            "no panel without data",
            lambda: [
                panel
                for panel, query in panel_queries().items()
                if not NOT_HERE & set(names(query)) and not prometheus.query(query)
            ],
            lambda empty: not empty,
            within=90,
        )
    for query in panel_queries().values():
        assert all(not math.isnan(found.value) for found in prometheus.query(query)), query
