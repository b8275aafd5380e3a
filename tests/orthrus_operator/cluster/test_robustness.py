"""Whatever happens to the operator or its connection: it converges, and makes nothing twice."""

import random
import time
from collections.abc import Iterator

import pytest

from e2e.kubectl import Kubectl
from tests.orthrus_operator.cluster.fault_proxy import Fault
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

KILLS = 50


@pytest.fixture
def crowd(subject: Subject) -> Iterator[list[Subject]]:
    """A few objects that are changed at once."""
    made = [Subject(subject.kubectl, f"{subject.name}-{number}") for number in range(5)]
    yield made
    for each in made:
        each.delete()


def converged(subjects: list[Subject], replicas: int) -> bool:
    """Whether each child is there and follows the last change."""
    return all(
        subject.child("deployment").get("spec", {}).get("replicas") == replicas
        and subject.child("service")
        and subject.status().get("observedGeneration") == subject.stored()["metadata"]["generation"]
        for subject in subjects
    )


def replica_sets(subjects: list[Subject]) -> int:
    return sum(
        len(subject.kubectl.list("replicasets", f"serving.orthrus.io/deployment={subject.name}"))
        for subject in subjects
    )


def test_a_slow_and_failing_api_server_delays_and_breaks_nothing(
    crowd: list[Subject], operator: Operator
) -> None:
    slow = Fault(" ", delay=0.5)
    failing = Fault("^(GET|PATCH|POST|DELETE) ", status=503, share=0.1)
    with operator.proxy.fault(slow, failing):
        for replicas in (0, 2, 1):
            for subject in crowd:
                subject.apply(replicas=replicas)
        crowd[0].wait("convergence", lambda: converged(crowd, 1), bool)
    # Only the scale has changed, so no pod template ever did.
    assert replica_sets(crowd) == len(crowd)


@pytest.mark.long
def test_an_operator_that_is_killed_at_any_moment_goes_on_where_it_was(
    crowd: list[Subject], operator: Operator, kubectl: Kubectl
) -> None:
    chance = random.Random(3)  # noqa: S311
    for number in range(KILLS):
        for subject in crowd:
            subject.apply(replicas=number % 3)
        time.sleep(chance.uniform(0, 3))  # The moment is the point of this test.
        operator.kill()
        operator.start()
    crowd[0].wait("convergence", lambda: converged(crowd, (KILLS - 1) % 3), bool)
    assert replica_sets(crowd) == len(crowd)
    for subject in crowd:
        for kind in ("services", "deployments", "serviceaccounts", "networkpolicies"):
            found = kubectl.list(kind, f"serving.orthrus.io/deployment={subject.name}")
            assert [each["metadata"]["name"] for each in found] == [subject.name]
