"""Orthrus' part of the vLLM configuration, carried in `VllmConfig.additional_config["orthrus"]`.

vLLM hands `additional_config` to every process of the engine, so scheduler, worker and front end
all read the same values from there.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

CONFIG_KEY = "orthrus"


@dataclass(frozen=True)
class EngineSettings:
    """Settings of one engine; names follow the flags of `orthrus serve`."""

    embedding_pooling: str = "mean"
    """Head of the backbone: mean, weighted-mean, last or cls."""
    embedding_chunk_tokens: int = 512
    """C: most tokens that one scheduling opportunity gives, at most the token budget B."""
    batch_policy: str = "ibs"
    min_opportunities: int = 1
    """Floor: opportunities that each non-empty type gets per step; 0 is the paper's form."""
    max_inter_token_millis: float | None = None
    """While decodes run, chunks are trimmed so that a step stays under this; None: never."""

    def to_additional_config(self) -> dict[str, Any]:
        return {CONFIG_KEY: asdict(self)}

    @classmethod
    def from_additional_config(cls, config: Mapping[str, Any]) -> "EngineSettings":
        """Raises KeyError when the engine was not started by Orthrus."""
        return cls(**config[CONFIG_KEY])
