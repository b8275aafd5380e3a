"""What a user adds to the pods, and what of the operator's own stays."""

from typing import Any

from orthrus_operator.builders.pod import pod_template
from tests.orthrus_operator.making import demo


def template(**overlay: Any) -> dict[str, Any]:
    return pod_template(demo(podTemplate=overlay), "image:1")


def test_an_empty_overlay_changes_nothing() -> None:
    plain = pod_template(demo(), "image:1")
    assert template() == plain
    assert template(metadata={}, spec={"containers": [{"name": "replica"}]}) == plain


def test_labels_and_annotations_are_added_and_ours_stay() -> None:
    overlay = {"labels": {"team": "search"}, "annotations": {"note": "x"}}
    metadata = template(metadata=overlay)["metadata"]
    assert metadata["labels"]["team"] == "search"
    assert metadata["labels"]["serving.orthrus.io/deployment"] == "demo"
    assert metadata["annotations"] == {"note": "x"}
    stolen = template(metadata={"labels": {"serving.orthrus.io/deployment": "other"}})
    assert stolen["metadata"]["labels"]["serving.orthrus.io/deployment"] == "demo"


def test_where_the_pods_run() -> None:
    where = {
        "nodeSelector": {"gpu": "a100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {"x": 1}},
        "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1}],
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
    }
    pod = template(spec=where)["spec"]
    assert {name: pod[name] for name in where} == where


def test_variables_of_one_name_are_the_users_and_the_rest_stay() -> None:
    added: list[dict[str, Any]] = [
        {"name": "HF_ENDPOINT", "value": "http://mirror"},
        {"name": "HF_HOME", "value": "/elsewhere"},
        {"name": "CA", "valueFrom": {"configMapKeyRef": {"name": "ca", "key": "pem"}}},
    ]
    pod = template(spec={"containers": [{"name": "replica", "env": added}]})["spec"]
    environment = {each["name"]: each for each in pod["containers"][0]["env"]}
    assert [environment[each["name"]] for each in added] == added
    assert environment["VLLM_CACHE_ROOT"] == {"name": "VLLM_CACHE_ROOT", "value": "/cache/vllm"}
    assert len(environment) == len(pod["containers"][0]["env"])


def test_volumes_and_mounts_are_added_after_ours() -> None:
    pod = template(
        spec={
            "volumes": [{"name": "ca", "configMap": {"name": "ca"}}, {"name": "e", "emptyDir": {}}],
            "containers": [
                {
                    "name": "replica",
                    "volumeMounts": [{"name": "ca", "mountPath": "/ca", "readOnly": True}],
                }
            ],
        }
    )["spec"]
    plain = pod_template(demo(), "image:1")["spec"]
    added = [{"name": "ca", "configMap": {"name": "ca"}}, {"name": "e", "emptyDir": {}}]
    assert pod["volumes"] == [*plain["volumes"], *added]
    mounts = plain["containers"][0]["volumeMounts"]
    assert pod["containers"][0]["volumeMounts"] == [
        *mounts,
        {"name": "ca", "mountPath": "/ca", "readOnly": True},
    ]


def test_nothing_that_guards_the_node_can_be_overridden() -> None:
    """The types have no such field: what an older CRD let through is not merged either."""
    pod = template(
        spec={
            "hostNetwork": True,
            "serviceAccountName": "admin",
            "securityContext": {"runAsUser": 0},
            "containers": [{"name": "replica", "securityContext": {"privileged": True}}],
        }
    )
    assert pod == pod_template(demo(), "image:1")


def test_a_folder_of_the_node_must_exist() -> None:
    volumes = [{"name": "node", "hostPath": {"path": "/mnt/models"}}, {"name": "a", "emptyDir": {}}]
    *_, node, other = template(spec={"volumes": volumes})["spec"]["volumes"]
    assert node["hostPath"] == {"path": "/mnt/models", "type": "Directory"}
    assert other == {"name": "a", "emptyDir": {}}
