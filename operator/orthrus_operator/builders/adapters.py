"""The adapters as replicas read them: a ConfigMap that changes while they run.

A pod must not change with its adapters, or every new one would be a rollout: what the pod says of
them comes in steps, with room.
"""

import hashlib
import json
from typing import Any

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.api.model import ClaimSource
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject, child

ADAPTERS_FILE = "/etc/orthrus/adapters/adapters.yaml"
MOST_IN_A_BATCH = 8
"""Adapters that one step may hold; more take turns. Each slot takes GPU memory."""
_STEPS_OF_LOADED = (16, 32, 64, 128)


def adapters_config_map(orthrus: OrthrusDeployment) -> KubernetesObject:
    """JSON, which is YAML: the file that `--adapters-file` names."""
    adapters = [declaration(adapter) for adapter in orthrus.spec.adapters or ()]
    content = json.dumps({"adapters": adapters}, indent=2, ensure_ascii=False)
    file = ADAPTERS_FILE.rpartition("/")[2]
    return child(orthrus, "v1", "ConfigMap", data={file: content + "\n"})


def declaration(adapter: Adapter) -> dict[str, Any]:
    """Its entry of the file."""
    return adapter.model_dump(by_alias=True, mode="json", exclude_none=True)


def declaration_digest(adapter: Adapter) -> str:
    """By which a replica says at /ready that it has this very entry: what it says of an adapter may
    be about an earlier one of the same name, until the kubelet has brought the file."""
    content = json.dumps(declaration(adapter), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def loaded_at_most(orthrus: OrthrusDeployment, room: int = 0) -> int:
    """Adapters that may be loaded at all, old versions beside new ones included.

    Pods that have `room` for more than is needed keep it: to take it away would replace them.
    """
    needed = len(orthrus.spec.adapters or ()) + MOST_IN_A_BATCH
    kept = room if room in _STEPS_OF_LOADED else 0
    return next(step for step in _STEPS_OF_LOADED if step >= max(needed, kept))


def adapter_claims(orthrus: OrthrusDeployment) -> tuple[str, ...]:
    """Claims of adapters that are not mounted for the model already, each once."""
    source = orthrus.spec.model.location()
    mounted = {source.claim} if isinstance(source, ClaimSource) else set()
    claims = {adapter.claim for adapter in orthrus.spec.adapters or () if adapter.claim}
    return tuple(sorted(claims - mounted))
