"""The operator's settings, from environment variables that start with ORTHRUS_."""

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from orthrus_operator.planner.desired import Installation
from orthrus_operator.planner.serving_image import ServingImages

HostFolder = Annotated[str, Field(pattern=r"^(/[^/]+)+$")]


class OperatorSettings(BaseSettings):
    """What the installer decides, for all OrthrusDeployments.

    Raises pydantic.ValidationError when a variable is wrong.
    """

    model_config = SettingsConfigDict(env_prefix="ORTHRUS_", frozen=True)

    namespaces: Annotated[tuple[str, ...], NoDecode] = ()
    """ORTHRUS_NAMESPACES, separated by commas; empty for all namespaces."""
    serving_image_gpu: Annotated[str, Field(min_length=1)] | None = None
    """Full reference of the image for GPU replicas."""
    serving_image_cpu: Annotated[str, Field(min_length=1)] | None = None
    """Full reference of the image for CPU replicas."""
    host_paths: Annotated[tuple[HostFolder, ...], NoDecode] = ()
    """ORTHRUS_HOST_PATHS, separated by commas: folders of the node that objects may use."""
    prometheus_url: Annotated[str, Field(pattern=r"^https?://[^ ]+$")] | None = None
    """Address of the Prometheus that KEDA asks, for objects with autoscaling backend keda."""
    lease_namespace: str = ""
    """Where the Lease is that keeps a second operator from working; empty: there is none."""
    resync_seconds: Annotated[float, Field(gt=0)] = 600.0
    """Every object is looked at again after this time, whatever the watches say."""
    poll_seconds: Annotated[float, Field(gt=0, le=30)] = 15.0
    """Replicas are asked so often for their load, vectors and adapters."""
    liveness_port: Annotated[int, Field(ge=1, le=65_535)] = 8080
    """Port of GET /healthz."""
    metrics_port: Annotated[int, Field(ge=1, le=65_535)] = 8081
    """Port of GET /metrics."""

    @field_validator("namespaces", "host_paths", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @property
    def installation(self) -> Installation:
        return Installation(
            images=ServingImages(gpu=self.serving_image_gpu, cpu=self.serving_image_cpu),
            host_paths=self.host_paths,
            prometheus=self.prometheus_url,
        )
