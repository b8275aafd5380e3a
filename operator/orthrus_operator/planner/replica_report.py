"""What replicas say of themselves, besides their load."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class AdapterReport:
    """One adapter in one replica."""

    name: str
    declaration: str
    """Digest of the entry that it is about."""
    state: str
    """loading, loaded or failed."""
    message: str = ""


@dataclass(frozen=True)
class ReplicaReport:
    """What one ready replica said last."""

    pod: str
    adapters: tuple[AdapterReport, ...] | None = None
    """None when it never answered that."""
    spaces: Mapping[str, str] = field(default_factory=dict)
    """Identifier of the space of its vectors by the name of each model that embeds, as far as it
    has told."""
