"""The operator's own Deployment: one at a time, without rights, told what to do by environment."""

from pathlib import Path

import pytest
import yaml

from orthrus_operator.handlers.settings import OperatorSettings
from tests.chart.objects import CHART, MINIMAL, ROOT, Object, Render, kinds

SCRAPE_CONFIG = ROOT / "manifests" / "monitoring" / "scrape-config.yaml"


def operator_pod(objects: list[Object]) -> Object:
    [deployment] = kinds(objects, "Deployment")
    pod: Object = deployment["spec"]["template"]["spec"]
    return pod


def environment(objects: list[Object]) -> dict[str, str]:
    [container] = operator_pod(objects)["containers"]
    return {variable["name"]: variable["value"] for variable in container["env"]}


def test_two_operators_never_overlap(render: Render, values: Path) -> None:
    [deployment] = kinds(render(values), "Deployment")
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_the_pod_passes_restricted_pod_security(render: Render, values: Path) -> None:
    pod = operator_pod(render(values))
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert [list(volume) for volume in pod["volumes"]] == [["name", "emptyDir"]]


@pytest.mark.parametrize(
    ("values", "namespaces"),
    [("minimal", ("ns",)), ("namespaces", ("team-a", "team-b")), ("cluster", ())],
)
def test_the_operator_understands_its_environment(
    render: Render, monkeypatch: pytest.MonkeyPatch, values: str, namespaces: tuple[str, ...]
) -> None:
    given = environment(render(CHART / "ci" / f"{values}-values.yaml"))
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = OperatorSettings()
    assert settings.namespaces == namespaces
    assert settings.serving_image_gpu == "localhost/orthrus/serving-gpu:test"
    cpu_image = None if values == "minimal" else "localhost/orthrus/serving-cpu:test"
    assert settings.serving_image_cpu == cpu_image
    prometheus = "https://prometheus.monitoring.svc:9090/path" if values == "cluster" else None
    assert settings.prometheus_url == prometheus
    assert settings.host_paths == (("/mnt/models", "/mnt/cache") if values == "cluster" else ())
    assert {name.removeprefix("ORTHRUS_").lower() for name in given} <= set(
        OperatorSettings.model_fields
    ), "the operator ignores a variable that the chart sets"


def test_the_probes_ask_where_the_operator_answers(render: Render) -> None:
    [container] = operator_pod(render())["containers"]
    health, metrics = container["ports"]
    assert health["containerPort"] == OperatorSettings.model_fields["liveness_port"].default
    assert metrics["containerPort"] == OperatorSettings.model_fields["metrics_port"].default
    for probe in (container["startupProbe"], container["livenessProbe"]):
        assert probe["httpGet"] == {"path": "/healthz", "port": health["name"]}


def test_prometheus_finds_the_metrics_by_a_service_and_a_monitor(render: Render) -> None:
    monitored = ("metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.labels.team=a")
    objects = render(MINIMAL, *monitored)
    [deployment], [service], [monitor] = (
        kinds(objects, kind) for kind in ("Deployment", "Service", "ServiceMonitor")
    )
    [container] = operator_pod(objects)["containers"]
    [port] = service["spec"]["ports"]
    assert port["targetPort"] in {each["name"] for each in container["ports"]}
    pod_labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= pod_labels.items()
    selected = monitor["spec"]["selector"]["matchLabels"]
    assert selected.items() <= service["metadata"]["labels"].items()
    [endpoint] = monitor["spec"]["endpoints"]
    _, scraped = yaml.safe_load(SCRAPE_CONFIG.read_text())["scrape_configs"]
    interval = scraped["scrape_interval"]
    # Without honorLabels, the objects' namespace would be overwritten by the operator's.
    assert endpoint.pop("honorLabels")
    assert endpoint == {"port": port["name"], "path": "/metrics", "interval": interval}
    assert monitor["metadata"]["labels"]["team"] == "a"


def test_the_metrics_service_can_be_left_out_and_no_monitor_is_made_unasked(
    render: Render,
) -> None:
    assert not kinds(render(MINIMAL, "metrics.service=false"), "Service", "ServiceMonitor")
    assert not kinds(render(), "ServiceMonitor")
    assert kinds(render(), "Service")


def test_an_upgrade_of_the_operator_changes_its_image_and_nothing_else(render: Render) -> None:
    before, after = render(MINIMAL, "image.tag=old"), render(MINIMAL, "image.tag=new")
    assert operator_pod(before)["containers"][0].pop("image") == "localhost/orthrus/operator:old"
    assert operator_pod(after)["containers"][0].pop("image") == "localhost/orthrus/operator:new"
    assert before == after
