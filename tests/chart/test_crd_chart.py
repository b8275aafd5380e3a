"""The chart that holds the CRD alone."""

import yaml

from tests.chart.objects import CHART, CRD_CHART, ROOT, Helm, Object, load

KEEP = {"helm.sh/resource-policy": "keep"}


def rendered(helm: Helm, *arguments: str) -> Object:
    done = helm("template", "rel", str(CRD_CHART), *arguments)
    assert done.returncode == 0, done.stderr
    [crd] = load(done.stdout)
    return crd


def test_it_holds_the_generated_crd_which_survives_the_release(helm: Helm) -> None:
    crd = rendered(helm)
    assert crd["metadata"].pop("annotations") == KEEP
    assert crd == yaml.safe_load((ROOT / "manifests" / "crd.yaml").read_text())


def test_annotations_of_other_tools_stand_beside_the_one_of_helm(helm: Helm) -> None:
    option = r"annotations.argocd\.argoproj\.io/sync-options=Prune=false"
    crd = rendered(helm, f"--set-string={option}")
    annotations = {**KEEP, "argocd.argoproj.io/sync-options": "Prune=false"}
    assert crd["metadata"].pop("annotations") == annotations
    plain = rendered(helm)
    plain["metadata"].pop("annotations")
    assert crd == plain


def test_no_annotation_lets_helm_delete_the_crd(helm: Helm) -> None:
    option = r"annotations.helm\.sh/resource-policy=delete"
    done = helm("template", "rel", str(CRD_CHART), f"--set-string={option}")
    assert done.returncode != 0
    assert "at '/annotations'" in done.stderr


def test_helm_lint_is_clean(helm: Helm) -> None:
    done = helm("lint", "--strict", str(CRD_CHART))
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_charts_have_one_version() -> None:
    one, other = (
        yaml.safe_load((chart / "Chart.yaml").read_text()) for chart in (CHART, CRD_CHART)
    )
    for field in ("version", "appVersion", "kubeVersion"):
        assert one[field] == other[field]
