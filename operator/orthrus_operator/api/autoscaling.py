"""`spec.autoscaling`: the number of replicas follows the work that waits for them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, rules

_MOST_REPLICAS = 10_000
_LONGEST_DELAY_SECONDS = 3600
"""The API server takes no longer stabilization window."""


class Autoscaling(ApiType):
    """The number of replicas follows the prompt tokens that wait, of both tasks together."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "self.maxReplicas >= self.minReplicas",
                "maxReplicas must be at least minReplicas (1 when not set): raise the one or lower"
                " the other",
                field=".maxReplicas",
            ),
        )
    )

    min_replicas: Annotated[
        int,
        Field(
            json_schema_extra={
                "format": "int32",
                **rules(
                    Rule(
                        "self >= 1",
                        "minReplicas must be at least 1: without a replica nothing waits that could"
                        " wake one. To scale to zero, write a ScaledObject of your own on a metric"
                        " from outside the replicas",
                    )
                ),
            }
        ),
    ] = 1
    """Fewest replicas, at least 1."""
    max_replicas: Annotated[
        int, Field(ge=1, le=_MOST_REPLICAS, json_schema_extra={"format": "int32"})
    ]
    """Most replicas: no more than the pool has GPUs."""
    # Not defaulted in the schema: it depends on maxQueuedTokens.
    backlog_tokens_per_replica: Annotated[
        int | None, Field(ge=1, le=268_435_456, json_schema_extra={"format": "int32"})
    ] = None
    """Prompt tokens that may wait for one replica. As many replicas are wanted as keep the whole
    backlog, divided by them, at most this. The smaller of 8192 and a quarter of
    scheduling.maxQueuedTokens when not set; best what a replica works off in the time in which
    another one loads."""
    backend: Literal["hpa", "keda"] = "hpa"
    """hpa: a HorizontalPodAutoscaler on a metric that an adapter, such as prometheus-adapter,
    serves. keda: a ScaledObject of KEDA that asks the Prometheus of the operator's settings."""
    scale_down_delay_seconds: Annotated[
        int, Field(ge=0, le=_LONGEST_DELAY_SECONDS, json_schema_extra={"format": "int32"})
    ] = 600
    """Seconds for which fewer replicas must have sufficed before one is removed: one that comes
    back has to load again."""
