"""The OrthrusDeployment itself: spec, metadata that the operator uses, and the whole object."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from orthrus_operator.api.access import Auth, Monitoring, NetworkPolicy
from orthrus_operator.api.adapters import Adapter
from orthrus_operator.api.autoscaling import Autoscaling
from orthrus_operator.api.declare import ApiType, Rule, keyed_by, rules
from orthrus_operator.api.engine_arguments import ENGINE_ARGUMENT_RULES
from orthrus_operator.api.lifecycle import Rollout, Service
from orthrus_operator.api.model import Embedding, Model
from orthrus_operator.api.pod_template import PodTemplate
from orthrus_operator.api.pods import DEFAULT_GPU_RESOURCE, Accelerator, Image, Resources
from orthrus_operator.api.scheduling import Scheduling

_GPU_NAMES = (
    f"[has(self.accelerator.resourceName) ? self.accelerator.resourceName"
    f" : '{DEFAULT_GPU_RESOURCE}']"
)

_DEFAULT_BACKLOG_TOKENS = 8192

EngineArguments = Annotated[
    dict[str, Annotated[str, Field(max_length=4096)]],
    Field(
        max_length=128,
        json_schema_extra=rules(*ENGINE_ARGUMENT_RULES),
    ),
]


class Spec(ApiType):
    """What should run. The smallest useful spec names a model and nothing else."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            *(
                Rule(
                    f"!has(self.resources) || !has(self.resources.{part})"
                    f" || {_GPU_NAMES}.all(g, !(g in self.resources.{part}))",
                    f"resources.{part} may not count the GPU: every replica gets exactly one, by"
                    " spec.accelerator",
                    field=f".resources.{part}",
                )
                for part in ("requests", "limits")
            ),
            Rule(
                "!has(self.embedding.adapter) || (has(self.adapters) && self.adapters.exists(a,"
                " a.name == self.embedding.adapter && a.task == 'embed'))",
                "embedding.adapter must be the name of an adapter of task embed in spec.adapters",
                field=".embedding.adapter",
            ),
            Rule(
                "!has(self.autoscaling) || !has(self.autoscaling.backlogTokensPerReplica)"
                " || 4 * self.autoscaling.backlogTokensPerReplica"
                " <= self.scheduling.maxQueuedTokens",
                "autoscaling.backlogTokensPerReplica must be at most a quarter of"
                " scheduling.maxQueuedTokens (262144 when not set): a shorter queue refuses the"
                " requests that would show how many replicas are missing",
                field=".autoscaling.backlogTokensPerReplica",
            ),
        )
    )

    model: Model
    """The one model that answers both tasks."""
    adapters: Annotated[
        list[Adapter] | None, Field(max_length=64, json_schema_extra=keyed_by("name"))
    ] = None
    """LoRA adapters of the model, served beside it in the same batches."""
    embedding: Embedding = Embedding()
    """How token states become one vector."""
    scheduling: Scheduling = Scheduling()
    """How one engine step is shared by embedding and generation."""
    replicas: Annotated[int, Field(ge=0, json_schema_extra={"format": "int32"})] = 1
    """Number of replicas; owned by whoever scales, through the scale subresource. Leave it out
    when an autoscaler does."""
    autoscaling: Autoscaling | None = None
    """Let the number of replicas follow the backlog; nothing scales by itself when not set, and
    what had been reached stays when this is taken away."""
    accelerator: Accelerator = Accelerator()
    """What a replica runs on: exactly one GPU, or CPUs only."""
    resources: Resources | None = None
    """Compute resources of a replica; the accelerator is added to them."""
    paused: bool = False
    """While true, the operator changes nothing and only reports; changes wait."""
    rollout: Rollout = Rollout()
    """How replicas are replaced when their pod changes."""
    drain_seconds: Annotated[int, Field(ge=0, le=3600, json_schema_extra={"format": "int32"})] = 120
    """How long a replica that ends may still finish running requests."""
    service: Service = Service()
    """The Service in front of the replicas."""
    auth: Auth | None = None
    """Who may call the API: everyone who reaches it when not set."""
    network_policy: NetworkPolicy = NetworkPolicy()
    """Which network traffic reaches the replicas."""
    monitoring: Monitoring = Monitoring()
    """Who collects the replicas' metrics."""
    image: Image | None = None
    """The serving image; each part that is not set comes from the operator's settings."""
    engine_args: EngineArguments | None = None
    """Further flags of a replica, name to value: those that `orthrus serve --help` lists. With any
    other new pods do not start (InvalidArguments). Values are strings, so quote numbers; "true" is
    the bare flag, "false" its no- form."""
    pod_template: PodTemplate | None = None
    """What to add to the replicas' pods: where they run, environment, volumes."""


class Metadata(BaseModel):
    """The metadata that the operator reads."""

    model_config = ConfigDict(frozen=True)

    name: str
    namespace: str
    uid: str
    generation: int


class OrthrusDeployment(BaseModel):
    """An object as the API server stores it, with its defaults filled in."""

    model_config = ConfigDict(frozen=True)

    metadata: Metadata
    spec: Spec

    @classmethod
    def from_object(cls, stored: dict[str, Any]) -> "OrthrusDeployment":
        """Raises pydantic.ValidationError when the object isn't of the schema we know."""
        return cls.model_validate(stored)

    @property
    def backlog_target(self) -> int:
        """Prompt tokens that may wait for one replica: what the spec says, or the default."""
        scaling, most = self.spec.autoscaling, self.spec.scheduling.max_queued_tokens
        given = scaling and scaling.backlog_tokens_per_replica
        return given or max(1, min(_DEFAULT_BACKLOG_TOKENS, most // 4))

    @property
    def served_name(self) -> str:
        return self.spec.model.served_name or self.metadata.name
