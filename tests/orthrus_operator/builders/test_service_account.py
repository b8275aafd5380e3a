"""Replicas have an identity of their own, without a token."""

from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.service_account import service_account


def test_no_token_is_mounted(make) -> None:
    account = service_account(make())
    pod = pod_template(make(), "image:1")["spec"]
    assert pod["serviceAccountName"] == account["metadata"]["name"]
    assert account["automountServiceAccountToken"] is False
    assert pod["automountServiceAccountToken"] is False
