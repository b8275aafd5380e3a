"""`spec.model`: where the weights come from, and what the model is called."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, rules
from orthrus_operator.api.quantity import Quantity

_SOURCE_RULES = rules(
    Rule(
        "self.matches('^(hf://[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*"
        "|pvc://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[^ ]*)?"
        "|host:///[^ ]*[^ /]"
        "|oci://[a-z0-9][^ ]*[:@][^ /]+)$')",
        "source must be hf://ORG/NAME (Hugging Face Hub), pvc://CLAIM/path (a persistent volume"
        " claim), host:///path (a folder of the node) or oci://IMAGE:TAG (an image)",
    ),
    Rule(
        "!self.contains('/../') && !self.endsWith('/..')",
        "source may not contain .. as a path segment",
    ),
)

ObjectName = Annotated[str, Field(min_length=1, max_length=253)]


@dataclass(frozen=True)
class HubSource:
    """A model of the Hugging Face Hub."""

    repository: str


@dataclass(frozen=True)
class ClaimSource:
    """A model folder on a persistent volume claim."""

    claim: str
    path: str
    """Relative to the claim's root; empty for the root itself."""


@dataclass(frozen=True)
class HostSource:
    """A model folder on the node."""

    path: str
    """Absolute."""


@dataclass(frozen=True)
class ImageSource:
    """A model at the root of an image, mounted as a volume."""

    reference: str


Location = HubSource | ClaimSource | HostSource | ImageSource


class SecretKey(ApiType):
    """One key of a Secret in the same namespace."""

    name: ObjectName
    """Name of the Secret."""
    key: Annotated[str, Field(min_length=1, max_length=253)]
    """Key inside the Secret."""


class ClaimReference(ApiType):
    """A persistent volume claim in the same namespace."""

    claim_name: ObjectName
    """Name of the claim. Replicas on several nodes need one that allows ReadWriteMany."""


class EmptyDirectory(ApiType):
    """Space on the node that lives as long as the pod."""

    size_limit: Quantity | None = None
    """The pod is evicted when it uses more; 100Gi when not set."""


class HostPath(ApiType):
    """A folder of the node, where the operator's settings allow it."""

    path: Annotated[
        str,
        Field(
            max_length=512,
            json_schema_extra=rules(
                Rule(
                    "self.matches('^/[^ ]*[^ /]$') && !self.contains('/../')"
                    " && !self.endsWith('/..')",
                    "path must be an absolute folder without .. and without a slash at its end",
                )
            ),
        ),
    ]
    """Absolute path on the node. The folder must exist."""


class Cache(ApiType):
    """Where downloaded weights and compiled kernels are kept."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "[has(self.persistentVolumeClaim), has(self.hostPath), has(self.emptyDir)]"
                ".filter(given, given).size() <= 1",
                "set only one of persistentVolumeClaim, hostPath and emptyDir",
            )
        )
    )

    persistent_volume_claim: ClaimReference | None = None
    """Keep the cache on a claim, shared by all replicas and by later pods."""
    host_path: HostPath | None = None
    """Keep the cache in a folder of the node that user 1000 may write, shared by all replicas
    there."""
    empty_dir: EmptyDirectory | None = None
    """Keep the cache in the pod: every new pod downloads the weights again."""


class Model(ApiType):
    """The one model that answers both tasks."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "!has(self.revision) || self.source.startsWith('hf://')",
                "revision is only for hf:// sources; remove it, or put the version in the path"
                " or the image's tag",
                field=".revision",
            ),
            Rule(
                "!has(self.tokenSecretRef) || self.source.startsWith('hf://')",
                "tokenSecretRef is only for hf:// sources; remove it",
                field=".tokenSecretRef",
            ),
        )
    )

    source: Annotated[str, Field(max_length=512, json_schema_extra=_SOURCE_RULES)]
    """hf://ORG/NAME on the Hugging Face Hub; pvc://CLAIM/path on a volume claim; host:///path on
    the node, where the operator's settings allow it; oci://IMAGE:TAG, an image with the model at
    its root, where the cluster has image volumes."""
    revision: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Branch, tag or commit of an hf:// source. Use a commit: a branch that moves lets new replicas
    return other vectors than old ones."""
    served_name: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """Name that clients send as `model`; metadata.name when not set."""
    token_secret_ref: SecretKey | None = None
    """Hugging Face token for gated or private models."""
    cache: Cache | None = None
    """Where weights and compiled kernels are kept; an emptyDir of at most 100Gi when not set."""

    def location(self) -> Location:
        """`source`, taken apart; the schema guarantees its form."""
        scheme, _, rest = self.source.partition("://")
        if scheme == "hf":
            return HubSource(rest)
        if scheme == "host":
            return HostSource(rest)
        if scheme == "oci":
            return ImageSource(rest)
        claim, _, path = rest.partition("/")
        return ClaimSource(claim, path.strip("/"))


Pooling = Literal["mean", "weighted-mean", "last", "cls"]


class Embedding(ApiType):
    """How token states become one vector."""

    adapter: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """The adapter of task embed that answers /v1/embeddings under the model's own name; the model
    itself when not set."""
    pooling: Pooling = "mean"
    """Mean of all tokens, mean weighted by position, last token, or first token."""
    normalize: bool = True
    """Whether the model's own vectors are scaled to length 1; `use_activation` of a request wins,
    and an adapter has its own normalize."""
