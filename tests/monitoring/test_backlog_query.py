"""The query that KEDA asks, evaluated by Prometheus' own engine."""

from pathlib import Path

import pytest
import yaml

from orthrus_operator.builders.backlog_query import backlog_query
from tests.monitoring.conftest import Promtool
from tests.orthrus_operator.making import demo

TARGET = 8192
QUERY = backlog_query(
    demo(autoscaling={"maxReplicas": 8, "backlogTokensPerReplica": TARGET, "backend": "keda"})
)
A, B, C, D = (f"demo-6f9c7d5b8-{suffix}" for suffix in ("bbbbb", "ccccc", "ddddd", "fffff"))

Series = dict[str, str]


def up(*pods: str, job: str = "replicas", namespace: str = "models") -> Series:
    return {f'up{{namespace="{namespace}",pod="{pod}",job="{job}"}}': "1" for pod in pods}


def backlog(
    pod: str,
    embedding: str,
    generation: str = "0",
    job: str = "replicas",
    namespace: str = "models",
) -> Series:
    where = f'namespace="{namespace}",pod="{pod}",job="{job}"'
    return {
        f'orthrus_backlog_tokens{{{where},type="embedding"}}': embedding,
        f'orthrus_backlog_tokens{{{where},type="generation"}}': generation,
    }


CASES: dict[str, tuple[Series, float | None]] = {
    "both types add up": (up(A) | backlog(A, "20000", "4000"), 24000),
    "idle is 0": (up(A) | backlog(A, "0"), 0),
    "two replicas that load ask for no more than are there": (
        up(A, B, C) | backlog(A, "24000"),
        3 * TARGET,
    ),
    "replicas that load are kept while the backlog falls": (
        up(A, B, C) | backlog(A, "100"),
        100 + 2 * TARGET,
    ),
    "replicas that load do not hide a backlog that needs more": (
        up(A, B, C) | backlog(A, "90000"),
        90000,
    ),
    "a silent replica holds one place on the way down": (
        up(A, B, C, D) | backlog(A, "10") | backlog(B, "0") | backlog(C, "0"),
        10 + TARGET,
    ),
    "NaN is silence": (up(A, B) | backlog(A, "10") | backlog(B, "NaN", "NaN"), 10 + TARGET),
    "a stale value is silence": (
        up(A, B) | backlog(A, "10") | backlog(B, "stale", "stale"),
        10 + TARGET,
    ),
    "without any answer there is no value": (up(A, B), None),
    "only stale answers are no value": (up(A) | backlog(A, "5 stale", "5 stale"), None),
    "nothing at all is no value": ({}, None),
    "scraped twice counts once": (
        up(A) | up(A, job="again") | backlog(A, "70") | backlog(A, "70", job="again"),
        70,
    ),
    "without up, those that answer": (backlog(A, "70") | backlog(B, "7"), 77),
    "pods of another object do not count": (
        up(A, "demo-b-6f9c7d5b8-bbbbb", "demo", "demo-0", "demo-qdrant-0", "demo-db-bcdfg")
        | backlog(A, "5")
        | backlog("demo-b-6f9c7d5b8-bbbbb", "50000")
        | backlog("other-demo-6f9c7d5b8-bbbbb", "50000"),
        5,
    ),
    # Kubernetes cuts a long name, and with it the second hyphen.
    "the pods of a long name count": (up("demo-6f9c7bbbbb") | backlog("demo-6f9c7bbbbb", "5"), 5),
    "nor those of another namespace": (
        up(A) | backlog(A, "5") | up(B, namespace="x") | backlog(B, "50000", namespace="x"),
        5,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_keda_is_told(case: str, tmp_path: Path, promtool: Promtool) -> None:
    series, expected = CASES[case]
    samples = [] if expected is None else [{"labels": "{}", "value": expected}]
    tests = {
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    # At 0 and at 1 minute.
                    {"series": name, "values": values if " " in values else f"{values} {values}"}
                    for name, values in series.items()
                ],
                "promql_expr_test": [{"expr": QUERY, "eval_time": "1m", "exp_samples": samples}],
            }
        ],
    }
    path = tmp_path / "query.yaml"
    path.write_text(yaml.safe_dump(tests))
    done = promtool("test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr
