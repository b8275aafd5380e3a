"""How a simulated replica is set up; names follow the flags of `orthrus serve`."""

from dataclasses import dataclass

from orthrus_serving.sim.kv_space import KvSpace


@dataclass(frozen=True)
class ReplicaSettings:
    """Raises ValueError for what the engine would refuse at start-up."""

    kv: KvSpace
    policy: str = "ibs"
    token_budget: int = 2048
    chunk_tokens: int = 512
    min_opportunities: int = 1
    sequences: int = 256
    max_inter_token_seconds: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.chunk_tokens <= self.token_budget:
            raise ValueError(
                f"the chunk is {self.chunk_tokens} tokens: it must be at least 1 and at most the "
                f"token budget ({self.token_budget})"
            )
        if self.sequences >= self.token_budget:
            raise ValueError(
                f"{self.sequences} sequences could fill every step with decodes: the number must "
                f"be below the token budget ({self.token_budget})"
            )
