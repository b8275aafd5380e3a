"""Steady state, restarts and rights: the operator does no more than it must."""

import time

import pytest

from e2e.kubectl import Kubectl
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import CHILDREN, Subject

pytestmark = pytest.mark.cluster


def versions(subject: Subject) -> dict[str, str]:
    """resourceVersion of the object and of everything that belongs to it."""
    objects = [subject.stored(), *subject.pods(), *(subject.child(kind) for kind in CHILDREN)]
    return {
        f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["resourceVersion"]
        for each in objects
    }


def settle(subject: Subject) -> dict[str, str]:
    """The versions, once nothing changed for a second."""
    before: dict[str, str] = {}
    while (now := versions(subject)) != before:
        before = now
        time.sleep(1)
    return before


def test_nothing_is_written_in_steady_state(
    demo: Subject, kubectl: Kubectl, operator: Operator
) -> None:
    """Ten resyncs of an object that is ready, and of one that isn't."""
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.wait_for_condition("Ready", "True ReplicasReady")
    loading = Subject(kubectl, f"{demo.name}-loading")
    loading.apply(replicas=2)
    loading.wait_for_children()
    before = settle(demo), settle(loading)
    log, writes = operator.log(), len(operator.proxy.writes())
    time.sleep(10)
    # Not even an event, or an apply that changes nothing.
    assert operator.proxy.writes()[writes:] == []
    assert (versions(demo), versions(loading)) == before
    assert operator.log() == log
    loading.delete()


def test_an_operator_that_comes_back_touches_nothing(demo: Subject, operator: Operator) -> None:
    demo.wait_for_pods(1)
    before = settle(demo)
    assert operator.stop() == 0
    demo.kubectl("label", "orth", demo.name, "changed=meanwhile")
    operator.start()
    demo.kubectl("scale", "orth", demo.name, "--replicas=2")
    demo.wait_for_pods(2)
    after = versions(demo)
    untouched = {name for name in before if before[name] == after[name]}
    assert f"Service/{demo.name}" in untouched
    assert f"ServiceAccount/{demo.name}" in untouched
    (pod,) = [name for name in before if name.startswith("Pod/")]
    assert pod in untouched


def test_what_happened_while_the_operator_was_down_is_caught_up(
    demo: Subject, operator: Operator
) -> None:
    operator.stop()
    demo.kubectl("delete", "service", demo.name)
    other = Subject(demo.kubectl, f"{demo.name}-new")
    other.apply()
    operator.start()
    demo.wait_for_children()
    other.wait_for_children()
    other.delete()


def test_the_rights_that_it_declares_are_enough(demo: Subject, operator: Operator) -> None:
    """With all that the other tests made it do, nothing was forbidden to it, and nothing broke."""
    demo.wait_for_pods(1)
    log = operator.log()
    assert "applied" in log
    assert "is forbidden: User" not in log
    assert "Traceback" not in log
