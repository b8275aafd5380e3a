"""`spec.podTemplate`: what a user may add to the replicas' pods.

The schema is the policy: a field that could make the pod's creator more than its namespace allows
(another ServiceAccount, host namespaces, a security context, further containers) does not exist.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, keyed_by, rules
from orthrus_operator.api.model import HostPath, ObjectName

_ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}

Anything = Annotated[dict[str, Any], Field(json_schema_extra=_ANYTHING)]
"""A part of the Kubernetes API that the API server checks when it gets the Deployment."""

RESERVED_VOLUMES = ("tmp", "shared-memory", "cache", "model", "api-keys", "adapters")
"""Names of the volumes that the operator makes."""
_RESERVED_FOLDERS = "^/(tmp|dev/shm|cache|models|etc/orthrus)(/.*)?$"
_OWNED_VARIABLES = {
    "HF_TOKEN": "spec.model.tokenSecretRef",
    "VLLM_API_KEY": "spec.auth.apiKeySecretRef",
}

_NAMES = Field(max_length=64)
_LABELS = Field(
    max_length=64,
    json_schema_extra=rules(
        Rule(
            "self.all(k, !k.startsWith('serving.orthrus.io/')"
            " && !k.startsWith('app.kubernetes.io/'))",
            "podTemplate labels may not begin with serving.orthrus.io/ or app.kubernetes.io/, which"
            " the operator sets",
        )
    ),
)


class PodMetadata(ApiType):
    """Metadata of the pods."""

    labels: Annotated[dict[str, str] | None, _LABELS] = None
    """Further labels."""
    annotations: Annotated[dict[str, str] | None, _NAMES] = None
    """Further annotations."""


class Toleration(ApiType):
    """A taint that the pods put up with."""

    key: str | None = None
    """Key of the taint; all when not set."""
    operator: Literal["Exists", "Equal"] | None = None
    """How key and value are compared; Equal when not set."""
    value: str | None = None
    """Value of the taint."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint; all when not set."""
    toleration_seconds: Annotated[int | None, Field(json_schema_extra={"format": "int64"})] = None
    """How long a NoExecute taint is put up with; for ever when not set."""


class EnvironmentVariable(ApiType):
    """A variable of the replica's environment."""

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=253,
            json_schema_extra=rules(
                *(
                    Rule(f"self != '{name}'", f"podTemplate may not set {name}; set {field}")
                    for name, field in _OWNED_VARIABLES.items()
                )
            ),
        ),
    ]
    """Name of the variable."""
    value: Annotated[str, Field(max_length=32_768)] | None = None
    """Its value."""
    value_from: Anything | None = None
    """Where its value comes from, as in a container: secretKeyRef, configMapKeyRef, fieldRef, …"""


class VolumeMount(ApiType):
    """Where the replica finds a volume."""

    name: ObjectName
    """Name of the volume."""
    mount_path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=512,
            json_schema_extra=rules(
                Rule(
                    f"!self.matches('{_RESERVED_FOLDERS}')",
                    "mountPath may not be in /tmp, /dev/shm, /cache, /models or /etc/orthrus, which"
                    " the operator mounts",
                )
            ),
        ),
    ]
    """Folder in the container."""
    read_only: bool | None = None
    """Whether writing is refused."""
    sub_path: Annotated[str, Field(max_length=512)] | None = None
    """Folder or file inside the volume."""


class ReplicaContainer(ApiType):
    """What to add to the container that serves."""

    name: Literal["replica"]
    """The only container of a replica."""
    env: Annotated[
        list[EnvironmentVariable] | None, Field(max_length=64, json_schema_extra=keyed_by("name"))
    ] = None
    """Further variables; they win over the operator's own of the same name."""
    volume_mounts: Annotated[
        list[VolumeMount] | None, Field(max_length=32, json_schema_extra=keyed_by("mountPath"))
    ] = None
    """Further mounts."""


_SOURCES = ("configMap", "secret", "emptyDir", "persistentVolumeClaim", "hostPath")


class Volume(ApiType):
    """A volume of the pods."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                f"[{', '.join(f'has(self.{source})' for source in _SOURCES)}]"
                ".filter(given, given).size() == 1",
                f"a volume needs exactly one of {', '.join(_SOURCES)}",
            )
        )
    )

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=63,
            json_schema_extra=rules(
                Rule(
                    f"!(self in {list(RESERVED_VOLUMES)!r}) && !self.startsWith('adapters-')",
                    f"the volume names {', '.join(RESERVED_VOLUMES)} and adapters-* are the"
                    " operator's own; choose another one",
                )
            ),
        ),
    ]
    """Name of the volume."""
    config_map: Anything | None = None
    """A ConfigMap of this namespace, as in a pod."""
    secret: Anything | None = None
    """A Secret of this namespace, as in a pod."""
    empty_dir: Anything | None = None
    """Space that lives as long as the pod."""
    persistent_volume_claim: Anything | None = None
    """A claim of this namespace, as in a pod."""
    host_path: HostPath | None = None
    """A folder of the node, where the operator's settings allow it."""


class PodSpec(ApiType):
    """What to add to the pods' spec."""

    node_selector: Annotated[dict[str, str] | None, _NAMES] = None
    """Labels that a node must have."""
    tolerations: Annotated[
        list[Toleration] | None,
        Field(max_length=32, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = None
    """Taints that the pods put up with."""
    affinity: Anything | None = None
    """Affinity to nodes and pods, as in a pod."""
    topology_spread_constraints: Annotated[
        list[
            Annotated[
                dict[str, Any],
                Field(description="One constraint, as in a pod.", json_schema_extra=_ANYTHING),
            ]
        ]
        | None,
        Field(max_length=16, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = None
    """How the pods spread over zones and nodes, as in a pod."""
    priority_class_name: ObjectName | None = None
    """Priority of the pods."""
    runtime_class_name: ObjectName | None = None
    """Container runtime, e.g. nvidia."""
    volumes: Annotated[
        list[Volume] | None, Field(max_length=32, json_schema_extra=keyed_by("name"))
    ] = None
    """Further volumes."""
    containers: Annotated[
        list[ReplicaContainer] | None, Field(max_length=1, json_schema_extra=keyed_by("name"))
    ] = None
    """The container `replica`: further variables and mounts."""


class PodTemplate(ApiType):
    """What to add to the replicas' pods, in the form of a PodTemplateSpec. Lists with names, and
    maps, are merged into the operator's own."""

    metadata: PodMetadata | None = None
    """Further labels and annotations."""
    spec: PodSpec | None = None
    """Where and with what the pods run."""
