"""The pod of a replica: one container, one GPU or none, under restricted Pod Security."""

from typing import Any

from orthrus_operator.api.model import HubSource
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.arguments import serve_arguments
from orthrus_operator.builders.metadata import labels
from orthrus_operator.builders.pod_overlay import with_overlay
from orthrus_operator.builders.probes import (
    HTTP_PORT_NAME,
    PRE_STOP_COMMAND,
    grace_seconds,
    probes,
)
from orthrus_operator.builders.volumes import CACHE_FOLDER, volume_mounts, volumes

CONTAINER_NAME = "replica"
PORT = 8000
_USER = 1000


def pod_template(orthrus: OrthrusDeployment, image: str, room: int = 0) -> dict[str, Any]:
    """PodTemplateSpec of a replica that runs `image`, and has room for `room` adapters or more.

    Nothing of the operator itself (its version, its image) may show here: whatever changes the
    template rolls every model pod.
    """
    spec = orthrus.spec
    pod: dict[str, Any] = {
        "serviceAccountName": orthrus.metadata.name,
        "automountServiceAccountToken": False,
        # Else a Service called `vllm` would set VLLM_PORT, which vLLM reads.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": grace_seconds(spec.drain_seconds),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(orthrus, image, room)],
        "volumes": volumes(orthrus),
    }
    if spec.image and spec.image.pull_secrets:
        pod["imagePullSecrets"] = [{"name": secret.name} for secret in spec.image.pull_secrets]
    return with_overlay({"metadata": {"labels": labels(orthrus)}, "spec": pod}, spec.pod_template)


def _container(orthrus: OrthrusDeployment, image: str, room: int) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": CONTAINER_NAME,
        "image": image,
        "args": serve_arguments(orthrus, room),
        "env": _environment(orthrus),
        "ports": [{"name": HTTP_PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        **probes(),
        # It serves on while the Service forgets the pod, and sends pooled clients elsewhere.
        "lifecycle": {"preStop": {"exec": {"command": list(PRE_STOP_COMMAND)}}},
        # A replica that cannot start says why in its termination message; a crash shows its log.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": volume_mounts(orthrus),
    }
    resources = _resources(orthrus)
    if resources:
        container["resources"] = resources
    if orthrus.spec.image and orthrus.spec.image.pull_policy:
        container["imagePullPolicy"] = orthrus.spec.image.pull_policy
    return container


def _environment(orthrus: OrthrusDeployment) -> list[dict[str, Any]]:
    environment: list[dict[str, Any]] = [
        {"name": "HOME", "value": "/tmp"},  # noqa: S108
        {"name": "HF_HOME", "value": f"{CACHE_FOLDER}/huggingface"},
        {"name": "VLLM_CACHE_ROOT", "value": f"{CACHE_FOLDER}/vllm"},
    ]
    if not isinstance(orthrus.spec.model.location(), HubSource):
        # Everything is on the volume: looking for more would only wait for a network.
        environment.append({"name": "HF_HUB_OFFLINE", "value": "1"})
    token = orthrus.spec.model.token_secret_ref
    if token:
        reference = {"secretKeyRef": {"name": token.name, "key": token.key}}
        environment.append({"name": "HF_TOKEN", "valueFrom": reference})
    return environment


def _resources(orthrus: OrthrusDeployment) -> dict[str, dict[str, str]]:
    """The user's resources plus exactly one GPU; empty when there is neither."""
    given = orthrus.spec.resources
    gpu = orthrus.spec.accelerator.gpu_resource
    accelerator = {gpu: "1"} if gpu else {}
    parts = {
        "requests": {**((given and given.requests) or {}), **accelerator},
        "limits": {**((given and given.limits) or {}), **accelerator},
    }
    return {
        part: {name: str(quantity) for name, quantity in quantities.items()}
        for part, quantities in parts.items()
        if quantities
    }
