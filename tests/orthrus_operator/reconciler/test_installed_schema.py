"""An older CRD is refused by name, a newer one is used, ours is silent."""

import copy

from orthrus_operator.api.crd import object_schema
from orthrus_operator.reconciler.installed_schema import compare_schemas


def test_the_same_schema_is_silent() -> None:
    check = compare_schemas(object_schema(), copy.deepcopy(object_schema()))
    assert (check.usable, check.finding) == (True, None)


def test_a_missing_status_field_is_unusable_and_named() -> None:
    older = copy.deepcopy(object_schema())
    del older["properties"]["status"]["properties"]["endpoint"]
    check = compare_schemas(object_schema(), older)
    assert not check.usable
    assert "status.endpoint" in str(check.finding)


def test_what_to_do_is_said_for_a_crd_of_helm_and_for_one_of_kubectl() -> None:
    """Applied over Helm's, it would be a conflict."""
    finding = str(compare_schemas(object_schema(), {}).finding)
    assert "upgrade the Helm release" in finding
    assert "without Helm: kubectl apply --server-side -f manifests/crd.yaml" in finding


def test_a_missing_field_of_a_list_item_is_found() -> None:
    older = copy.deepcopy(object_schema())
    conditions = older["properties"]["status"]["properties"]["conditions"]
    del conditions["items"]["properties"]["observedGeneration"]
    check = compare_schemas(object_schema(), older)
    assert "status.conditions[].observedGeneration" in str(check.finding)


def test_a_newer_schema_is_used_with_a_word_about_it() -> None:
    newer = copy.deepcopy(object_schema())
    newer["properties"]["spec"]["properties"]["fromTheFuture"] = {"type": "object"}
    check = compare_schemas(object_schema(), newer)
    assert check.usable
    assert check.finding is not None
