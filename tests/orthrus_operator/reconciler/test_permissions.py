"""The rights are those that the code uses, and no wildcard."""

from orthrus_operator.handlers.watches import CHILD_RESOURCES
from orthrus_operator.reconciler.paths import AUTOSCALER, CHILD_KINDS, OPTIONAL_CHILD_KINDS, PLURALS
from orthrus_operator.reconciler.permissions import PERMISSIONS

BY_RESOURCE = {(rule.group, rule.resource): set(rule.verbs) for rule in PERMISSIONS}


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def test_every_child_can_be_read_applied_and_pruned() -> None:
    for api_version, kind in (*CHILD_KINDS, AUTOSCALER, *OPTIONAL_CHILD_KINDS):
        verbs = BY_RESOURCE[group_of(api_version), PLURALS[kind]]
        assert {"get", "list", "create", "patch", "delete"} <= verbs


def test_every_watched_resource_may_be_watched() -> None:
    for group, _, plural in CHILD_RESOURCES:
        assert {"list", "watch"} <= BY_RESOURCE[group, plural]


def test_a_kind_that_a_cluster_may_lack_is_never_watched() -> None:
    for api_version, kind in OPTIONAL_CHILD_KINDS:
        assert "watch" not in BY_RESOURCE[group_of(api_version), PLURALS[kind]]
        assert PLURALS[kind] not in {plural for _, _, plural in CHILD_RESOURCES}


def test_no_wildcards_no_secrets_and_no_writes_to_a_users_spec() -> None:
    assert not any("*" in (rule.group, rule.resource, *rule.verbs) for rule in PERMISSIONS)
    assert not any(rule.resource == "secrets" for rule in PERMISSIONS)
    writing = {"create", "update", "patch", "delete"}
    assert not BY_RESOURCE["serving.orthrus.io", "orthrusdeployments"] & writing
