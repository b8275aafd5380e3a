"""What a replica is doing: loading, serving, about to leave or draining."""

from collections.abc import Callable
from enum import Enum

from starlette.types import ASGIApp

from orthrus_serving.engine.models_report import AdapterState, ModelsReport
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
        self._leaves_soon = False
        self.keys: Keys = ApiKeys()
        self.admin_keys = ApiKeys()
        self.inner: ASGIApp = unavailable(self.phase.value, LOADING_RETRY_SECONDS)
        self.models: Callable[[], ModelsReport] = ModelsReport
        self._waits_for_adapters = True

    def begin_serving(
        self,
        inner: ASGIApp,
        keys: Keys,
        admin_keys: ApiKeys | None = None,
        models: Callable[[], ModelsReport] = ModelsReport,
    ) -> None:
        """Mounts the engine's application; from now on requests are forwarded to it."""
        self.inner = inner
        self.keys = keys
        self.admin_keys = admin_keys or ApiKeys()
        self.models = models
        self.phase = Phase.LEAVING if self._leaves_soon else Phase.SERVING

    def begin_leaving(self) -> None:
        """Serves, now or once it has loaded, but asks to be sent no more."""
        self._leaves_soon = True
        if self.phase is Phase.SERVING:
            self.phase = Phase.LEAVING

    def adapters_to_wait_for(self) -> list[str]:
        """Adapters that still load, until there were none: one that is declared later takes no
        readiness away from a replica that serves."""
        if not self._waits_for_adapters:
            return []
        loading = [a.name for a in self.models().adapters if a.state is AdapterState.LOADING]
        self._waits_for_adapters = bool(loading) or self.phase is Phase.LOADING
        return loading

    def begin_draining(self) -> None:
        self.phase = Phase.DRAINING
