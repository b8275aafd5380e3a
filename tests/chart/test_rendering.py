"""What the chart renders is well-formed Kubernetes, and no more than was asked for."""

import textwrap
from pathlib import Path

import pytest
import yaml
from kubernetes import client

from tests.chart.objects import CHART, MINIMAL, MONITORING_GROUP, ROOT, Helm, Render, kinds, load

CLUSTER_SCOPED = ("CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding")


def test_helm_lint_is_clean(helm: Helm, values: Path) -> None:
    done = helm("lint", "--strict", str(CHART), f"--values={values}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_object_has_only_fields_that_kubernetes_knows(render: Render, values: Path) -> None:
    for found in render(values):
        if found["apiVersion"].startswith(MONITORING_GROUP):
            continue
        model = getattr(client, f"V1{found['kind']}").model_validate(found)
        assert model.model_dump(by_alias=True, exclude_unset=True, mode="json") == found


def test_namespaced_objects_name_their_namespace(render: Render, values: Path) -> None:
    for found in render(values):
        assert ("namespace" in found["metadata"]) == (found["kind"] not in CLUSTER_SCOPED)


def test_the_crd_is_the_generated_one_and_survives_the_release(render: Render) -> None:
    [crd] = kinds(render(), "CustomResourceDefinition")
    assert crd["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
    assert crd == yaml.safe_load((ROOT / "manifests" / "crd.yaml").read_text())


def test_the_crd_can_be_left_to_someone_else(render: Render) -> None:
    assert not kinds(render(MINIMAL, "crds.install=false"), "CustomResourceDefinition")


@pytest.mark.parametrize("everywhere", ["true", "false"])
def test_releases_of_one_name_in_two_namespaces_share_only_the_crd(
    render: Render, everywhere: str
) -> None:
    def cluster_objects(namespace: str) -> set[str]:
        setting = f"watch.allNamespaces={everywhere}"
        objects = render(MINIMAL, setting, "crds.install=false", namespace=namespace)
        return {found["metadata"]["name"] for found in kinds(objects, *CLUSTER_SCOPED)}

    assert cluster_objects("a")
    assert not cluster_objects("a") & cluster_objects("b")


def notes(helm: Helm, values: Path, *overrides: str) -> str:
    settings = (f"--values={values}", *(f"--set={override}" for override in overrides))
    done = helm("install", "rel", str(CHART), "--namespace=ns", "--dry-run=client", *settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:")[2]


def test_the_notes_say_where_the_operator_works_and_what_never_ran(helm: Helm) -> None:
    said = notes(helm, MINIMAL)
    assert "serves OrthrusDeployments in ns." in said
    assert "never run on a GPU" in said


def test_the_first_model_of_the_notes_can_run_on_what_is_installed(
    helm: Helm, tmp_path: Path
) -> None:
    assert "accelerator" not in notes(helm, MINIMAL)
    cpu_only = tmp_path / "values.yaml"
    image = {"repository": "localhost/image", "tag": "test"}
    cpu_only.write_text(yaml.safe_dump({"image": image, "servingImages": {"cpu": image}}))
    manifest = notes(helm, cpu_only).partition("<<EOF\n")[2].partition("EOF\n")[0]
    [first] = load(textwrap.dedent(manifest))
    assert first["spec"]["accelerator"] == {"type": "cpu"}


def test_the_notes_say_what_an_administrator_has_to_add(helm: Helm) -> None:
    assert "kubectl get crd" not in notes(helm, MINIMAL)
    assert "kubectl get crd" in notes(helm, MINIMAL, "crds.install=false")
    assert "ServiceAccount orthrus-operator" in notes(helm, CHART / "ci" / "no-rbac-values.yaml")


def test_labels_fit_the_longest_release_name(helm: Helm) -> None:
    done = helm("template", "r" * 53, str(CHART), f"--values={MINIMAL}")
    [deployment] = kinds(load(done.stdout), "Deployment")
    assert all(len(label) <= 63 for label in deployment["metadata"]["labels"].values())
