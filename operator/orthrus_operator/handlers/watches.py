"""kopf handlers: each event names an OrthrusDeployment to look at; what it is like is read then.

Only `on.event` is used: kopf's timers and daemons add finalizers, its change handlers write
annotations to the object.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import kopf

from orthrus_operator.api.group import DEPLOYMENT_LABEL, GROUP, PLURAL, VERSION
from orthrus_operator.handlers.autoscaler_changes import AutoscalerChanges
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.outcome import ObjectKey
from orthrus_operator.reconciler.queue import KeyedQueue

CHILD_RESOURCES = (
    ("apps", "v1", "deployments"),
    ("", "v1", "configmaps"),
    ("", "v1", "services"),
    ("", "v1", "serviceaccounts"),
    ("policy", "v1", "poddisruptionbudgets"),
    ("networking.k8s.io", "v1", "networkpolicies"),
    ("", "v1", "pods"),
)
AUTOSCALER_RESOURCE = ("autoscaling", "v2", "horizontalpodautoscalers")
"""Watched without a selector: a user's, or KEDA's, may scale one of ours."""
_LONGEST_STANDSTILL_SECONDS = 120.0
"""Twice the time limit of a look: then something is broken, not slow."""


def register_handlers(
    queue: KeyedQueue[ObjectKey],
    autoscalers: AutoscalerNames,
    changes: AutoscalerChanges,
    is_echo: Callable[[ObjectKey, Mapping[str, Any]], bool],
) -> kopf.OperatorRegistry:
    """Handlers that feed `queue` and `autoscalers`, and the liveness probe that watches `queue`.

    `changes` tells which events of HPAs are news, `is_echo` which of objects are our own writes.
    """
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**context: Any) -> kopf.ConnectionInfo | None:
        return kopf.login_with_kubeconfig(**context) or kopf.login_with_service_account(**context)

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
    async def wake_object(
        namespace: str | None, name: str, body: Mapping[str, Any], **_: Any
    ) -> None:
        key = ObjectKey(str(namespace), name)
        if not is_echo(key, body):
            queue.add(key)

    async def wake_owner(namespace: str | None, labels: Mapping[str, str], **_: Any) -> None:
        queue.add_calmly(ObjectKey(str(namespace), labels[DEPLOYMENT_LABEL]))

    for resource in CHILD_RESOURCES:
        kopf.on.event(*resource, registry=registry, labels={DEPLOYMENT_LABEL: kopf.PRESENT})(
            wake_owner
        )

    @kopf.on.event(*AUTOSCALER_RESOURCE, registry=registry)
    async def wake_scaled(
        type: str | None,
        namespace: str | None,
        body: Mapping[str, Any],
        **_: Any,
    ) -> None:
        autoscalers.saw(type, body)
        for name in changes.concerned(type, body):
            queue.add(ObjectKey(str(namespace), name))

    # Other error modes make kopf retry inside the request, so that the probe hangs, not fails.
    @kopf.on.probe(id="queue", errors=kopf.ErrorsMode.PERMANENT, registry=registry)
    async def standstill(**_: Any) -> float:
        return check_progress(queue)

    return registry


def check_progress(queue: KeyedQueue[ObjectKey]) -> float:
    """For how many seconds nothing has moved; raises kopf.PermanentError when that is too long.

    Slow is no reason to be restarted: all would be looked at again, from the same first object.
    """
    seconds = queue.standstill()
    if seconds > _LONGEST_STANDSTILL_SECONDS:
        raise kopf.PermanentError(f"reconciles are stalled: nothing moved for {seconds:.0f} s")
    return seconds


def kopf_settings() -> kopf.OperatorSettings:
    """Settings under which kopf only watches: no peering, no discovery, no events, no writes."""
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.posting.enabled = False
    for resource in CHILD_RESOURCES:
        settings.watching.label_selectors[resource] = DEPLOYMENT_LABEL
    # Else one line for each watch event, and two for each probe.
    for noisy in ("kopf.objects", "kopf.activities.probe", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return settings
