"""Settings come from ORTHRUS_ variables."""

import pytest
from pydantic import ValidationError

from orthrus_operator.handlers.settings import OperatorSettings


@pytest.fixture(autouse=True)
def images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHRUS_SERVING_IMAGE_GPU", "gpu:1")
    monkeypatch.setenv("ORTHRUS_SERVING_IMAGE_CPU", "cpu:1")


@pytest.mark.parametrize(
    ("value", "namespaces"),
    [("", ()), ("one", ("one",)), ("one, two,", ("one", "two"))],
)
def test_namespaces(
    monkeypatch: pytest.MonkeyPatch, value: str, namespaces: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ORTHRUS_NAMESPACES", value)
    assert OperatorSettings().namespaces == namespaces


def test_defaults() -> None:
    settings = OperatorSettings()
    assert (settings.namespaces, settings.resync_seconds, settings.liveness_port) == ((), 600, 8080)
    assert settings.poll_seconds == 15
    images = settings.installation.images
    assert (images.gpu, images.cpu) == ("gpu:1", "cpu:1")
    assert settings.installation.host_paths == ()
    assert settings.installation.prometheus is None


def test_host_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHRUS_HOST_PATHS", "/mnt/models, /data/a")
    assert OperatorSettings().installation.host_paths == ("/mnt/models", "/data/a")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ORTHRUS_RESYNC_SECONDS", "0"),
        ("ORTHRUS_SERVING_IMAGE_GPU", ""),
        ("ORTHRUS_PROMETHEUS_URL", "prometheus:9090"),
        ("ORTHRUS_HOST_PATHS", "models"),
        ("ORTHRUS_HOST_PATHS", "/"),
        ("ORTHRUS_HOST_PATHS", "/models/"),
    ],
)
def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValidationError):
        OperatorSettings()
