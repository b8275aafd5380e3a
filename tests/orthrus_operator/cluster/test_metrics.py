"""What the operator shows to Prometheus, of itself and of the objects."""

import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from e2e.kubectl import Kubectl
from orthrus_operator.planner.metric_table import DEPLOYMENT_METRICS, OWN_METRICS
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.operator_metrics import DeploymentCollector
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.replica_poller import ReplicaPoller
from tests.orthrus_operator.cluster.answering_replica import AnsweringReplica
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str) -> Series:
    """Value by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def page(operator: Operator) -> Series:
    with urllib.request.urlopen(f"http://127.0.0.1:{operator.metrics_port}/metrics") as answer:
        assert answer.headers["content-type"].startswith("text/plain; version=")
        return read(answer.read().decode())


def about(series: Series, subject: Subject) -> dict[str, float]:
    """`metric` or `metric value-of-its-label` of the subject."""
    found = {}
    for (name, labels), value in series.items():
        rest = dict(labels)
        if (rest.pop("namespace", ""), rest.pop("name", "")) == (
            subject.kubectl.namespace,
            subject.name,
        ):
            found[" ".join((name.removeprefix("orthrus_deployment_"), *rest.values()))] = value
    return found


@pytest.fixture
def two_replicas() -> Iterator[list[AnsweringReplica]]:
    started = [AnsweringReplica(f"127.0.0.{number}") for number in (91, 92)]
    yield started
    for replica in started:
        replica.stop()


def test_the_operator_shows_its_own_work_and_every_object(
    demo: Subject, operator: Operator
) -> None:
    seen = demo.wait("metrics", lambda: about(page(operator), demo), bool)
    assert seen["replicas wanted"] == 1
    assert seen["replicas answering"] == 0
    assert not [name for name in seen if not name.startswith("replicas")]
    series = page(operator)
    names = {name for name, _ in series}
    for metric in OWN_METRICS:
        suffix = "_count" if metric.kind == "histogram" else ""
        assert f"{metric.name}{suffix}" in names
    assert series["orthrus_operator_reconciles_total", (("result", "done"),)] > 0
    status = (("code", "200"), ("resource", "orthrusdeployments/status"), ("verb", "apply"))
    assert series["orthrus_operator_api_requests_total", status] > 0
    assert not any(demo.name in str(labels) for name, labels in series if "operator" in name)
    demo.delete()
    demo.wait("its end", lambda: about(page(operator), demo), lambda found: not found)


async def test_an_objects_load_is_that_of_its_replicas(
    subject: Subject, api: Api, two_replicas: list[AnsweringReplica]
) -> None:
    subject.apply(replicas=3)
    for replica, pod in zip(two_replicas, subject.wait_for_pods(3), strict=False):
        replica.run(pod, subject)
    first, second = two_replicas
    changed: list[tuple[str, str]] = []
    poller = ReplicaPoller(api, [subject.kubectl.namespace], changed.append)
    registry = CollectorRegistry()
    registry.register(DeploymentCollector(poller))

    async def look() -> dict[str, float]:
        await poller.look()
        return about(read(generate_latest(registry).decode()), subject)

    first.say_work(in_flight=0, backlog=1000, embedding=5000, decode=100)
    second.say_work(in_flight=0, backlog=24)
    seen = await look()
    assert seen["replicas answering"] == 2
    assert seen["backlog_tokens embedding"] == 1024
    assert "mix_ratio" not in seen
    first.say_work(in_flight=0, backlog=1000, embedding=5900, decode=200)
    second.say_work(in_flight=0, backlog=24, decode=100)
    seen = await look()
    assert seen["mix_ratio"] == pytest.approx(900 / 1100)
    assert seen["batch_fill_ratio"] == pytest.approx(0.5)
    assert seen["busy_ratio"] == 0.5
    assert "gpu_utilization_ratio" not in seen
    assert changed == []
    first.metrics += 'orthrus_embedding_space_info{model="m",space="1"} 1.0\n'
    await look()
    key = (subject.kubectl.namespace, subject.name)
    assert changed == [key]
    assert [each.spaces for each in (poller.reports(ObjectKey(*key)) or {}).values()] == [
        {"m": "1"}
    ]
    first.stop()
    second.metrics = "<html>not what it should be</html>"
    seen = await look()
    # Who does not answer has the vectors that it had.
    assert changed == [key]
    assert set(seen) == {f"replicas {state}" for state in DEPLOYMENT_METRICS[0].values}
    subject.delete()
    subject.wait("its end", subject.stored, lambda found: not found)
    assert await look() == {}


async def test_all_namespaces_are_looked_at_without_a_list_of_them(
    demo: Subject, api: Api, kubectl: Kubectl
) -> None:
    poller = ReplicaPoller(api, (), print)
    await poller.look()
    assert (kubectl.namespace, demo.name) in poller.deployments()


async def test_what_was_seen_too_long_ago_is_not_shown(demo: Subject, api: Api) -> None:
    now = [0.0]
    poller = ReplicaPoller(api, [demo.kubectl.namespace], print, clock=lambda: now[0])
    await poller.look()
    now[0] = 59.0
    assert poller.deployments()
    now[0] = 61.0
    assert not poller.deployments()
