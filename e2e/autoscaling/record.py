"""What could be seen from outside at each moment of a scenario."""

import json
import threading
import time
from dataclasses import dataclass

import httpx

from e2e.kubectl import Kubectl, KubectlError
from e2e.load import Demand, Load
from e2e.monitoring.prometheus import Prometheus
from e2e.waiting import wait_until

_PERIOD_SECONDS = 2.0


@dataclass(frozen=True)
class Sample:
    """One moment. What Prometheus says is None while it says nothing."""

    began: float
    """When it began to look, in seconds since the recording began."""
    seconds: float
    """When it had seen all."""
    demand: Demand
    answered: int
    wanted: int
    """`spec.replicas`."""
    ready: int
    backlog: dict[str, float] | None
    """Tokens by type."""
    mix: float | None


class Recorder:
    """Takes a sample every two seconds, in a thread of its own."""

    def __init__(self, kubectl: Kubectl, name: str, prometheus: Prometheus, load: Load) -> None:
        self._kubectl = kubectl
        self._name = name
        self._prometheus = prometheus
        self._load = load
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.samples: list[Sample] = []

    def __enter__(self) -> "Recorder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def wait_for_next(self) -> None:
        """Until there is a sample of which all was seen after this call."""
        began, known = self.seconds, len(self.samples)
        wait_until(
            "a sample",
            lambda: self.samples[known:],
            lambda later: any(sample.began >= began for sample in later),
            within=60,
        )

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD_SECONDS):
            try:
                self.samples.append(self._sample())
            except KubectlError:
                continue  # the API server is busy: a gap in the record

    def _sample(self) -> Sample:
        began = self.seconds
        orthrus = json.loads(self._kubectl("get", "orth", self._name, "-o", "json"))
        try:
            mine = f'{{namespace="{self._kubectl.namespace}",name="{self._name}"}}'
            tokens = self._prometheus.query(f"sum by (type) (orthrus_backlog_tokens{mine})")
            # Weighted by what each replica did in its last window.
            mix = self._prometheus.query(
                f"sum(orthrus_mix_ratio{mine} * orthrus_batch_fill_ratio{mine})"
                f" / (sum(orthrus_batch_fill_ratio{mine}) > 0)"
            )
        except httpx.HTTPError:
            tokens, mix = [], []
        return Sample(
            began=began,
            seconds=self.seconds,
            demand=self._load.demand,
            answered=self._load.answered.total(),
            wanted=orthrus["spec"]["replicas"],
            ready=orthrus.get("status", {}).get("readyReplicas", 0),
            backlog={each.labels["type"]: each.value for each in tokens} or None,
            mix=mix[0].value if mix else None,
        )
