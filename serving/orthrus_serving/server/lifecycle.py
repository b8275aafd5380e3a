"""What a replica is doing: loading, serving or draining."""

from enum import Enum

from starlette.types import ASGIApp

from orthrus_serving.server.api_key import ApiKeys, Keys
from orthrus_serving.server.errors import LOADING_RETRY_SECONDS, unavailable


class Phase(Enum):
    """The value is the reason that /ready gives."""

    LOADING = "loading weights"
    SERVING = "serving"
    DRAINING = "draining"


class Lifecycle:
    """Moves one way: LOADING, SERVING, DRAINING."""

    def __init__(self) -> None:
        self.phase = Phase.LOADING
        self.keys: Keys = ApiKeys()
        self.inner: ASGIApp = unavailable(self.phase.value, LOADING_RETRY_SECONDS)

    def begin_serving(self, inner: ASGIApp, keys: Keys) -> None:
        """Mounts the engine's application; from now on requests are forwarded to it."""
        self.inner = inner
        self.keys = keys
        self.phase = Phase.SERVING

    def begin_draining(self) -> None:
        self.phase = Phase.DRAINING
