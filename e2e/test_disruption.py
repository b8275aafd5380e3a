"""Replicas come and go under a constant mixed load, and no request is lost with them.

Two nodes with two replicas; real kubelets, drains and evictions. The tests run in order, each from
the state that the one before it left: two ready replicas under load.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from e2e.conftest import Installation
from e2e.kubectl import Kubectl
from e2e.load import Demand, Failure, Load
from e2e.readiness import is_ready
from e2e.replica_metrics import metric
from e2e.sample import NAME, OF_REPLICA, apply_sample, service_url
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(1800)]

PORT = 8000
NODES = ("node1", "node2")
LOAD = Demand(embeddings=2, generations=2, streams=2)
ENGINE = {"dtype": "float32", "enforce-eager": "true", "log-level": "DEBUG"}
"""With a line in the log of each request that a replica answered."""
SETTLED_SECONDS = 900
"""For two replicas, one after the other, to load beside the load and to drain."""
FORGOTTEN_SECONDS = 10
"""In which no node may send requests to a killed pod any longer."""
NO_ANSWER = ("APIConnectionError", "RemoteProtocolError", "ReadError")
"""How the client names the end of a connection."""


@pytest.fixture(scope="module")
def kubectl(installation: Installation) -> Iterator[Kubectl]:
    installation.cluster.up(nodes=2)
    for image in (installation.operator, installation.serving):
        installation.cluster.load_image(image)
    yield installation.kubectl
    installation.cluster.up(nodes=1)


@pytest.fixture(scope="module")
def load(installation: Installation, kubectl: Kubectl, model: Path) -> Iterator[Load]:
    apply_sample(kubectl, model, {"replicas": 2, "engineArgs": ENGINE})
    wait_until_settled(kubectl, 2)
    with service_url(installation.cluster, kubectl) as url, Load(url, NAME) as running:
        running.set(LOAD)
        yield running
    kubectl("delete", "orth", NAME)
    wait_until("no replica", lambda: pods(kubectl), lambda left: not left, within=SETTLED_SECONDS)


@pytest.fixture(autouse=True)
def answered(load: Load) -> Iterator[None]:
    """Each kind of request was answered before, during and after what a test does."""
    wait_until_answered(load)
    yield
    wait_until_answered(load)


def pods(kubectl: Kubectl) -> dict[str, str]:
    """Node by name of each pod of the replicas, those that are ending included."""
    found = kubectl.list("pods", OF_REPLICA)
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in found}


def wait_until_settled(kubectl: Kubectl, replicas: int) -> None:
    """That many replicas of the present spec are ready, and no other pod is left."""

    def seen() -> tuple[dict[str, Any], dict[str, str]]:
        return kubectl.get("orth", NAME) or {}, pods(kubectl)

    wait_until(
        f"{replicas} replicas and no other pod",
        seen,
        lambda now: (
            is_ready(now[0])
            and now[0]["status"].get("readyReplicas") == replicas
            and len(now[1]) == replicas
        ),
        within=SETTLED_SECONDS,
    )


def wait_until_answered(load: Load) -> None:
    """One more request of each kind, at least."""
    before = load.answered.copy()
    wait_until(
        "an answer of each kind",
        lambda: load.answered - before,
        lambda more: all(more[kind] for kind, wanted in LOAD.of_kind.items() if wanted),
        within=300,
    )


@contextmanager
def no_failure(load: Load) -> Iterator[None]:
    before = len(load.failures)
    yield
    assert load.failures[before:] == []


def change(kubectl: Kubectl, spec: dict[str, Any]) -> None:
    kubectl("patch", "orth", NAME, "--type=merge", "-p", json.dumps({"spec": spec}))


def test_a_rollout_loses_no_request(kubectl: Kubectl, load: Load) -> None:
    before = pods(kubectl)
    with no_failure(load):
        change(kubectl, {"scheduling": {"embeddingChunkTokens": 384}})
        wait_until_settled(kubectl, 2)
    assert not before.keys() & pods(kubectl).keys()


@pytest.mark.parametrize("node", NODES)
def test_draining_a_node_loses_no_request(kubectl: Kubectl, load: Load, node: str) -> None:
    with no_failure(load):
        kubectl(
            *("drain", node, "--ignore-daemonsets", "--delete-emptydir-data"),
            f"--timeout={SETTLED_SECONDS}s",
        )
        wait_until_settled(kubectl, 2)
        assert node not in pods(kubectl).values()
        kubectl("uncordon", node)


def test_a_scale_down_loses_no_request(kubectl: Kubectl, load: Load) -> None:
    with no_failure(load):
        for replicas in (1, 2):
            kubectl("scale", "orth", NAME, f"--replicas={replicas}")
            wait_until_settled(kubectl, replicas)


def test_a_killed_replica_loses_its_own_requests_alone(kubectl: Kubectl, load: Load) -> None:
    killed = busiest(kubectl)
    [survivor] = pods(kubectl).keys() - {killed}
    before, killed_at = len(load.failures), time.monotonic()
    kill(kubectl, killed)
    wait_until("its next start", lambda: restarts(kubectl, killed), lambda n: n == 1, within=60)
    wait_until_settled(kubectl, 2)
    lost = load.failures[before:]
    print(f"{len(lost)} requests were lost with pod {killed}:", *map(str, lost), sep="\n  ")
    assert lost, "nothing was under way there: the kill shows nothing"
    assert [each for each in lost if not _is_of_a_dead_pod(each, killed_at)] == []
    log = kubectl("logs", survivor, "--tail=-1")
    assert '"id"' in log
    assert [each for each in lost if each.id in log] == []


def busiest(kubectl: Kubectl) -> str:
    """The pod that holds most requests."""

    def held(pod: dict[str, Any]) -> float:
        url = f"http://{pod['status']['podIP']}:{PORT}"
        return sum(
            metric(url, "orthrus_backlog_requests", type=task)
            for task in ("embedding", "generation")
        )

    pod = max(kubectl.list("pods", OF_REPLICA), key=held)
    return str(pod["metadata"]["name"])


def restarts(kubectl: Kubectl, pod: str) -> int:
    found = kubectl.get("pod", pod) or {}
    return int(found["status"]["containerStatuses"][0]["restartCount"])


def kill(kubectl: Kubectl, pod: str) -> None:
    """Everything in it, as the kernel does that is out of memory."""
    found = kubectl.get("pod", pod) or {}
    for process in psutil.process_iter():
        with suppress(OSError, psutil.NoSuchProcess):
            group = Path(f"/proc/{process.pid}/cgroup").read_text()
            if found["metadata"]["uid"] in group and process.name() != "pause":
                process.kill()


def _is_of_a_dead_pod(failure: Failure, killed_at: float) -> bool:
    """No answer in place of a whole one, and not for long: not an error of a replica that lives."""
    return failure.reason.startswith(NO_ANSWER) and failure.at - killed_at < FORGOTTEN_SECONDS
