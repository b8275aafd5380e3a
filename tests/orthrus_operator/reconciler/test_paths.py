"""Where things are at the API server, and what a request is about."""

import pytest

from orthrus_operator.reconciler.paths import child_path, collection_path, orthrus_path, resource_of


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        (child_path("v1", "Pod", "ns", "a"), "pods"),
        (collection_path("v1", "Pod", "ns"), "pods"),
        (collection_path("v1", "Pod", None), "pods"),
        (child_path("apps/v1", "Deployment", "ns", "pods"), "deployments"),
        (collection_path("apps/v1", "Deployment", None), "deployments"),
        (f"{orthrus_path('ns', 'a')}/status", "orthrusdeployments/status"),
        ("/api/v1/namespaces/ns", "namespaces"),
        ("/api/v1/namespaces", "namespaces"),
        ("/openapi/v3/apis/serving.orthrus.io/v1alpha1", "openapi"),
        ("/api/v1/namespaces/ns/pods?limit=1", "pods"),
    ],
)
def test_what_a_request_is_about_never_holds_a_name(path: str, resource: str) -> None:
    assert resource_of(path) == resource
