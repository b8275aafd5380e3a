"""From `spec.adapters` to a watched ConfigMap, and from what replicas answer to the status.

No kubelet runs these pods: a server on the address of the pod answers as a replica does.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from orthrus_operator.planner.adapters_delivery import DELIVERED
from tests.orthrus_operator.cluster.answering_replica import AnsweringReplica
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

E5 = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
E5_2 = E5 | {"source": "pvc://adapters/e5-2"}
SQL = {"name": "sql", "source": "pvc://adapters/sql", "task": "generate"}


@pytest.fixture
def replica() -> Iterator[AnsweringReplica]:
    started = AnsweringReplica("127.0.0.77")
    yield started
    started.stop()


def file(subject: Subject) -> list[dict[str, Any]]:
    config_map = subject.child("configmap")
    if not config_map:
        return []
    found: list[dict[str, Any]] = json.loads(config_map["data"]["adapters.yaml"])["adapters"]
    return found


def told_of_the_file(subject: Subject) -> str | None:
    """The mark on its pod."""
    (pod,) = subject.pods()
    mark: str | None = pod["metadata"].get("annotations", {}).get(DELIVERED)
    return mark


def test_adapters_come_change_and_go_without_a_restart(
    subject: Subject, replica: AnsweringReplica
) -> None:
    subject.apply(adapters=[E5])
    (pod,) = subject.wait_for_pods(1)
    assert file(subject) == [E5]
    replica.say_adapters((E5, "loading"))
    replica.run(pod, subject)
    subject.wait_for_condition("AdaptersReady", "False AdaptersLoading")
    replica.say_adapters((E5, "loaded"))
    subject.wait_for_condition("AdaptersReady", "True AdaptersLoaded")
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert subject.kubectl("get", "orth", subject.name).splitlines()[1].split()[3] == "1/1"
    assert told_of_the_file(subject) is None

    subject.apply(adapters=[E5, SQL])
    subject.wait("file", lambda: file(subject), lambda seen: seen == [E5, SQL])
    subject.wait_for_condition("Ready", "False AdaptersLoading")
    replica.say_adapters((E5, "loaded"), (SQL, "failed"))
    subject.wait_for_condition("AdaptersReady", "False AdapterFailed")
    assert subject.conditions()["Available"] == "True ReplicasReady"
    assert "it is broken" in subject.message()
    assert [each["ready"] for each in subject.status()["adapters"]] == ["1/1", "0/1"]

    subject.apply(adapters=[E5])
    replica.say_adapters((E5, "loaded"))
    subject.wait_for_condition("Ready", "True ReplicasReady")
    # It has the earlier version until it says otherwise; the kubelet is told to bring the file.
    before = told_of_the_file(subject)
    subject.apply(adapters=[E5_2])
    subject.wait("file", lambda: file(subject), lambda seen: seen == [E5_2])
    subject.wait_for_condition("Ready", "False AdaptersLoading")
    subject.wait("word", lambda: told_of_the_file(subject), lambda seen: seen != before)
    replica.say_adapters((E5_2, "loaded"))
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert [each["metadata"]["uid"] for each in subject.pods()] == [pod["metadata"]["uid"]]

    # The first pod that does not come up stops the rollout: others may yet be made again.
    subject.apply(replicas=2, adapters=[E5_2])
    for each in subject.wait_for_pods(2):
        replica.run(each, subject)
    subject.wait_for_condition("Ready", "True ReplicasReady")
    subject.apply(replicas=2)
    subject.wait(
        "half a rollout",
        subject.status,
        lambda seen: (seen["observedGeneration"], seen.get("updatedReplicas")) == (6, 1),
    )
    assert file(subject) == [E5_2]
    subject.apply()
    subject.wait("no file", lambda: subject.child("configmap"), lambda seen: not seen)
    subject.wait("status", subject.status, lambda seen: "adapters" not in seen)
    assert subject.conditions()["AdaptersReady"] == "True NoAdapters"
