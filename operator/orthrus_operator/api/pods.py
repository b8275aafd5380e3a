"""The parts of the spec that shape a replica's pod: accelerator, resources, image."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, keyed_by, rules
from orthrus_operator.api.model import ObjectName
from orthrus_operator.api.quantity import Quantity

DEFAULT_GPU_RESOURCE = "nvidia.com/gpu"


class Accelerator(ApiType):
    """What a replica runs on: exactly one GPU, or CPUs only."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "self.type == 'gpu' || !has(self.resourceName)",
                "resourceName is only for type gpu; remove it, or set type to gpu",
                field=".resourceName",
            ),
        )
    )

    type: Literal["gpu", "cpu"] = "gpu"
    """gpu: one GPU per replica. cpu: no accelerator."""
    resource_name: (
        Annotated[
            str,
            Field(
                max_length=253,
                json_schema_extra=rules(
                    Rule(
                        "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]"
                        "([A-Za-z0-9._-]*[A-Za-z0-9])?$')",
                        "resourceName must be the name of an extended resource, such as"
                        " nvidia.com/gpu",
                    )
                ),
            ),
        ]
        | None
    ) = None
    """Extended resource of which each replica gets one, e.g. nvidia.com/mig-3g.40gb;
    nvidia.com/gpu when not set."""

    @property
    def gpu_resource(self) -> str | None:
        """Extended resource of which a replica gets one; None for a CPU replica."""
        if self.type == "cpu":
            return None
        return self.resource_name or DEFAULT_GPU_RESOURCE


Quantities = Annotated[dict[str, Quantity], Field(max_length=16)]


class Resources(ApiType):
    """Compute resources of a replica, as in a container; the accelerator is added to them."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "!has(self.requests) || !has(self.limits) || self.requests.all(k, !(k in"
                " self.limits) || quantity(string(self.requests[k]))"
                ".compareTo(quantity(string(self.limits[k]))) <= 0)",
                "resources.requests may not exceed resources.limits: lower the request or raise"
                " the limit",
                field=".requests",
            ),
        )
    )

    requests: Quantities | None = None
    """What the scheduler reserves, e.g. cpu and memory."""
    limits: Quantities | None = None
    """What a replica may use at most. On CPUs the memory limit also decides the KV cache's size."""


class PullSecret(ApiType):
    """A Secret with registry credentials in the same namespace."""

    name: ObjectName
    """Name of the Secret."""


class Image(ApiType):
    """The serving image; each part that is not set comes from the operator's settings."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "!has(self.repository) || has(self.tag)",
                "image.repository needs image.tag beside it, so that all replicas run the same"
                " image",
                field=".tag",
            ),
        )
    )

    repository: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=512,
                json_schema_extra=rules(
                    Rule(
                        "self.matches('^[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]+)?"
                        "(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$')",
                        "image.repository must be a lower-case repository without tag or digest,"
                        " such as registry.example/orthrus/serving",
                    )
                ),
            ),
        ]
        | None
    ) = None
    """Repository without tag, e.g. registry.example/orthrus/serving."""
    tag: (
        Annotated[
            str,
            Field(
                json_schema_extra=rules(
                    Rule(
                        "self.matches('^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
                        "(@sha256:[a-f0-9]{64})?$')",
                        "image.tag must be a tag: letters, digits, _ . - (at most 128); or"
                        " TAG@sha256:DIGEST",
                    )
                ),
                max_length=200,
            ),
        ]
        | None
    ) = None
    """Tag; TAG@sha256:DIGEST pins the digest. Alone, it replaces tag and digest of the operator's
    own image reference."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the node pulls the image; Kubernetes decides by the tag when not set."""
    pull_secrets: Annotated[
        list[PullSecret] | None, Field(max_length=16, json_schema_extra=keyed_by("name"))
    ] = None
    """Registry credentials."""
