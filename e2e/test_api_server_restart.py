"""The API server goes away in the midst of changes, for a moment or for long, and comes back."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from e2e.cluster import Cluster
from e2e.cluster.daemons import Daemons
from e2e.conftest import Installation
from e2e.installation import OPERATOR
from e2e.kubectl import Kubectl, insist
from e2e.readiness import is_observed
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(600)]

NAMES = tuple(f"restarted-{number}" for number in range(5))
KINDS = {
    "Deployment",
    "Service",
    "ServiceAccount",
    "PodDisruptionBudget",
    "NetworkPolicy",
    "OrthrusDeployment",
}
RESOURCES = "deployments,services,serviceaccounts,poddisruptionbudgets,networkpolicies"
LEASE_IS_LOST_SECONDS = 30
SEEN_AGAIN_SECONDS = 180
"""kube-proxy has to find the API server again before pods can, and tries less and less often."""


@pytest.fixture
def kubectl(installation: Installation) -> Iterator[Kubectl]:
    kubectl = installation.kubectl
    yield kubectl
    kubectl("delete", "orth", *NAMES, "--ignore-not-found", "--wait=false")


@pytest.mark.parametrize(
    "outages", [(0, 0, 0), (LEASE_IS_LOST_SECONDS,)], ids=["restarts", "outage"]
)
def test_all_changes_arrive_and_nothing_is_made_twice(
    installation: Installation, kubectl: Kubectl, outages: tuple[float, ...]
) -> None:
    for name in NAMES:
        _write(kubectl, name, 3)
    again = partial(insist, "the API server", within=120)
    for replicas, outage in enumerate(outages, start=1):
        with ThreadPoolExecutor(1) as pool:
            back = pool.submit(_restart, installation.cluster, outage)
            for name in NAMES:
                again(partial(_write, kubectl, name, replicas))
                again(partial(kubectl, "delete", "service", name, "--ignore-not-found"))
            back.result()
    try:
        wait_until(
            "all in line",
            lambda: [name for name in NAMES if not _is_in_line(kubectl, name, len(outages))],
            lambda others: not others,
            within=SEEN_AGAIN_SECONDS,
        )
    except TimeoutError as error:
        error.add_note(kubectl("get", "pods", "-l", OPERATOR, "-o", "wide"))
        error.add_note(kubectl("logs", "-l", OPERATOR, "--tail=40"))
        raise
    found = [_versions(kubectl, name) for name in NAMES]
    assert all(each.keys() == KINDS for each in found)
    time.sleep(5)
    assert [_versions(kubectl, name) for name in NAMES] == found, "it goes on writing"
    for name in NAMES:
        assert len(kubectl.list("replicasets", _of(name))) == 1


def _write(kubectl: Kubectl, name: str, replicas: int) -> None:
    """No node has such a device: nothing is ever run."""
    kubectl.apply(
        {
            "apiVersion": "serving.orthrus.io/v1alpha1",
            "kind": "OrthrusDeployment",
            "metadata": {"name": name},
            "spec": {
                "model": {"source": "hf://org/model"},
                "accelerator": {"resourceName": "example.com/no-node-has-it"},
                "image": {"repository": "registry.invalid/orthrus/serving", "tag": "1"},
                "replicas": replicas,
            },
        }
    )


def _restart(cluster: Cluster, outage: float) -> None:
    assert cluster.local
    Daemons(cluster.local).stop("kube-apiserver")
    time.sleep(outage)
    cluster.up()


def _is_in_line(kubectl: Kubectl, name: str, replicas: int) -> bool:
    deployment = kubectl.get("deployment", name) or {"spec": {}}
    return (
        is_observed(kubectl.get("orth", name) or {"metadata": {"generation": 0}})
        and deployment["spec"].get("replicas") == replicas
        and kubectl.get("service", name) is not None
    )


def _versions(kubectl: Kubectl, name: str) -> dict[str, str]:
    """resourceVersion of the object and all children by kind, replica sets aside."""
    found = [*kubectl.list(RESOURCES, _of(name)), kubectl.get("orth", name) or {}]
    versions = {each["kind"]: each["metadata"]["resourceVersion"] for each in found}
    assert len(versions) == len(found), f"twice the same kind: {found}"
    return versions


def _of(name: str) -> str:
    return f"serving.orthrus.io/deployment={name}"
