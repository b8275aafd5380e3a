"""Restricted pods that run a shell command, and a namespace that admits only such."""

import uuid
from typing import Any

from e2e.cluster import Cluster
from e2e.cluster.system_images import busybox
from e2e.kubectl import Kubectl
from e2e.waiting import wait_until


def pod(
    name: str, command: str, *, gpus: int = 0, volume: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A restricted pod that runs a shell `command`; `volume` is mounted at /data."""
    container = {
        "name": "shell",
        "image": busybox().reference,
        "command": ["sh", "-c", command],
        "resources": {"limits": {"nvidia.com/gpu": gpus}} if gpus else {},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
            "volumes": [{"name": "data", **(volume or {"emptyDir": {}})}],
        },
    }


class Restricted:
    """A new namespace of restricted pods, and what tests do with them."""

    def __init__(self, cluster: Cluster) -> None:
        name = f"restricted-{uuid.uuid4().hex[:8]}"
        self.kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, name)
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": name, "labels": labels}
        self.kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        # Without it no pod is admitted, and it is made a little later.
        account = ("serviceaccount", "default")
        wait_until("an account", lambda: self.kubectl.get(*account), bool, within=30, every=0.2)

    def delete(self) -> None:
        """Free its GPUs at once; the rest may take its time."""
        self.kubectl("delete", "pods", "--all", "--wait")
        self.kubectl("delete", "namespace", self.kubectl.namespace, "--wait=false")

    def run(self, manifest: dict[str, Any]) -> None:
        """Apply a pod and wait until it runs."""
        self.kubectl.apply(manifest)
        self.wait_until_running(manifest["metadata"]["name"])

    def get(self, name: str) -> dict[str, Any]:
        found = self.kubectl.get("pod", name)
        assert found is not None, f"pod {name} is gone"
        return found

    def wait_until_running(self, name: str) -> None:
        def ready(status: dict[str, Any]) -> bool:
            return any(
                each["type"] == "Ready" and each["status"] == "True"
                for each in status.get("conditions", [])
            )

        wait_until(
            f"pod {name} runs", lambda: self.get(name)["status"], ready, within=60, every=0.3
        )

    def restarts(self, name: str) -> int:
        statuses = self.get(name)["status"]["containerStatuses"]
        return int(statuses[0]["restartCount"])

    def shell(self, name: str, command: str) -> str:
        """What a shell `command` prints inside the pod."""
        return self.kubectl("exec", name, "--", "sh", "-c", command)
