"""The pod of a replica: golden files, security, resources, life cycle."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.making import demo

GOLDEN = Path(__file__).parent / "golden"
SPECS: dict[str, dict[str, Any]] = {
    "smallest": {},
    "full": {
        "model": {
            "source": "hf://org/model",
            "revision": "abc",
            "servedName": "name",
            "tokenSecretRef": {"name": "hub", "key": "token"},
            "cache": {"persistentVolumeClaim": {"claimName": "shared"}},
        },
        "accelerator": {"resourceName": "nvidia.com/mig-3g.40gb"},
        "resources": {"requests": {"cpu": 4, "memory": "32Gi"}, "limits": {"memory": "32Gi"}},
        "image": {"pullPolicy": "IfNotPresent", "pullSecrets": [{"name": "registry"}]},
        "engineArgs": {"gpu-memory-utilization": "0.9"},
        "drainSeconds": 60,
    },
    "adapters": {
        "embedding": {"adapter": "e5"},
        "adapters": [
            {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"},
            {"name": "sql", "source": "hf://org/sql", "task": "generate"},
        ],
    },
    "additions": {
        "model": {"source": "host:///mnt/models/m", "cache": {"hostPath": {"path": "/mnt/cache"}}},
        "auth": {"apiKeySecretRef": {"name": "keys", "key": "all"}},
        "podTemplate": {
            "metadata": {"labels": {"team": "search"}, "annotations": {"note": "x"}},
            "spec": {
                "nodeSelector": {"gpu": "a100"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "volumes": [{"name": "ca", "configMap": {"name": "ca"}}],
                "containers": [
                    {
                        "name": "replica",
                        "env": [{"name": "SSL_CERT_FILE", "value": "/ca/pem"}],
                        "volumeMounts": [{"name": "ca", "mountPath": "/ca"}],
                    }
                ],
            },
        },
    },
    "cpu": {
        "model": {"source": "pvc://models/smollm2"},
        "accelerator": {"type": "cpu"},
        "resources": {"limits": {"memory": "6Gi"}},
    },
}


@pytest.mark.parametrize("name", SPECS)
def test_no_release_of_the_operator_rolls_model_pods_unnoticed(name: str) -> None:
    """A template that differs from the golden one restarts every replica at the next operator
    upgrade. Change a golden file only for that price, and say so in the changelog."""
    template = pod_template(demo(**SPECS[name]), "registry.example/serving:1")
    assert template == yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


def test_restricted_pod_security() -> None:
    pod = pod_template(demo("pvc://models/m"), "image:1")["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    allowed = {"name", "emptyDir", "persistentVolumeClaim"}
    assert all(set(volume) <= allowed for volume in pod["volumes"])


def test_exactly_one_gpu() -> None:
    resources = pod_template(demo(), "image:1")["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}


def test_no_accelerator_on_cpus() -> None:
    (container,) = pod_template(demo(accelerator={"type": "cpu"}), "i:1")["spec"]["containers"]
    assert "resources" not in container


@pytest.mark.parametrize("drain", [0, 120, 3600])
def test_the_grace_covers_forgetting_draining_and_a_margin(drain: int) -> None:
    pod = pod_template(demo(drainSeconds=drain), "image:1")["spec"]
    (container,) = pod["containers"]
    command = container["lifecycle"]["preStop"]["exec"]["command"]
    announced = int(command[command.index("--seconds") + 1])
    assert pod["terminationGracePeriodSeconds"] == announced + drain + 30


def test_a_hung_engine_does_not_wait_for_the_drain() -> None:
    (container,) = pod_template(demo(drainSeconds=3600), "image:1")["spec"]["containers"]
    assert container["livenessProbe"]["terminationGracePeriodSeconds"] <= 5
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"


def test_a_slow_load_is_not_killed() -> None:
    (container,) = pod_template(demo(), "image:1")["spec"]["containers"]
    probe = container["startupProbe"]
    assert probe["httpGet"]["path"] == "/ready"
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 3600


def test_services_of_the_namespace_do_not_leak_into_the_environment() -> None:
    assert pod_template(demo(), "image:1")["spec"]["enableServiceLinks"] is False


def test_the_token_is_a_reference_never_a_value() -> None:
    model = {"source": "hf://org/model", "tokenSecretRef": {"name": "hub", "key": "token"}}
    (container,) = pod_template(demo(model=model), "image:1")["spec"]["containers"]
    (token,) = [entry for entry in container["env"] if entry["name"] == "HF_TOKEN"]
    assert token == {
        "name": "HF_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}},
    }


def test_a_model_on_a_claim_needs_no_network() -> None:
    (container,) = pod_template(demo("pvc://models/m"), "image:1")["spec"]["containers"]
    assert {"name": "HF_HUB_OFFLINE", "value": "1"} in container["env"]
