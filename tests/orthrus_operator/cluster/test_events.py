"""`kubectl describe` tells the story: once per change, counted when it repeats."""

import uuid

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.orthrus_deployment import Metadata
from orthrus_operator.planner.happenings import Happening
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.event_recorder import EventRecorder
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

CRASHED = Happening("Warning", "Crashed", "pod demo-1 ended with exit code 1")


def test_the_life_of_an_object_is_told_by_its_events(demo: Subject) -> None:
    (pod,) = demo.wait_for_pods(1)
    demo.make_ready(pod)
    demo.wait_for_condition("Ready", "True ReplicasReady")
    events = demo.wait("events", demo.events, lambda seen: seen[-1:] and len(seen) >= 2)
    assert events[0]["reason"] in ("Progressing", "NoFreeGPU", "Unschedulable")
    assert events[-1]["reason"] == "ReplicasReady"
    assert events[-1]["type"] == "Normal"
    described = demo.kubectl("describe", "orth", demo.name)
    assert "1 of 1 replica ready" in described.partition("Events:")[2]


@pytest.fixture
def recorder(api: Api) -> EventRecorder:
    return EventRecorder(api)


@pytest.fixture
def about(kubectl: Kubectl) -> Metadata:
    name = f"events-{uuid.uuid4().hex[:8]}"
    return Metadata(name=name, namespace=kubectl.namespace, uid=uuid.uuid4().hex, generation=1)


async def test_what_repeats_is_counted_not_added(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    for _ in range(3):
        await recorder.record(about, CRASHED)
    await recorder.record(about, Happening("Normal", "ReplicasReady", "1 of 1 replica ready"))
    events = {event["reason"]: event for event in Subject(kubectl, about.name).events()}
    assert len(events) == 2
    assert events["Crashed"]["series"]["count"] == 3
    assert "series" not in events["ReplicasReady"]


async def test_a_long_note_is_cut_where_the_api_server_counts_bytes(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    await recorder.record(about, Happening("Warning", "Crashed", "x" + "Fünf Ärzte übten" * 100))
    (event,) = Subject(kubectl, about.name).events()
    assert event["note"].startswith("xFünf Ärzte")
    assert 1020 <= len(event["note"].encode()) <= 1024


async def test_an_event_that_expired_is_written_again(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    await recorder.record(about, CRASHED)
    (event,) = Subject(kubectl, about.name).events()
    kubectl("delete", "events.events.k8s.io", event["metadata"]["name"])
    await recorder.record(about, CRASHED)
    (again,) = Subject(kubectl, about.name).events()
    assert again["metadata"]["name"] != event["metadata"]["name"]


async def test_an_object_that_flaps_does_not_fill_the_store(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    for number in range(40):
        await recorder.record(about, Happening("Warning", "Crashed", f"pod {number}"))
    assert len(Subject(kubectl, about.name).events()) == 17
    # But it keeps nothing else from being told, though not without end.
    for number in range(40):
        await recorder.record(about, Happening("Warning", f"Another{number % 20}", "text"))
    reasons = [event["reason"] for event in Subject(kubectl, about.name).events()]
    assert len(reasons) == 25
    assert len(set(reasons)) == 9


async def test_an_event_that_the_server_refuses_is_given_up(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    elsewhere = about.model_copy(update={"namespace": "there-is-no-such-namespace"})
    await recorder.record(elsewhere, CRASHED)
    assert Subject(kubectl, about.name).events() == []


async def test_a_message_of_any_length_is_recorded(
    recorder: EventRecorder, about: Metadata, kubectl: Kubectl
) -> None:
    await recorder.record(about, Happening("Warning", "Crashed", "x" * 5000))
    (event,) = Subject(kubectl, about.name).events()
    assert event["note"] == "x" * 1024
