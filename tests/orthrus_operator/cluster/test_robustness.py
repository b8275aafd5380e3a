"""Whatever happens to the operator or its connection: it converges, makes nothing twice, rests."""

import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.readiness import is_observed
from orthrus_operator.api.group import KIND
from tests.orthrus_operator.cluster.fault_proxy import Fault, Reset
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

NO_RESYNC = {"ORTHRUS_RESYNC_SECONDS": "3600"}
"""What such an operator does, a watch or its start made it do."""
REPLICAS = (0, 2, 1)
KINDS = (
    *(KIND, "Deployment", "ReplicaSet", "Service"),
    *("ServiceAccount", "NetworkPolicy", "PodDisruptionBudget"),
)
"""Of which each object has one."""
FAILING = (
    Fault("^(GET|WATCH|PATCH|POST|DELETE) ", 500, share=0.03),
    Fault("^(GET|WATCH|PATCH|POST|DELETE) ", 503, share=0.03),
    Fault("^(GET|WATCH|PATCH|POST|DELETE) ", 429, share=0.02),
    Fault("^(GET|WATCH|PATCH|POST|DELETE) ", Reset.BEFORE, share=0.01),
    Fault("^(GET|PATCH|POST|DELETE) ", Reset.AFTER, share=0.01),
)
"""One request of ten, whatever it is for."""


@pytest.fixture(scope="module")
def watching(operator: Operator) -> Iterator[Operator]:
    operator.stop()
    operator.start(**NO_RESYNC)
    yield operator
    operator.stop()
    # Full of what was done to it: others look there for what went wrong.
    sys.stdout.write(operator.log())
    operator.forget_log()
    operator.start()


@pytest.fixture
def crowd(subject: Subject) -> Iterator[list[Subject]]:
    """A few objects that are changed at once."""
    made = [Subject(subject.kubectl, f"{subject.name}-{number}") for number in range(3)]
    yield made
    for each in made:
        each.delete()


def unfinished(subjects: list[Subject], replicas: int) -> list[str]:
    """What is not as the last change wants it, is missing, or is there twice."""
    found = subjects[0].kubectl.list(",".join(KINDS))
    return [
        f"{subject.name}: {problem}"
        for subject in subjects
        for problem in _unfinished([each for each in found if belongs(each, subject)], replicas)
    ]


def belongs(each: dict[str, Any], subject: Subject) -> bool:
    name = each["metadata"].get("labels", {}).get("serving.orthrus.io/deployment")
    return name == subject.name or (each["kind"], each["metadata"]["name"]) == (KIND, subject.name)


def _unfinished(objects: list[dict[str, Any]], replicas: int) -> Iterator[str]:
    kinds = [each["kind"] for each in objects]
    # Only the scale has changed, so no pod template ever did: one ReplicaSet.
    if sorted(kinds) != sorted(KINDS):
        yield f"there are {kinds}"
    for each in objects:
        if each["kind"] == "Deployment" and each["spec"]["replicas"] != replicas:
            yield f"its Deployment has {each['spec']['replicas']} replicas"
        if each["kind"] == KIND and not is_observed(each):
            yield "its status is of an earlier spec"


def wait_until_finished(subjects: list[Subject], replicas: int) -> None:
    subjects[0].wait("convergence", lambda: unfinished(subjects, replicas), lambda found: not found)


def wait_for_convergence(operator: Operator, subjects: list[Subject], replicas: int) -> None:
    """And for rest after it."""
    wait_until_finished(subjects, replicas)
    operator.wait_for_rest()
    assert unfinished(subjects, replicas) == []


def test_a_slow_and_failing_api_server_delays_and_breaks_nothing(
    crowd: list[Subject], watching: Operator
) -> None:
    slow = Fault(" ", delay=0.5)
    with watching.restarted(**NO_RESYNC), watching.proxy.fault(slow, *FAILING):
        for replicas in REPLICAS:
            for subject in crowd:
                subject.apply(replicas=replicas)
        wait_until_finished(crowd, REPLICAS[-1])
    wait_for_convergence(watching, crowd, REPLICAS[-1])


def test_watches_that_end_at_any_moment_lose_nothing(
    crowd: list[Subject], watching: Operator
) -> None:
    with watching.restarted(**NO_RESYNC) as ended, watching.proxy.cutting_watches(pause=0.05):
        for replicas in REPLICAS:
            for subject in crowd:
                subject.apply(replicas=replicas)
        wait_until_finished(crowd, REPLICAS[-1])
        for subject in crowd:
            subject.kubectl("delete", "service", subject.name)
            subject.kubectl("scale", "deployment", subject.name, "--replicas=3")
        wait_until_finished(crowd, REPLICAS[-1])
    wait_for_convergence(watching, crowd, REPLICAS[-1])
    assert ended == []


def test_what_is_deleted_while_no_watch_works_is_noticed_when_they_begin_anew(
    crowd: list[Subject], watching: Operator
) -> None:
    """The API server no longer has what happened meanwhile: it answers 410, and a list shows only
    what is left."""
    robbed, gone, replaced = crowd[:3]
    for subject in (robbed, gone, replaced):
        subject.apply()
        subject.wait_for_children()
    watching.wait_for_rest()
    before = replaced.stored()["metadata"]["uid"]
    with watching.restarted(**NO_RESYNC) as ended:
        with watching.proxy.without_watches() as names:
            robbed.kubectl("delete", "service,networkpolicy", robbed.name)
            robbed.kubectl("delete", "deployment", robbed.name)
            gone.kubectl("delete", "orth", gone.name)
            replaced.kubectl("delete", "orth", replaced.name)
            replaced.apply()
            gone.wait("its end", lambda: gone.child("deployment"), lambda found: not found)
        robbed.wait("watches", watching.proxy.expiring_watches, lambda found: not found)
        wait_for_convergence(watching, [robbed, replaced], 1)
        assert ended == []
    kinds = {name.rpartition("/")[2] for name in names}
    assert {"orthrusdeployments", "deployments", "services", "networkpolicies"} <= kinds
    for kind in ("deployment", "service", "serviceaccount"):
        (owner,) = replaced.child(kind)["metadata"]["ownerReferences"]
        assert owner["uid"] == replaced.stored()["metadata"]["uid"] != before
        assert not gone.child(kind)


def test_an_error_in_the_midst_of_the_watches_is_recovered_from(
    crowd: list[Subject], watching: Operator
) -> None:
    """kopf gives up after any but 410, and the kubelet starts it again."""
    for subject in crowd:
        subject.apply()
    wait_until_finished(crowd, 1)
    with watching.restarted(**NO_RESYNC) as ended:
        watching.proxy.fail_watches(500)
        for subject in crowd:
            subject.kubectl("delete", "service", subject.name)
            subject.apply(replicas=2)
        wait_for_convergence(watching, crowd, 2)
        assert ended == [1]


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_an_operator_that_is_killed_at_any_moment_goes_on_where_it_was(
    crowd: list[Subject], watching: Operator, kills: int
) -> None:
    """While its watches end and its requests fail, too."""
    chance = random.Random(3)  # noqa: S311
    with watching.proxy.cutting_watches(pause=0.5), watching.proxy.fault(*FAILING):
        for number in range(kills):
            for subject in crowd:
                subject.apply(replicas=1 + number % 3)
            time.sleep(chance.uniform(0, 3))  # The moment is the point of this test.
            watching.kill()
            watching.start(**NO_RESYNC)
    wait_for_convergence(watching, crowd, 1 + (kills - 1) % 3)
