"""Every route a replica answers; anything else is 404, whatever vLLM would show."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

HEALTH = "/health"
READY = "/ready"
METRICS = "/metrics"


@dataclass(frozen=True)
class Route:
    method: str
    is_work: bool
    """Needs the API key, and is refused while draining."""
    task: Literal["embedding", "generation"] | None = None
    """What its requests are counted as; None: they are not."""
    is_admin: bool = False
    """Needs an admin key instead, and is not there when none is set."""


ROUTES: Mapping[str, Route] = MappingProxyType(
    {
        "/v1/chat/completions": Route("POST", is_work=True, task="generation"),
        "/v1/completions": Route("POST", is_work=True, task="generation"),
        "/v1/embeddings": Route("POST", is_work=True, task="embedding"),
        "/v1/models": Route("GET", is_work=True),
        "/tokenize": Route("POST", is_work=True),
        "/v1/load_lora_adapter": Route("POST", is_work=True, is_admin=True),
        "/v1/unload_lora_adapter": Route("POST", is_work=True, is_admin=True),
        HEALTH: Route("GET", is_work=False),
        READY: Route("GET", is_work=False),
        METRICS: Route("GET", is_work=False),
    }
)
