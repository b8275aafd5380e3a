"""Replicas have an identity of their own, without a token."""

from orthrus_operator.builders.pod import pod_template
from orthrus_operator.builders.service_account import service_account
from tests.orthrus_operator.making import demo


def test_no_token_is_mounted() -> None:
    account = service_account(demo())
    pod = pod_template(demo(), "image:1")["spec"]
    assert pod["serviceAccountName"] == account["metadata"]["name"]
    assert account["automountServiceAccountToken"] is False
    assert pod["automountServiceAccountToken"] is False
