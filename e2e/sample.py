"""The sample object, its state as a person watches it, and the address of its Service."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import Any

import yaml

from e2e.cluster import Cluster
from e2e.kubectl import Kubectl
from e2e.waiting import wait_until

SAMPLES = Path(__file__).parent.parent / "manifests" / "samples"
NAME = "smollm2"
OF_REPLICA = f"serving.orthrus.io/deployment={NAME}"
"""Selects the pods of the sample."""


def apply_sample(kubectl: Kubectl, model: Path, changes: dict[str, Any] | None = None) -> None:
    """Apply the SmolLM2 sample; `model` is the checkpoint's folder on the node.

    `changes` replace fields of its OrthrusDeployment's spec.
    """
    volume, claim, orthrus = _sample(kubectl, model)
    orthrus["spec"] |= changes or {}
    _apply(kubectl, volume, claim, orthrus)


def apply_volume(kubectl: Kubectl, model: Path) -> None:
    """Of the sample the volume and its claim `models` alone."""
    volume, claim, _ = _sample(kubectl, model)
    _apply(kubectl, volume, claim)


def _sample(kubectl: Kubectl, model: Path) -> list[dict[str, Any]]:
    """Volume, claim and OrthrusDeployment."""
    text = Template((SAMPLES / "smollm2-cpu.yaml").read_text())
    places = {"MODELS": str(model.parent), "NAMESPACE": kubectl.namespace}
    return list(yaml.safe_load_all(text.substitute(places)))


def _apply(kubectl: Kubectl, *objects: dict[str, Any]) -> None:
    volume = kubectl.get("persistentvolume", f"smollm2-models-{kubectl.namespace}")
    if volume and volume["status"].get("phase") == "Released":
        # Its claim went, with the namespace for instance: it would bind to no later one.
        kubectl("delete", "persistentvolume", volume["metadata"]["name"])
    kubectl.apply(*objects)


def state(kubectl: Kubectl, name: str = NAME) -> dict[str, str]:
    """Each condition of an OrthrusDeployment as `status reason: message`."""
    obj = kubectl.get("orth", name) or {}
    return {
        c["type"]: f"{c['status']} {c['reason']}: {c['message']}"
        for c in obj.get("status", {}).get("conditions", [])
    }


@contextmanager
def service_url(cluster: Cluster, kubectl: Kubectl, name: str = NAME) -> Iterator[str]:
    """Address of a Service, without /v1.

    The host reaches the local cluster's Services directly; on another cluster the address is a
    port-forward, which ends with the context.
    """
    service = kubectl.get("service", name)
    if service is None:
        raise LookupError(f"no Service {name} in namespace {kubectl.namespace}")
    port = service["spec"]["ports"][0]["port"]
    if cluster.local:
        yield f"http://{service['spec']['clusterIP']}:{port}"
        return
    command = [*kubectl.command(), "port-forward", f"service/{name}", f":{port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as forward:
        try:
            assert forward.stdout is not None
            # It prints: Forwarding from ADDRESS -> 8000
            line = forward.stdout.readline()
            yield f"http://{line.split()[2]}"
        finally:
            forward.terminate()


def wait_available(
    kubectl: Kubectl,
    name: str = NAME,
    *,
    within: float = 300,
    progress: Callable[[dict[str, str]], None] = lambda _: None,
) -> None:
    """Wait until the OrthrusDeployment says Available; `progress` gets each state on the way.

    Raises:
        TimeoutError: with the conditions seen last.
    """
    wait_until(
        f"orth/{name} Available",
        lambda: state(kubectl, name),
        lambda seen: seen.get("Available", "").startswith("True"),
        within=within,
        progress=progress,
    )
