"""Without -n it is the namespace that kubectl would take."""

from pathlib import Path

import pytest

from orthrus_operator.top import present_namespace as module
from orthrus_operator.top.present_namespace import present_namespace
from tests.orthrus_operator.making import kubeconfig


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever these tests run."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)


@pytest.fixture
def in_pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a pod of namespace `models`."""
    mounted = tmp_path / "namespace"
    mounted.write_text("models")
    monkeypatch.setattr(module, "_OF_POD", mounted)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")


@pytest.mark.usefixtures("in_pod")
def test_in_a_pod_it_is_the_pods_own() -> None:
    assert present_namespace() == "models"


@pytest.mark.usefixtures("in_pod")
def test_a_kubeconfig_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, namespace="theirs"))
    assert present_namespace() == "theirs"


def test_a_context_without_one_means_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path))
    assert present_namespace() == "default"
