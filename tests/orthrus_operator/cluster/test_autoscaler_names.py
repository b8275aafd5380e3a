"""Whose HPAs are whose is known from one list and the watch, however many look."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.client import Api, Objects
from orthrus_operator.reconciler.outcome import ObjectKey

pytestmark = pytest.mark.cluster

Make = Callable[[str], dict[str, Any]]


@pytest.fixture
def make(kubectl: Kubectl) -> Iterator[Make]:
    """Stores an HPA of a random name on the OrthrusDeployment of a given one."""
    made: list[str] = []

    def store(target: str) -> dict[str, Any]:
        name = f"by-hand-{uuid.uuid4().hex[:8]}"
        reference = {"apiVersion": API_VERSION, "kind": KIND, "name": target}
        kubectl.apply(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name},
                "spec": {"scaleTargetRef": reference, "maxReplicas": 2},
            }
        )
        made.append(name)
        return kubectl.get("hpa", name) or {}

    yield store
    kubectl("delete", "hpa", "--ignore-not-found", *made)


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all collections that were read whole."""
    seen: list[str] = []
    real = Api.pages

    def pages(self: Api, path: str, label_selector: str = "") -> AsyncIterator[Objects]:
        seen.append(path)
        return real(self, path, label_selector)

    monkeypatch.setattr(Api, "pages", pages)
    return seen


def ignore(_namespace: str, _names: Collection[str]) -> None:
    """Nobody wants to know what a list brought."""


async def test_any_number_of_looks_is_one_list(
    api: Api, kubectl: Kubectl, make: Make, lists: list[str]
) -> None:
    name = make("names-a")["metadata"]["name"]
    names = AutoscalerNames(api, ignore)
    keys = [ObjectKey(kubectl.namespace, target) for target in ("names-a", "names-b", "names-c")]
    found = await asyncio.gather(*(names.of(key) for key in keys))
    assert [set(each) for each in found] == [{name}, set(), set()]
    assert len(lists) == 1


async def test_what_the_watch_brings_is_known_at_once(
    api: Api, kubectl: Kubectl, make: Make, lists: list[str]
) -> None:
    names = AutoscalerNames(api, ignore)
    here, there = (ObjectKey(kubectl.namespace, target) for target in ("names-d", "names-e"))
    assert await names.of(here) == frozenset()
    hpa = make("names-d")
    name = hpa["metadata"]["name"]
    names.saw("ADDED", hpa)
    assert await names.of(here) == {name}
    hpa["spec"]["scaleTargetRef"]["name"] = "names-e"
    names.saw("MODIFIED", hpa)
    assert await names.of(here) == frozenset()
    assert await names.of(there) == {name}
    names.saw("DELETED", hpa)
    assert await names.of(there) == frozenset()
    assert len(lists) == 1


async def test_what_the_watch_missed_is_found_later(api: Api, kubectl: Kubectl, make: Make) -> None:
    now = [0.0]
    names = AutoscalerNames(api, ignore, clock=lambda: now[0])
    key = ObjectKey(kubectl.namespace, "names-f")
    assert await names.of(key) == frozenset()
    name = make("names-f")["metadata"]["name"]
    now[0] = 599.0
    assert await names.of(key) == frozenset()
    now[0] = 601.0
    assert await names.of(key) == {name}


async def test_what_ended_unseen_is_forgotten_later(api: Api, kubectl: Kubectl, make: Make) -> None:
    """As when the watch begins anew after a 410."""
    now = [0.0]
    listed: list[tuple[str, set[str]]] = []
    names = AutoscalerNames(
        api, lambda namespace, found: listed.append((namespace, set(found))), clock=lambda: now[0]
    )
    key = ObjectKey(kubectl.namespace, "names-g")
    stays, goes = (make("names-g")["metadata"]["name"] for _ in range(2))
    assert await names.of(key) == {stays, goes}
    kubectl("delete", "hpa", goes)
    assert await names.of(key) == {stays, goes}
    now[0] = 601.0
    assert await names.of(key) == {stays}
    (_, before), (namespace, after) = listed
    assert namespace == kubectl.namespace
    assert before - after == {goes}


async def test_what_the_watch_brings_during_a_list_outlives_it(
    api: Api, kubectl: Kubectl, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    hpa = make("names-h")
    name = hpa["metadata"]["name"]
    key = ObjectKey(kubectl.namespace, "names-h")
    names = AutoscalerNames(api, ignore)
    real = Api.pages

    async def pages(self: Api, path: str, label_selector: str = "") -> AsyncIterator[Objects]:
        async for page in real(self, path, label_selector):
            yield page
        names.saw("DELETED", hpa)
        names.saw("ADDED", {**hpa, "metadata": {**hpa["metadata"], "name": f"{name}-new"}})

    monkeypatch.setattr(Api, "pages", pages)
    assert await names.of(key) == {f"{name}-new"}
