"""`up` changes nothing that works, and brings back whatever has died."""

import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import e2e.cluster
from e2e.cluster import Cluster, cgroups
from e2e.cluster.daemons import Daemons
from e2e.cluster.layout import Layout
from e2e.cluster.status import status
from e2e.waiting import wait_until
from tests.cluster.pods import Restricted, pod

pytestmark = [pytest.mark.cluster, pytest.mark.long]
LAYOUT = Layout.of("test")


def pids() -> dict[str, int | None]:
    daemons = Daemons(LAYOUT)
    return {name: daemons.pid(name) for name in daemons.names()}


def kill(*names: str) -> None:
    """End these daemons with SIGKILL, as a crash would."""
    running = pids()
    for name in names:
        pid = running[name]
        assert pid is not None, f"{name} does not run"
        os.kill(pid, signal.SIGKILL)
    wait_until("they end", pids, lambda now: not any(now[name] for name in names), within=10)


@pytest.fixture
def waiting_pod(restricted: Restricted) -> Iterator[Restricted]:
    """A namespace with a running GPU pod called `waits`."""
    restricted.run(pod("waits", "sleep 600", gpus=1))
    yield restricted


def test_up_again_changes_nothing(private_cluster: Cluster, waiting_pod: Restricted) -> None:
    before = pids()
    private_cluster.up()
    assert pids() == before
    assert waiting_pod.restarts("waits") == 0


def test_up_from_another_checkout_changes_nothing(private_cluster: Cluster, tmp_path: Path) -> None:
    before = pids()
    shutil.copytree(Path(e2e.cluster.__file__).parents[1], tmp_path / "e2e")
    subprocess.run(
        [sys.executable, "-m", "e2e.cluster", "up"],
        check=True,
        cwd=tmp_path,
        env=os.environ | {"ORTHRUS_CLUSTER_NAME": LAYOUT.name, "PYTHONPATH": str(tmp_path)},
    )
    assert pids() == before


def test_dead_components_come_back_and_pods_live_on(
    private_cluster: Cluster, waiting_pod: Restricted
) -> None:
    names = ("etcd", "kube-apiserver", "node1-containerd", "node1-kubelet", "node1-kube-proxy")
    before = pids()
    kill(*names, "node1-fake-gpu")
    problem = status(LAYOUT).problem
    assert problem is not None
    assert all(name in problem for name in names)
    private_cluster.up()
    assert status(LAYOUT).problem is None
    survivors = {"kube-scheduler", "kube-controller-manager", "node1-init"}
    assert {name for name, pid in pids().items() if pid == before[name]} == survivors
    waiting_pod.wait_until_running("waits")
    assert waiting_pod.restarts("waits") == 0


def test_after_everything_died_pods_start_again(
    private_cluster: Cluster, waiting_pod: Restricted
) -> None:
    """Like a reboot: no process is left, and the namespaces have gone with them."""
    for pid in cgroups.processes(LAYOUT.cgroup):
        os.kill(pid, signal.SIGKILL)
    private_cluster.up()
    # What the API server says of the pod is from before the crash until its kubelet has reported.
    restarts = functools.partial(waiting_pod.restarts, "waits")
    wait_until("restarts of the pod", restarts, lambda count: count == 1, within=60)
    waiting_pod.wait_until_running("waits")
    assert "fake-gpu-" in waiting_pod.shell("waits", "echo $ORTHRUS_FAKE_GPUS")
    assert "Address" in waiting_pod.shell("waits", "nslookup kubernetes.default.svc.cluster.local")
