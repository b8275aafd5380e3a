"""Only the very folders of the node that the installer allowed."""

from typing import Any

import pytest

from orthrus_operator.planner.host_paths import host_path_problem
from tests.orthrus_operator.making import demo

HUB = "hf://org/model"


def volume(path: str) -> dict[str, Any]:
    return {"spec": {"volumes": [{"name": "extra", "hostPath": {"path": path}}]}}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"model": {"source": "host:///etc"}}, "spec.model.source"),
        ({"model": {"source": "host:///mnt/models-of-others"}}, "spec.model.source"),
        # It may be a link that a replica planted.
        ({"model": {"source": "host:///mnt/models/link"}}, "spec.model.source"),
        ({"model": {"source": HUB, "cache": {"hostPath": {"path": "/var"}}}}, "cache.hostPath"),
        ({"podTemplate": volume("/var/run")}, "podTemplate.spec.volumes[extra]"),
    ],
)
def test_a_folder_elsewhere_is_refused_by_the_name_of_its_field(
    spec: dict[str, Any], field: str
) -> None:
    problem = host_path_problem(demo(**spec), ("/mnt/models", "/data"))
    assert problem
    assert (problem.reason, problem.stalled) == ("HostPathNotAllowed", True)
    assert field in problem.message
    assert "allows /mnt/models, /data only" in problem.message


def test_an_allowed_folder_is_fine() -> None:
    path = "/mnt/models"
    cache = {"hostPath": {"path": path}}
    orthrus = demo(model={"source": f"host://{path}", "cache": cache}, podTemplate=volume(path))
    assert host_path_problem(orthrus, ("/mnt/models",)) is None


def test_by_default_none_is_allowed_and_none_is_needed() -> None:
    assert host_path_problem(demo(), ()) is None
    problem = host_path_problem(demo("host:///models"), ())
    assert problem
    assert "allows none" in problem.message
