"""Two replicas on two nodes under a steady mixed load, and everything that takes a replica away.

Zero failed requests (client retries are off) in a drain, a rollout and a scale-down; of a pod
that is killed only its own requests fail. The tests run in order on one OrthrusDeployment.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from e2e.cluster import cgroups
from e2e.cluster.cgroups import hierarchies
from e2e.cluster.layout import Layout
from e2e.cluster.namespaces import pods_cgroup
from e2e.conftest import REPLICAS, Installation
from e2e.kubectl import Kubectl
from e2e.sample import NAME, apply_sample, service_url
from e2e.steady_load import SteadyLoad, steady_load
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(1800)]

OF_THE_SAMPLE = f"{REPLICAS},app.kubernetes.io/instance={NAME}"
FEWEST_ANSWERS = 20
"""Less would be no load."""


@pytest.fixture(scope="module")
def kubectl(installation: Installation, model: Path) -> Iterator[Kubectl]:
    """Two nodes that hold the images, and two replicas, one on each."""
    installation.cluster.up(nodes=2)
    for image in (installation.operator, installation.serving):
        installation.cluster.load_image(image)
    kubectl = installation.kubectl
    apply_sample(kubectl, model)
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [APART]}}
    change(kubectl, replicas=2, podTemplate={"spec": {"affinity": affinity}})
    wait_for_replicas(kubectl, 2)
    yield kubectl
    kubectl("delete", "orth", NAME)
    wait_until("no replica", lambda: replicas(kubectl), lambda pods: not pods, within=240)
    installation.cluster.up(nodes=1)


APART = {
    "weight": 100,
    "podAffinityTerm": {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"serving.orthrus.io/deployment": NAME}},
    },
}


@pytest.fixture
def load(installation: Installation, kubectl: Kubectl) -> Iterator[SteadyLoad]:
    """Runs through the whole test, and must have been a load."""
    with service_url(installation.cluster, kubectl) as url, steady_load(url, NAME) as load:
        wait_until("first answers", lambda: load.answered, lambda n: n >= FEWEST_ANSWERS, within=60)
        yield load
    assert load.answered > 2 * FEWEST_ANSWERS


def change(kubectl: Kubectl, **spec: Any) -> None:
    kubectl("patch", "orth", NAME, "--type=merge", "-p", json.dumps({"spec": spec}))


def replicas(kubectl: Kubectl) -> list[dict[str, Any]]:
    """Pods, those that are ending included."""
    return kubectl.list("pods", OF_THE_SAMPLE)


def node_of(pod: dict[str, Any]) -> str:
    return str(pod["spec"]["nodeName"])


def wait_for_replicas(kubectl: Kubectl, count: int) -> list[dict[str, Any]]:
    """Until the present spec has that many ready replicas and nothing ends any more."""

    def seen() -> tuple[str, int]:
        orthrus = kubectl.get("orth", NAME) or {}
        status = orthrus.get("status", {})
        conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
        current = status.get("observedGeneration") == orthrus["metadata"]["generation"]
        ready = conditions.get("Ready") == "True" and current and status.get("ready")
        return str(ready), len(replicas(kubectl))

    wait_until(
        f"{count} replicas", seen, lambda state: state == (f"{count}/{count}", count), within=600
    )
    return replicas(kubectl)


def test_a_drained_node_costs_no_request(kubectl: Kubectl, load: SteadyLoad) -> None:
    pods = replicas(kubectl)
    assert {node_of(pod) for pod in pods} == {"node1", "node2"}
    options = ("--ignore-daemonsets", "--delete-emptydir-data", "--timeout=300s")
    try:
        kubectl("drain", "node2", *options)
        moved = wait_for_replicas(kubectl, 2)
    finally:
        kubectl("uncordon", "node2")
    assert {node_of(pod) for pod in moved} == {"node1"}
    assert load.failures == []


def test_a_rollout_costs_no_request(kubectl: Kubectl, load: SteadyLoad) -> None:
    before = {pod["metadata"]["uid"] for pod in replicas(kubectl)}
    template = {"metadata": {"annotations": {"example.org/version": "2"}}}
    change(kubectl, podTemplate=template)
    after = {pod["metadata"]["uid"] for pod in wait_for_replicas(kubectl, 2)}
    assert not before & after
    assert load.failures == []


def test_a_scale_down_costs_no_request(kubectl: Kubectl, load: SteadyLoad) -> None:
    kubectl("scale", "orth", NAME, "--replicas=1")
    wait_for_replicas(kubectl, 1)
    kubectl("scale", "orth", NAME, "--replicas=2")
    wait_for_replicas(kubectl, 2)
    assert load.failures == []


def test_a_killed_pod_costs_its_own_requests_and_no_other(
    installation: Installation,
    kubectl: Kubectl,
    load: SteadyLoad,
    capsys: pytest.CaptureFixture[str],
) -> None:
    victim, survivor = replicas(kubectl)
    failed_before = failed_requests(survivor)
    layout = installation.cluster.local
    assert layout is not None
    killed_at = time.monotonic()
    kill(layout, victim)
    wait_for_replicas(kubectl, 2)
    with capsys.disabled():
        print(f"\n{victim['metadata']['name']} killed; {len(load.failures)} requests failed:")
        for failure in load.failures:
            print(
                f"  {failure.at - killed_at:6.2f} s {failure.kind} {failure.outcome} {failure.id}"
            )
    # Whatever reached the other replica was answered: what failed was sent to the killed one.
    assert failed_requests(survivor) == failed_before
    assert all(failure.at - killed_at < NOTICED_WITHIN for failure in load.failures)
    assert not [each for each in load.failures if each.outcome.isdecimal()]


NOTICED_WITHIN = 10.0
"""Seconds from a pod's end to its last new connection: kubelet, API server, kube-proxy."""


def kill(layout: Layout, pod: dict[str, Any]) -> None:
    """SIGKILL to every process of a pod at once, as a kernel out of memory or a dead node does."""
    node = layout.node(int(node_of(pod).removeprefix("node")))
    folder = f"pod{pod['metadata']['uid']}"
    [name] = {
        str(found.relative_to(hierarchy))
        for hierarchy in hierarchies()
        for found in (hierarchy / pods_cgroup(layout, node)).rglob(folder)
    }
    processes = cgroups.processes(name)
    assert processes
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def failed_requests(pod: dict[str, Any]) -> float:
    """How many requests a replica has let in and not answered well, or turned away."""
    text = httpx.get(f"http://{pod['status']['podIP']}:8000/metrics", timeout=30).text
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "orthrus_rejected_requests_total"
        or (sample.name == "orthrus_requests_total" and sample.labels["status"] != "ok")
    )
