"""`spec.rollout` and `spec.service`: how pods are replaced, and how clients reach them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, rules

_ZERO = "['0', '0%']"

CountOrPercent = Annotated[
    int | str,
    Field(
        json_schema_extra={
            "maxLength": 8,
            **rules(
                Rule(
                    "type(self) == int ? self >= 0 : self.matches('^(0|[1-9][0-9]{0,2})%$')",
                    "must be a number of replicas such as 1, or a percentage such as 25%",
                )
            ),
        }
    ),
]


class Rollout(ApiType):
    """How replicas are replaced when their pod changes."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                f"!has(self.maxUnavailable) || !(string(self.maxUnavailable) in {_ZERO})"
                f" || (has(self.maxSurge) && !(string(self.maxSurge) in {_ZERO}))",
                "maxUnavailable 0 needs maxSurge of at least 1: with both at 0 no replica can ever"
                " be replaced",
                field=".maxUnavailable",
            ),
            Rule(
                "self.strategy == 'Rolling' || !(has(self.maxSurge) || has(self.maxUnavailable))",
                "maxSurge and maxUnavailable are only for strategy Rolling; remove them",
                field=".strategy",
            ),
        )
    )

    strategy: Literal["Rolling", "Recreate"] = "Rolling"
    """Rolling replaces replicas little by little. Recreate ends all before it starts new ones, so
    that no two model versions ever answer at the same time."""
    max_surge: CountOrPercent | None = None
    """Replicas above the wanted number during a rollout; 0 when not set, since a GPU pool is
    usually full."""
    max_unavailable: CountOrPercent | None = None
    """Replicas that may be missing during a rollout; 1 when not set."""


class Service(ApiType):
    """The Service in front of the replicas."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    """Kind of Service."""
    port: Annotated[int, Field(ge=1, le=65_535, json_schema_extra={"format": "int32"})] = 80
    """Port of the Service."""
