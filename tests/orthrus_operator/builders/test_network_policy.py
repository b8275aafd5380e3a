"""Only the API is reachable."""

from orthrus_operator.builders.network_policy import network_policy
from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.making import demo


def test_the_http_port_is_open_to_all_and_nothing_else_is() -> None:
    spec = network_policy(demo())["spec"]
    assert spec["podSelector"] == {"matchLabels": {"serving.orthrus.io/deployment": "demo"}}
    (rule,) = spec["ingress"]
    assert "from" not in rule
    (container,) = pod_template(demo(), "image:1")["spec"]["containers"]
    assert [port["port"] for port in rule["ports"]] == [port["name"] for port in container["ports"]]
    assert spec["policyTypes"] == ["Ingress"]
