"""Replicas whose vectors must not be compared are told on the object."""

from collections.abc import Iterator

import pytest

from tests.orthrus_operator.cluster.answering_replica import AnsweringReplica
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster


@pytest.fixture
def two_replicas() -> Iterator[list[AnsweringReplica]]:
    started = [AnsweringReplica(f"127.0.0.{number}") for number in (93, 94)]
    yield started
    for replica in started:
        replica.stop()


def say_space(replica: AnsweringReplica, subject: Subject, space: str) -> None:
    labels = f'model="{subject.name}",space="{space}"'
    replica.metrics = f"orthrus_embedding_space_info{{{labels}}} 1.0\n"


def test_a_difference_comes_and_goes(
    subject: Subject, two_replicas: list[AnsweringReplica]
) -> None:
    subject.apply(replicas=2)
    first, second = two_replicas
    for replica, pod in zip(two_replicas, subject.wait_for_pods(2), strict=True):
        replica.run(pod, subject)
    say_space(first, subject, "0123")
    say_space(second, subject, "4567")
    subject.wait_for_condition("EmbeddingSpaceConsistent", "False SpacesDiffer")
    assert "resolved" not in subject.status()
    say_space(second, subject, "0123")
    subject.wait_for_condition("EmbeddingSpaceConsistent", "True OneSpace")
    assert subject.status()["resolved"] == {"embeddingSpace": "0123"}
    reasons = [event["reason"] for event in subject.events()]
    assert reasons[-2:] == ["SpacesDiffer", "OneSpace"]
