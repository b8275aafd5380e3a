"""What a Deployment as it is says of its replicas' container."""

from collections.abc import Mapping
from typing import Any

from orthrus_operator.builders.arguments import ADAPTER_ROOM
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.builders.pod import CONTAINER_NAME


def running_container(live: KubernetesObject | None) -> Mapping[str, Any] | None:
    """The container of the replicas of `live`; None when there is none."""
    containers = live["spec"]["template"]["spec"]["containers"] if live else []
    return next((each for each in containers if each["name"] == CONTAINER_NAME), None)


def adapter_room(live: KubernetesObject | None) -> int:
    """How many adapters the replicas of `live` may load; 0 when they load none."""
    container = running_container(live) or {}
    for argument in container.get("args", []):
        flag, _, value = argument.partition("=")
        if flag == f"--{ADAPTER_ROOM}" and value.isdecimal():
            return int(value)
    return 0
