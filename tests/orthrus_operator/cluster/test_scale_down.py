"""The emptiest replica goes first: real API server, Deployment and ReplicaSet controllers."""

from collections.abc import Iterator

import pytest

from tests.orthrus_operator.cluster.answering_replica import AnsweringReplica
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

COST = "controller.kubernetes.io/pod-deletion-cost"


@pytest.fixture
def replicas() -> Iterator[list[AnsweringReplica]]:
    started = [AnsweringReplica(f"127.0.0.{number}") for number in (81, 82, 83)]
    yield started
    for replica in started:
        replica.stop()


def names(subject: Subject) -> set[str]:
    return {pod["metadata"]["name"] for pod in subject.pods()}


def costs(subject: Subject) -> dict[str, str | None]:
    return {
        pod["metadata"]["name"]: pod["metadata"].get("annotations", {}).get(COST)
        for pod in subject.pods()
    }


def test_the_emptiest_goes_first_and_costs_are_written_then_only(
    subject: Subject, operator: Operator, replicas: list[AnsweringReplica]
) -> None:
    subject.apply(replicas=4)
    pods = subject.wait_for_pods(4)
    for replica, pod in zip(replicas, pods, strict=False):
        replica.run(pod, subject)
    # Nobody answers there.
    nobody = pods[3]
    subject.patch_pod_status(
        nobody,
        {
            "conditions": [{"type": "Ready", "status": "True"}],
            "podIP": "127.0.0.84",
            "podIPs": [{"ip": "127.0.0.84"}],
        },
    )
    busy, _, middling, silent = (pod["metadata"]["name"] for pod in pods)
    replicas[0].say_work(in_flight=5)
    replicas[1].say_work(in_flight=1, backlog=10)
    replicas[2].say_work(in_flight=1, backlog=9000)
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert set(costs(subject).values()) == {None}

    subject.kubectl("scale", "orth", subject.name, "--replicas=3")
    subject.wait_for_pods(3)
    assert names(subject) == {busy, middling, silent}
    assert costs(subject) == {busy: "-1", middling: "-2", silent: None}

    # What was empty then may be busy now.
    replicas[0].say_work(in_flight=0)
    subject.wait_for_condition("Ready", "True ReplicasReady")
    subject.kubectl("scale", "orth", subject.name, "--replicas=2")
    subject.wait_for_pods(2)
    assert names(subject) == {middling, silent}
    subject.wait_for_condition("Ready", "True ReplicasReady")
    writes = [write for write in operator.proxy.writes() if "/pods/" in write]
    subject.kubectl("scale", "orth", subject.name, "--replicas=3")
    subject.wait_for_pods(3)
    subject.kubectl("scale", "orth", subject.name, "--replicas=0")
    subject.wait_for_pods(0)
    # Neither growing nor going altogether needs an order.
    assert [write for write in operator.proxy.writes() if "/pods/" in write] == writes
