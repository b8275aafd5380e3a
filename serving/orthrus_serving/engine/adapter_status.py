"""What a replica says about its adapters, in values that need no vLLM."""

from dataclasses import dataclass
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
    state: AdapterState
    serves: bool
    """Requests for it are answered; a version before a failed one still may."""
    message: str = ""
    """Why it failed, in one sentence; empty otherwise."""


@dataclass(frozen=True)
class AdaptersReport:
    """All of them at one moment."""

    adapters: tuple[AdapterStatus, ...] = ()
    file_is_valid: bool = True
    """False while the newest content of the adapters file is refused."""
