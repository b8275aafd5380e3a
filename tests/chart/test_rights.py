"""The operator's rights are the ones it declares, where it works and nowhere else."""

from pathlib import Path

import pytest

from orthrus_operator.reconciler.permissions import OWN_PERMISSIONS, PERMISSIONS
from tests.chart.objects import CHART, MINIMAL, Object, Render, kinds

Right = tuple[str, str, str]
NEEDED = {(p.group, p.resource, verb) for p in PERMISSIONS for verb in p.verbs}
NEEDED_AT_HOME = {(p.group, p.resource, verb) for p in OWN_PERMISSIONS for verb in p.verbs}
LEASE = "-lease"


def rights(role: Object) -> list[Right]:
    """Each (group, resource, verb) that a role grants."""
    return [
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def operator_roles(objects: list[Object]) -> list[Object]:
    """The roles that a binding gives to the operator."""
    bound = {
        binding["roleRef"]["name"]
        for binding in kinds(objects, "RoleBinding", "ClusterRoleBinding")
    }
    return [
        role
        for role in kinds(objects, "Role", "ClusterRole")
        if role["metadata"]["name"] in bound and not role["metadata"]["name"].endswith(LEASE)
    ]


def lease_roles(objects: list[Object]) -> list[Object]:
    """The roles, and their bindings, for the Lease."""
    return [
        found
        for found in kinds(objects, "Role", "RoleBinding")
        if found["metadata"]["name"].endswith(LEASE)
    ]


@pytest.mark.parametrize("values", ["minimal", "namespaces", "cluster"])
def test_the_operator_gets_exactly_the_rights_that_it_declares(render: Render, values: str) -> None:
    roles = operator_roles(render(CHART / "ci" / f"{values}-values.yaml"))
    assert roles
    for role in roles:
        assert sorted(rights(role)) == sorted(NEEDED)


def test_the_lease_is_at_home_wherever_the_operator_works(render: Render, values: Path) -> None:
    objects = render(values)
    for found in lease_roles(objects):
        assert found["metadata"]["namespace"] == "ns"
    granted = [rights(found) for found in lease_roles(objects) if found["kind"] == "Role"]
    made = bool(kinds(objects, "Role", "ClusterRole"))
    assert [set(each) for each in granted] == ([NEEDED_AT_HOME] if made else [])


def test_no_role_has_a_wildcard_or_reads_secrets(render: Render, values: Path) -> None:
    for role in kinds(render(values), "Role", "ClusterRole"):
        for right in rights(role):
            assert "*" not in right
            assert right[1] != "secrets"


def test_by_default_only_the_release_namespace_is_served(render: Render) -> None:
    objects = render()
    assert [role["metadata"]["namespace"] for role in kinds(objects, "Role")] == ["ns", "ns"]
    assert not kinds(objects, "ClusterRoleBinding")


def test_each_watched_namespace_has_a_role_and_a_binding(render: Render) -> None:
    objects = render(CHART / "ci" / "namespaces-values.yaml")
    for kind in ("Role", "RoleBinding"):
        found = [each for each in kinds(objects, kind) if each not in lease_roles(objects)]
        assert [role["metadata"]["namespace"] for role in found] == ["team-a", "team-b"]


def test_every_binding_names_the_pods_service_account_and_a_role_beside_it(
    render: Render, values: Path
) -> None:
    objects = render(values)
    [deployment] = kinds(objects, "Deployment")
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    roles = {
        (role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"])
        for role in kinds(objects, "Role", "ClusterRole")
    }
    for binding in kinds(objects, "RoleBinding", "ClusterRoleBinding"):
        [subject] = binding["subjects"]
        assert subject == {"kind": "ServiceAccount", "name": account, "namespace": "ns"}
        place = binding["metadata"].get("namespace")
        assert (binding["roleRef"]["kind"], place, binding["roleRef"]["name"]) in roles


def test_users_get_no_right_on_the_status(render: Render) -> None:
    for role in kinds(render(), "ClusterRole"):
        for _, resource, verb in rights(role):
            assert resource != "orthrusdeployments/status" or verb in ("get", "list", "watch")


def test_without_rbac_no_role_is_made(render: Render) -> None:
    settings = ("rbac.create=false", "rbac.aggregateClusterRoles=false")
    objects = render(MINIMAL, *settings)
    assert not kinds(objects, "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
