"""`spec.auth`, `spec.networkPolicy` and `spec.monitoring`: who reaches a replica, and who looks."""

from orthrus_operator.api.declare import ApiType
from orthrus_operator.api.model import SecretKey


class Auth(ApiType):
    """Who may call the API."""

    api_key_secret_ref: SecretKey
    """Keys that open the API, one a line, in a Secret of this namespace. A changed Secret takes
    effect in about a minute, without a restart: add the new key, move the clients, remove the old
    one."""


class NetworkPolicy(ApiType):
    """Which network traffic reaches the replicas."""

    enabled: bool = True
    """Deny all ingress but that to the HTTP port, which is open to everyone in the cluster: API
    keys protect it. Egress stays open."""


class Monitoring(ApiType):
    """Who collects the replicas' metrics."""

    pod_monitor: bool = False
    """Make a PodMonitor for the Prometheus Operator. Ready's message says when the cluster does not
    know that kind."""
