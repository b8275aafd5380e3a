"""The manifest for those who do not use Helm."""

from e2e.install_manifest import install_manifest
from tests.chart.objects import ROOT, kinds, load

MANIFEST = ROOT / "manifests" / "install.yaml"


def test_it_is_what_the_chart_renders() -> None:
    assert MANIFEST.read_text() == install_manifest(), "stale: run make generate"


def test_deleting_what_is_in_it_deletes_no_model() -> None:
    objects = load(MANIFEST.read_text())
    assert objects
    assert not kinds(objects, "CustomResourceDefinition", "Namespace")


def test_nothing_in_it_says_that_helm_looks_after_it() -> None:
    assert "helm" not in MANIFEST.read_text().partition("---")[2].lower()


def test_every_image_is_of_the_registry_that_the_reader_replaces() -> None:
    """The sed command of its header reaches each."""
    text = MANIFEST.read_text()
    for image in ("operator", "serving-gpu", "serving-cpu"):
        assert f"registry.example.com/orthrus/{image}:" in text
    assert text.count("registry.example.com/orthrus/") == 3
