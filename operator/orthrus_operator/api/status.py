"""`status`: what the operator observed, in the terms of kstatus."""

from typing import Annotated, Literal

from pydantic import Field

from orthrus_operator.api.declare import ApiType, keyed_by

ConditionType = Literal[
    "Ready",
    "Reconciling",
    "Stalled",
    "Available",
    "AdaptersReady",
    "EmbeddingSpaceConsistent",
    "ScalingActive",
]
ConditionStatus = Literal["True", "False", "Unknown"]

LONGEST_MESSAGE = 32_768
"""Characters that a condition's message may have."""
LONGEST_SPACE = 64

_Int32 = Annotated[int, Field(json_schema_extra={"format": "int32"})]
_Int64 = Annotated[int, Field(json_schema_extra={"format": "int64"})]


class Condition(ApiType):
    """One aspect of the state, as in metav1.Condition."""

    type: ConditionType
    """Ready: all wanted replicas run the current spec and answer. Reconciling: on the way there.
    Stalled: someone must change something. Available: at least one replica answers. AdaptersReady:
    every ready replica has loaded every adapter. EmbeddingSpaceConsistent: vectors of one model may
    be compared, whichever replica they are from. ScalingActive: its autoscaler works, with the
    autoscaler's own reason; absent without one."""
    status: ConditionStatus
    """True, False or Unknown."""
    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    """The cause as one word, for programs."""
    message: Annotated[str, Field(max_length=LONGEST_MESSAGE)]
    """The cause as a sentence, for people."""
    observed_generation: _Int64
    """Generation of the spec that this speaks of."""
    last_transition_time: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    """When `status` last changed."""


class AdapterStatus(ApiType):
    """One declared adapter."""

    name: Annotated[str, Field(max_length=253)]
    """Its name."""
    ready: str
    """Replicas that have loaded it, of the wanted ones, e.g. 2/2."""
    message: str
    """Why a replica could not load it; empty otherwise."""


class Resolved(ApiType):
    """What the replicas made of the spec."""

    embedding_space: Annotated[str, Field(max_length=LONGEST_SPACE)]
    """Identifier of the vectors that the served name gives, as in the header
    orthrus-embedding-space; absent while replicas differ."""


class Status(ApiType):
    """What the operator observed. Only the operator writes it."""

    observed_generation: _Int64 = -1
    """Generation of the spec that the rest speaks of; -1 until the operator has seen the object."""
    replicas: _Int32
    """Pods that exist, ready or not."""
    ready_replicas: _Int32
    """Pods that answer requests."""
    updated_replicas: _Int32
    """Pods that run the current spec."""
    ready: str
    """Ready of wanted replicas, e.g. 2/2."""
    adapters_ready: str | None = None
    """Adapters that every ready replica has loaded, of the declared ones, e.g. 1/2."""
    adapters: Annotated[list[AdapterStatus] | None, Field(json_schema_extra=keyed_by("name"))] = (
        None
    )
    """Each declared adapter."""
    resolved: Resolved | None = None
    """What the replicas made of the spec."""
    selector: str
    """Label selector of the pods, for autoscalers."""
    endpoint: str
    """Address of the API inside the cluster."""
    conditions: Annotated[list[Condition], Field(json_schema_extra=keyed_by("type"))]
    """Ready, Reconciling, Stalled, Available, AdaptersReady; EmbeddingSpaceConsistent once a
    replica has told of its vectors; ScalingActive with an autoscaler."""
