"""What a pod meets on the local cluster: admission, GPUs, names, volumes, kubectl."""

import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.cluster.layout import Layout
from e2e.cluster.probes import https_probe
from e2e.kubectl import KubectlError
from e2e.waiting import wait_until
from tests.cluster.pods import Restricted, pod

pytestmark = [pytest.mark.cluster, pytest.mark.long]


def test_a_restricted_pod_gets_a_gpu_and_resolves_services(restricted: Restricted) -> None:
    restricted.run(pod("asks", "sleep 600", gpus=1))
    found = restricted.shell(
        "asks", "echo $ORTHRUS_FAKE_GPUS; nslookup kubernetes.default.svc.cluster.local"
    )
    assert "fake-gpu-" in found
    assert Layout.of("test").api_service_address in found


def test_a_name_outside_the_cluster_is_refused_at_once(restricted: Restricted) -> None:
    restricted.run(pod("asks", "sleep 600"))
    found = restricted.shell("asks", "timeout 2 nslookup example.com 2>&1; echo status $?")
    assert "NXDOMAIN" in found
    assert "status 1" in found


NO_GPU = "Insufficient nvidia.com/gpu"


def test_a_fifth_gpu_pod_waits_for_a_gpu(restricted: Restricted) -> None:
    for number in range(4):
        restricted.run(pod(f"holds-{number}", "sleep 600", gpus=1))
    restricted.kubectl.apply(pod("waits", "sleep 600", gpus=1))

    def reason() -> str:
        status = restricted.get("waits")["status"]
        return " ".join(each.get("message", "") for each in status.get("conditions", []))

    wait_until(
        "the scheduler says why", reason, lambda it: "Insufficient nvidia.com/gpu" in it, within=30
    )
    restricted.kubectl("delete", "pod", "holds-0", "--wait")
    restricted.wait_until_running("waits")


def test_a_pod_above_the_restricted_standard_is_refused(restricted: Restricted) -> None:
    privileged = pod("root", "sleep 1")
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    with pytest.raises(KubectlError, match="violates PodSecurity"):
        restricted.kubectl.apply(privileged)


def test_a_volume_on_the_host_is_read_through_a_claim(
    restricted: Restricted, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("from the host")
    tmp_path.chmod(0o755)
    capacity = {"storage": "1Gi"}
    shared = {"accessModes": ["ReadOnlyMany"], "storageClassName": ""}
    restricted.kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "host"},
            "spec": {**shared, "capacity": capacity, "hostPath": {"path": str(tmp_path)}},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "host"},
            "spec": {**shared, "volumeName": "host", "resources": {"requests": capacity}},
        },
    )
    claim = {"persistentVolumeClaim": {"claimName": "host", "readOnly": True}}
    restricted.run(pod("reads", "sleep 600", volume=claim))
    assert restricted.shell("reads", "cat /data/file") == "from the host"
    restricted.kubectl("delete", "pv", "host", "--wait=false")


SERVE = "echo started; echo hello > /tmp/index.html; exec httpd -f -p 8000 -h /tmp"


def test_the_host_reaches_pods_and_services(restricted: Restricted) -> None:
    restricted.run(pod("serves", SERVE))
    restricted.kubectl("expose", "pod", "serves", "--port=80", "--target-port=8000")
    service = restricted.kubectl.get("service", "serves")
    assert service is not None
    for address in (
        f"http://{restricted.get('serves')['status']['podIP']}:8000/",
        f"http://{service['spec']['clusterIP']}/",
    ):
        wait_until(
            f"{address} answers", fetching(address), lambda text: text == "hello\n", within=15
        )


def test_logs_and_port_forward_work(restricted: Restricted) -> None:
    restricted.run(pod("serves", SERVE))
    assert restricted.kubectl("logs", "serves") == "started\n"
    forward = ("port-forward", "pod/serves", ":8000", "--address=127.0.0.1")
    command = [*restricted.kubectl.command(), *forward]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as forwarding:
        assert forwarding.stdout is not None
        line = forwarding.stdout.readline()
        port = line.split(":")[1].split()[0]
        assert fetching(f"http://127.0.0.1:{port}/")() == "hello\n"
        forwarding.terminate()


@pytest.mark.usefixtures("private_cluster")
def test_the_kubelet_and_the_api_server_refuse_strangers() -> None:
    address = Layout.of("test").control_plane.address
    for port in (10250, 6443):
        answer = https_probe(address, port, "/pods")()
        assert answer is not None
        assert "401" in answer


def fetching(address: str) -> Callable[[], str]:
    """A function that returns what `address` answers, or why it does not."""

    def fetch() -> str:
        try:
            with urllib.request.urlopen(address, timeout=3) as answer:  # noqa: S310
                text: str = answer.read().decode()
                return text
        except OSError as error:
            return str(error)

    return fetch
