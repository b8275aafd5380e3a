"""Adapters come and go in a ConfigMap; the pod changes in the announced cases only."""

import json
from typing import Any

import pytest

from orthrus_operator.builders.adapters import adapters_config_map, loaded_at_most
from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.making import demo

E5 = {
    "name": "e5",
    "source": "pvc://adapters/e5",
    "task": "embed",
    "pooling": "last",
    "endToken": "</s>",
    "instruction": "Instruct: find\nQuery: ",
    "dimensions": [64, 128],
    "normalize": False,
}
SQL = {"name": "sql", "source": "hf://org/sql@v1", "task": "generate"}


def pod(*adapters: dict[str, Any], source: str = "hf://org/model") -> dict[str, Any]:
    return pod_template(demo(source, adapters=list(adapters) or None), "image:1")


def test_the_file_says_what_the_spec_says_and_nothing_else() -> None:
    data = adapters_config_map(demo(adapters=[E5, SQL]))["data"]
    assert list(data) == ["adapters.yaml"]
    assert json.loads(data["adapters.yaml"]) == {"adapters": [E5, SQL]}


def test_every_claim_is_mounted_once_at_its_root() -> None:
    second = {**E5, "name": "other", "source": "pvc://adapters/other"}
    spec = pod(E5, second, SQL)["spec"]
    mounts = {each["mountPath"]: each for each in spec["containers"][0]["volumeMounts"]}
    assert mounts["/models/adapters"] == {
        "name": "adapters-0",
        "mountPath": "/models/adapters",
        "readOnly": True,
    }
    claims = [
        volume["persistentVolumeClaim"]
        for volume in spec["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert claims == [{"claimName": "adapters", "readOnly": True}]


def test_adapters_on_the_models_claim_need_no_further_mount() -> None:
    spec = pod(E5, source="pvc://adapters/base")["spec"]
    paths = [each["mountPath"] for each in spec["containers"][0]["volumeMounts"]]
    assert paths.count("/models/adapters") == 1
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize(
    "change",
    [
        [E5, SQL],
        [SQL, E5],
        [E5, {**E5, "name": "again", "source": "pvc://adapters/again"}],
        [{**E5, "source": "pvc://adapters/e6", "pooling": "mean"}],
        [SQL, *({**E5, "name": f"e{number}"} for number in range(7))],
    ],
    ids=["one more", "another order", "same claim", "changed", "eight"],
)
def test_a_change_of_adapters_does_not_restart(change: list[dict[str, Any]]) -> None:
    assert pod(*change) == pod(E5)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [SQL]),
        ([SQL], [SQL, E5]),
        ([SQL], [{**SQL, "name": f"s{number}"} for number in range(9)]),
    ],
    ids=["the first", "a new claim", "more than fit"],
)
def test_the_announced_cases_do_restart(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    assert pod(*before) != pod(*after)


def test_there_is_room_for_old_versions_beside_new_ones_at_any_number() -> None:
    for count in range(1, 65):
        adapters = [{**SQL, "name": f"a{number}"} for number in range(count)]
        assert loaded_at_most(demo(adapters=adapters)) >= count + 8
