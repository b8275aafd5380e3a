"""What a replica says about what it serves, in values that need no vLLM."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class AdapterState(StrEnum):
    """Of the newest version that was asked for."""

    LOADING = "loading"
    LOADED = "loaded"
    FAILED = "failed"


@dataclass(frozen=True)
class AdapterStatus:
    """One adapter, declared in the file or loaded over HTTP."""

    name: str
    declaration: str
    """Digest of the entry that asked for the newest version."""
    state: AdapterState
    serves: bool
    """Requests for it are answered; a version before a failed one still may."""
    message: str = ""
    """Why it failed, in one sentence; empty otherwise."""


@dataclass(frozen=True)
class ModelsReport:
    """All adapters, and the vectors that come out, at one moment."""

    adapters: tuple[AdapterStatus, ...] = ()
    file_is_valid: bool = True
    """False while the newest content of the adapters file is refused."""
    embedding_spaces: Mapping[str, str] = field(default_factory=dict)
    """By each name that /v1/embeddings answers to: an identifier that two replicas share exactly
    when their vectors may be compared."""
