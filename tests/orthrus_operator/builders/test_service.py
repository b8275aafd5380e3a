"""The Service leads to the replicas' HTTP port, and its address is told."""

from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.service import endpoint, service
from tests.orthrus_operator.making import demo


def test_it_leads_to_the_pods_by_label_and_port_name() -> None:
    orthrus = demo(service={"type": "NodePort", "port": 8080})
    spec = service(orthrus)["spec"]
    template = pod_template(orthrus, "image:1")
    assert spec["type"] == "NodePort"
    assert spec["selector"].items() <= template["metadata"]["labels"].items()
    (port,) = spec["ports"]
    (container,) = template["spec"]["containers"]
    assert port["port"] == 8080
    assert port["targetPort"] in {exposed["name"] for exposed in container["ports"]}


def test_endpoint() -> None:
    assert endpoint(demo()) == "http://demo.models.svc"
    assert endpoint(demo(service={"port": 8080})) == "http://demo.models.svc:8080"
