"""Telling our own last status, as a watch brings it back, from news."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import Metadata
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.status import unobserved_status
from orthrus_operator.reconciler.client import Api
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.publish import Publisher
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

PROBLEM = Problem("Forbidden", "for this test", stalled=False)


@pytest.fixture
def apart(kubectl: Kubectl) -> Iterator[Subject]:
    """An object where no operator looks."""
    made = Subject(replace(kubectl, namespace="default"), f"publish-{uuid.uuid4().hex[:8]}")
    made.kubectl.apply(
        {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": made.name},
            "spec": {"model": {"source": "hf://org/model"}},
        }
    )
    yield made
    made.delete()


async def publish(publisher: Publisher, stored: dict[str, Any]) -> None:
    """A status of the generation of `stored`."""
    metadata = Metadata.model_validate(stored["metadata"])
    status = unobserved_status(metadata.generation, PROBLEM, {}, "2026-01-01T00:00:00Z")
    await publisher.publish(metadata, {}, status)


def change_spec(subject: Subject) -> None:
    patch = json.dumps({"spec": {"drainSeconds": 7}})
    subject.kubectl("patch", "orth", subject.name, "--type=merge", "-p", patch)


async def test_our_own_status_is_no_news_and_whatever_comes_after_it_is(
    api: Api, apart: Subject
) -> None:
    publisher, key = Publisher(api), ObjectKey("default", apart.name)
    assert not publisher.is_echo(key, apart.stored())
    await publish(publisher, apart.stored())
    assert publisher.is_echo(key, apart.stored())
    apart.kubectl("label", "orth", apart.name, "somebody=else")
    assert not publisher.is_echo(key, apart.stored())


async def test_a_change_whose_event_our_status_swallows_is_news(api: Api, apart: Subject) -> None:
    publisher, key, before = Publisher(api), ObjectKey("default", apart.name), apart.stored()
    change_spec(apart)
    await publish(publisher, before)
    assert not publisher.is_echo(key, apart.stored())


async def test_a_deletion_is_news_though_our_status_was_the_last_write(
    api: Api, apart: Subject
) -> None:
    publisher, key = Publisher(api), ObjectKey("default", apart.name)
    hold = json.dumps({"metadata": {"finalizers": ["example.com/hold"]}})
    apart.kubectl("patch", "orth", apart.name, "--type=merge", "-p", hold)
    apart.delete()
    await publish(publisher, apart.stored())
    assert not publisher.is_echo(key, apart.stored())
    release = json.dumps({"metadata": {"finalizers": None}})
    apart.kubectl("patch", "orth", apart.name, "--type=merge", "-p", release)
