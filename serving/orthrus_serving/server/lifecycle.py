"""What a replica is doing: loading, serving, about to leave or draining."""

from enum import Enum

from starlette.types import ASGIApp

from orthrus_serving.server.api_key import ApiKeys, Keys
from orthrus_serving.server.errors import LOADING_RETRY_SECONDS, unavailable


class Phase(Enum):
    """The value is the reason that /ready gives."""

    LOADING = "loading weights"
    SERVING = "serving"
    LEAVING = "about to be stopped"
    DRAINING = "draining"


class Lifecycle:
    """Moves one way: LOADING, SERVING, LEAVING (may be left out), DRAINING."""

    def __init__(self) -> None:
        self.phase = Phase.LOADING
        self.keys: Keys = ApiKeys()
        self.inner: ASGIApp = unavailable(self.phase.value, LOADING_RETRY_SECONDS)

    def begin_serving(self, inner: ASGIApp, keys: Keys) -> None:
        """Mounts the engine's application; from now on requests are forwarded to it."""
        self.inner = inner
        self.keys = keys
        self.phase = Phase.SERVING

    def begin_leaving(self) -> None:
        """Still serves, but asks to be sent no more; means nothing in another phase."""
        if self.phase is Phase.SERVING:
            self.phase = Phase.LEAVING

    def begin_draining(self) -> None:
        self.phase = Phase.DRAINING
