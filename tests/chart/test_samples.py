"""The samples fit the CRD."""

from pathlib import Path
from string import Template

import jsonschema
import pytest
import yaml
from kubernetes import client

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.service import service
from tests.chart.objects import ROOT, SAMPLES, Object, kinds, load

PLACE = {"MODELS": "/models", "NAMESPACE": "ns"}


def sample(name: str) -> list[Object]:
    return load(Template((SAMPLES / name).read_text()).substitute(PLACE))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_sample_has_only_fields_of_the_crd(path: Path) -> None:
    crd = yaml.safe_load((ROOT / "manifests" / "crd.yaml").read_text())
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for orthrus in kinds(sample(path.name), "OrthrusDeployment"):
        jsonschema.validate(orthrus, closed(schema))


def closed(schema: Object) -> Object:
    """The same schema, refusing unknown fields as the API server's strict decoding does."""
    parts = {name: closed(part) for name, part in schema.get("properties", {}).items()}
    if not parts:
        return schema
    return {**schema, "properties": parts, "additionalProperties": False}


def test_the_smallest_sample_names_a_model_and_nothing_else() -> None:
    [orthrus] = sample("minimal.yaml")
    assert list(orthrus["spec"]) == ["model"]
    assert list(orthrus["spec"]["model"]) == ["source"]


def test_the_cpu_sample_reads_its_model_from_the_volume_beside_it() -> None:
    volume, claim, orthrus = sample("smollm2-cpu.yaml")
    client.V1PersistentVolume.model_validate(volume)
    client.V1PersistentVolumeClaim.model_validate(claim)
    name = claim["metadata"]["name"]
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    assert volume["spec"]["claimRef"] == {"namespace": "ns", "name": name}
    assert volume["spec"]["hostPath"]["path"] == "/models"
    assert orthrus["spec"]["model"]["source"].startswith(f"pvc://{name}/")
    assert orthrus["spec"]["accelerator"] == {"type": "cpu"}


@pytest.mark.parametrize("name", ["minimal.yaml", "mistral-7b-gpu.yaml", "a100-pool.yaml"])
def test_a_gpu_sample_says_that_it_never_ran_on_one(name: str) -> None:
    assert "never run on a GPU" in (SAMPLES / name).read_text()


@pytest.mark.parametrize("name", ["ingress.yaml", "gateway.yaml"])
def test_a_sample_that_nothing_here_runs_says_so(name: str) -> None:
    assert "has run it so" in (SAMPLES / name).read_text()


def test_the_samples_in_front_of_a_service_name_it_as_the_operator_makes_it() -> None:
    deployment = kinds(sample("smollm2-cpu.yaml"), "OrthrusDeployment")[0]
    orthrus = OrthrusDeployment.from_object(
        {
            **deployment,
            "metadata": {**deployment["metadata"], "namespace": "ns", "uid": "u", "generation": 1},
        }
    )
    made = service(orthrus)
    name, [port] = made["metadata"]["name"], made["spec"]["ports"]
    [ingress] = sample("ingress.yaml")
    [path] = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"] == {"name": name, "port": {"name": port["name"]}}
    [route] = kinds(sample("gateway.yaml"), "HTTPRoute")
    assert route["spec"]["rules"][0]["backendRefs"] == [{"name": name, "port": port["port"]}]
