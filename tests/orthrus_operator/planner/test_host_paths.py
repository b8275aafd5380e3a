"""Only folders of the node that the installer allowed, and what is below them."""

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


@pytest.mark.parametrize("path", ["/mnt/models", "/mnt/models/a/b"])
def test_an_allowed_folder_and_what_is_below_it_are_fine(path: str) -> None:
    cache = {"hostPath": {"path": path}}
    orthrus = demo(model={"source": f"host://{path}", "cache": cache}, podTemplate=volume(path))
    assert host_path_problem(orthrus, ("/mnt/models",)) is None


def test_by_default_none_is_allowed_and_none_is_needed() -> None:
    assert host_path_problem(demo(), ()) is None
    problem = host_path_problem(demo("host:///models"), ())
    assert problem
    assert "allows none" in problem.message
