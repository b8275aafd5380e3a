"""One OrthrusDeployment of a test, and what a person would look at."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from e2e.kubectl import Kubectl
from e2e.waiting import wait_until
from orthrus_operator.api.group import API_VERSION, KIND

CHILDREN = ("serviceaccount", "networkpolicy", "deployment", "service", "poddisruptionbudget")
ABSENT_GPU = {"resourceName": "example.com/no-node-has-it"}
"""No kubelet ever runs such a pod: the tests write its status themselves."""


@dataclass(frozen=True)
class Subject:
    """One OrthrusDeployment of a test, and what a person would look at."""

    kubectl: Kubectl
    name: str

    def apply(self, **spec: Any) -> None:
        defaults = {"model": {"source": "hf://org/model"}, "accelerator": ABSENT_GPU}
        self.kubectl.apply(
            {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "metadata": {"name": self.name},
                "spec": defaults | spec,
            }
        )

    def delete(self) -> None:
        self.kubectl("delete", "orth", self.name, "--ignore-not-found", "--wait=false")

    def stored(self) -> dict[str, Any]:
        return self.kubectl.get("orth", self.name) or {}

    def child(self, kind: str) -> dict[str, Any]:
        return self.kubectl.get(kind, self.name) or {}

    def pods(self) -> list[dict[str, Any]]:
        pods = self.kubectl.list("pods", f"serving.orthrus.io/deployment={self.name}")
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def events(self) -> list[dict[str, Any]]:
        """Events about it, oldest first."""
        events = [
            event
            for event in self.kubectl.list("events.events.k8s.io")
            if event["regarding"]["kind"] == KIND and event["regarding"]["name"] == self.name
        ]
        return sorted(events, key=lambda event: str(event["eventTime"]))

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.stored().get("status", {})
        return found

    def conditions(self) -> dict[str, str]:
        """`True ReplicasReady` and the like, by type."""
        return {
            each["type"]: f"{each['status']} {each['reason']}"
            for each in self.status().get("conditions", [])
        }

    def message(self) -> str:
        return str(self.status()["conditions"][0]["message"])

    def wait(self, what: str, observe: Callable[[], Any], accept: Callable[[Any], Any]) -> Any:
        return wait_until(f"{what} of {self.name}", observe, accept, within=120, every=0.1)

    def wait_for_condition(self, type_: str, value: str) -> None:
        self.wait(type_, self.conditions, lambda seen: seen.get(type_) == value)

    def wait_for_pods(self, count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.wait("pods", self.pods, lambda pods: len(pods) == count)
        return found

    def wait_for_children(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.wait(
            "children", lambda: [self.child(kind) for kind in CHILDREN], all
        )
        return found

    def patch_pod_status(self, pod: dict[str, Any], status: dict[str, Any]) -> None:
        self.kubectl(
            *("patch", "pod", pod["metadata"]["name"], "--subresource=status"),
            *("--type=strategic", "-p", json.dumps({"status": status})),
        )

    def make_ready(self, pod: dict[str, Any]) -> None:
        self.patch_pod_status(pod, {"conditions": [{"type": "Ready", "status": "True"}]})
