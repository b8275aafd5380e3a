"""Breakages as users make them: `kubectl describe orth` alone says what is wrong and what to do.

Real scheduler, kubelet and container runtime; no pod's status is written by hand. All quick ones
break at the same time, since their pods never get to load a model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Installation
from e2e.hub_stub import GATED, hub_stub
from e2e.kubectl import Kubectl
from e2e.sample import apply_volume
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

Spec = dict[str, Any]


@dataclass(frozen=True)
class Breakage:
    """One broken OrthrusDeployment."""

    spec: Spec
    reason: str
    words: tuple[str, ...]
    """What has to be said: what is the matter, and what to do."""
    beside: Callable[[str], dict[str, Any]] | None = None
    """Another object, by the deployment's name, that breaks it."""


CPU: Spec = {
    "model": {"source": "hf://org/model"},
    "accelerator": {"type": "cpu"},
    "drainSeconds": 0,
}
NOWHERE = {"repository": "registry.invalid/orthrus/serving", "tag": "1"}


def on(resource: str) -> Spec:
    """A replica on one `resource`, whose image nobody ever pulls."""
    return {**CPU, "accelerator": {"resourceName": resource}, "image": NOWHERE}


def no_more_of(resource: str) -> Callable[[str], dict[str, Any]]:
    def quota(name: str) -> dict[str, Any]:
        hard = {f"requests.{resource}": "0"}
        metadata = {"name": name}
        return {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": metadata,
            "spec": {"hard": hard},
        }

    return quota


def someones_service(name: str) -> dict[str, Any]:
    ports = [{"port": 80}]
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": ports}}


def secret_without_the_key(name: str) -> dict[str, Any]:
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": "k"}}


def quick(other_image: str) -> dict[str, Breakage]:
    """Those in which no model gets to load; `other_image` is one that is no replica's."""
    repository, _, tag = other_image.rpartition(":")
    return {
        "no-free-gpu": Breakage(
            on("nvidia.com/mig-3g.40gb"),
            "NoFreeGPU",
            ("no node has a free nvidia.com/mig-3g.40gb", "add a node or lower spec.replicas"),
        ),
        "quota": Breakage(
            on("nvidia.com/mig-1g.10gb"),
            "QuotaExceeded",
            ("exceeded quota: quota", "raise it or lower spec.replicas"),
            no_more_of("nvidia.com/mig-1g.10gb"),
        ),
        "image-pull": Breakage(
            {**CPU, "image": NOWHERE},
            "ImagePullFailed",
            ("cannot pull registry.invalid/orthrus/serving:1", "check spec.image, its pullSecrets"),
        ),
        "crash-loop": Breakage(
            {**CPU, "image": {"repository": repository, "tag": tag}},
            "Crashed",
            ("its last line: orthrus-operator: error:", "'serve'", "kubectl logs --previous"),
        ),
        "out-of-memory": Breakage(
            {**CPU, "resources": {"limits": {"memory": "64Mi"}}},
            "OutOfMemory",
            ("more memory than its limit", "raise spec.resources.limits.memory"),
        ),
        "no-volume": Breakage(
            {**CPU, "model": {"source": "pvc://no-such-claim/model"}},
            "VolumeNotBound",
            ('persistentvolumeclaim "no-such-claim" not found', "create or fix the claim"),
        ),
        "dropped-field": Breakage(
            {**CPU, "model": {"source": "oci://registry.example/models/m:1"}},
            "FieldDropped",
            ("the cluster does not keep spec.template", "use another kind of source"),
        ),
        "conflict": Breakage(
            {**CPU, "image": NOWHERE},
            "ObjectConflict",
            ("Service conflict", "delete"),
            someones_service,
        ),
        "host-path": Breakage(
            {**CPU, "model": {"source": "host:///etc"}},
            "HostPathNotAllowed",
            ("spec.model.source is /etc", "use a persistent volume claim"),
        ),
        "no-token-secret": Breakage(
            {
                **CPU,
                "model": {**CPU["model"], "tokenSecretRef": {"name": "nobody", "key": "token"}},
            },
            "InvalidPodConfiguration",
            ('secret "nobody" not found',),
        ),
        "wrong-key-secret": Breakage(
            {**CPU, "auth": {"apiKeySecretRef": {"name": "wrong-key-secret", "key": "keys"}}},
            "VolumesNotMounted",
            ("make sure that these exist: Secret wrong-key-secret with key keys",),
            secret_without_the_key,
        ),
        "no-image": Breakage(
            {**CPU, "accelerator": {"type": "gpu"}},
            "NoServingImage",
            ("no serving image for accelerator type gpu", "set servingImages.gpu"),
        ),
    }


@pytest.fixture
def kubectl(installation: Installation) -> Kubectl:
    return installation.kubectl


def break_it(kubectl: Kubectl, name: str, breakage: Breakage) -> None:
    if breakage.beside:
        kubectl.apply(breakage.beside(name))
    kubectl.apply(
        {
            "apiVersion": "serving.orthrus.io/v1alpha1",
            "kind": "OrthrusDeployment",
            "metadata": {"name": name},
            "spec": breakage.spec,
        }
    )


def wait_until_explained(
    kubectl: Kubectl, name: str, breakage: Breakage, *, within: float = 120
) -> None:
    """Both a condition and an event, as `kubectl describe` prints them."""

    def unsaid() -> list[str]:
        described = kubectl("describe", "orth", name)
        conditions, _, events = described.partition("\nEvents:")
        wanted = (breakage.reason, *breakage.words)
        return [
            f"{part}: {word}"
            for part, text in (("conditions", conditions), ("events", events))
            for word in wanted
            if word not in text
        ]

    wait_until(f"{name} explained", unsaid, lambda missing: not missing, within=within)


@pytest.fixture(scope="module")
def all_broken(installation: Installation) -> Iterator[Kubectl]:
    kubectl, breakages = installation.kubectl, quick(installation.operator)
    for name, breakage in breakages.items():
        break_it(kubectl, name, breakage)
    yield kubectl
    kubectl("delete", "orth", *breakages, "--wait=false")
    for name, breakage in breakages.items():
        if breakage.beside:
            kubectl("delete", breakage.beside(name)["kind"].lower(), name)


@pytest.mark.parametrize("name", quick("no-replicas:image"))
def test_what_breaks_before_a_model_loads_is_explained(
    installation: Installation, all_broken: Kubectl, name: str
) -> None:
    wait_until_explained(all_broken, name, quick(installation.operator)[name])


@pytest.fixture
def broken(kubectl: Kubectl) -> Iterator[Callable[[str, Breakage], None]]:
    """Breaks one OrthrusDeployment, which goes when the test ends."""
    names: list[str] = []

    def make(name: str, breakage: Breakage) -> None:
        names.append(name)
        break_it(kubectl, name, breakage)
        wait_until_explained(kubectl, name, breakage, within=400)

    yield make
    kubectl("delete", "orth", *names, "--wait=false")


SMOLLM2: Spec = {
    **CPU,
    "model": {"source": "pvc://models/smollm2-135m-instruct"},
    "resources": {"requests": {"memory": "3Gi"}, "limits": {"memory": "6Gi"}},
    "engineArgs": {"dtype": "float32", "enforce-eager": "true"},
}


@pytest.mark.long
def test_a_gated_model_without_a_token_is_explained(
    installation: Installation, broken: Callable[[str, Breakage], None]
) -> None:
    """The Hub is a stub on this machine: its answer is the real one's."""
    local = installation.cluster.local
    assert local is not None
    with hub_stub(local.control_plane.gateway) as address:
        environment = [{"name": "HF_ENDPOINT", "value": address}]
        template = {"spec": {"containers": [{"name": "replica", "env": environment}]}}
        spec = {**CPU, "model": {"source": f"hf://{GATED}"}, "podTemplate": template}
        broken(
            "gated", Breakage(spec, "ModelNotFound", (f"Access to model {GATED} is restricted",))
        )


@pytest.mark.long
def test_a_flag_that_the_replica_refuses_is_explained(
    broken: Callable[[str, Breakage], None],
) -> None:
    spec = {**CPU, "engineArgs": {"max-model-len": "many"}}
    broken("wrong-flag", Breakage(spec, "InvalidArguments", ("--max-model-len", "many")))


@pytest.mark.long
def test_a_folder_without_a_model_is_explained(
    kubectl: Kubectl, model: Path, broken: Callable[[str, Breakage], None]
) -> None:
    apply_volume(kubectl, model)
    spec = {**SMOLLM2, "model": {"source": "pvc://models/no-such-model"}}
    broken("no-model", Breakage(spec, "ModelNotFound", ("/models/models/no-such-model",)))


@pytest.mark.long
def test_a_wrong_adapter_is_explained_and_the_model_serves(
    kubectl: Kubectl, model: Path, broken: Callable[[str, Breakage], None]
) -> None:
    apply_volume(kubectl, model)
    adapter = {"name": "e5", "source": "pvc://models/no-such-adapter", "task": "embed"}
    spec = {**SMOLLM2, "adapters": [adapter]}
    broken("wrong-adapter", Breakage(spec, "AdapterFailed", ("e5 in pod", "no-such-adapter")))
    available = "jsonpath={.status.conditions[?(@.type=='Available')].status}"
    assert kubectl("get", "orth", "wrong-adapter", "-o", available) == "True"
