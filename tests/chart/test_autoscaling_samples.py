"""The samples for those who write their own autoscaler are what the operator makes."""

import yaml
from kubernetes import client

from orthrus_operator.api.autoscaling import Autoscaling
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.horizontal_pod_autoscaler import horizontal_pod_autoscaler
from orthrus_operator.builders.scaled_object import scaled_object
from tests.chart.objects import SAMPLES, Object

SCALING = Autoscaling(max_replicas=8)
MISTRAL = OrthrusDeployment.from_object(
    {
        "metadata": {"name": "mistral", "namespace": "models", "uid": "u", "generation": 1},
        "spec": {"model": {"source": "hf://org/model"}},
    }
)


def sample(name: str) -> Object:
    found: Object = yaml.safe_load((SAMPLES / "autoscaling" / name).read_text())
    return found


def test_the_hpa() -> None:
    assert sample("hpa.yaml")["spec"] == horizontal_pod_autoscaler(MISTRAL, SCALING)["spec"]
    client.V2HorizontalPodAutoscaler.model_validate(sample("hpa.yaml"))


def test_the_scaled_object() -> None:
    address = "http://prometheus-operated.monitoring.svc:9090"
    written, made = sample("scaled-object.yaml"), scaled_object(MISTRAL, SCALING, address)
    for each in (written, made):
        metadata = each["spec"]["triggers"][0]["metadata"]
        # It is broken into lines to be read.
        metadata["query"] = metadata["query"].replace(" ", "")
    assert written["spec"] == made["spec"]


def test_scale_to_zero_asks_something_outside_the_replicas() -> None:
    spec = sample("scale-to-zero.yaml")["spec"]
    assert spec["minReplicaCount"] == 0
    (trigger,) = spec["triggers"]
    assert "orthrus" not in trigger["metadata"]["query"]
