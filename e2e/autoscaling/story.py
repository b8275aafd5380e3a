"""The scenario: a flood of embeddings, an outage of Prometheus, a turn to generations, an end."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from e2e.autoscaling.plot import plot
from e2e.autoscaling.record import Recorder, Sample
from e2e.autoscaling.writers import watched
from e2e.cluster import Cluster
from e2e.kubectl import Kubectl
from e2e.load import TOKENS_IN_PROMPT, Demand, Failure, Load
from e2e.monitoring.parts import Monitoring
from e2e.replica_metrics import metric
from e2e.sample import NAME, OF_REPLICA, service_url, state
from e2e.waiting import wait_until

_IDLE = Demand(embeddings=1)
"""Asked while replicas are taken away: had one of them a request to lose, it would show."""
_LONG_SECONDS = 900.0
"""In which a new replica must be ready beside others that are at their limit, and the old one of
them must have worked off what clients sent it before."""


@dataclass(frozen=True)
class Form:
    """How long and how far a run goes."""

    replicas: int
    """As many as the flood calls for; one more is allowed."""
    target: int
    """Backlog tokens of each replica that the autoscaler aims at."""
    outage_seconds: float
    until_loaded: bool = False
    """Whether to wait for the new replicas, minutes, and have them serve both types."""

    @property
    def flood(self) -> Demand:
        """As many requests as `replicas` just suffice for, whether one or all of them serve: what
        waits is all that is under way, less a step or two of each replica."""
        return Demand(embeddings=int(self.target * (self.replicas - 0.05) / TOKENS_IN_PROMPT))

    @property
    def turned(self) -> Demand:
        return Demand(generations=self.flood.embeddings)


@dataclass
class Story:
    """What happened in one run."""

    samples: list[Sample] = field(default_factory=list)
    phases: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Begin and end of each, in the seconds of the samples."""
    failures: list[Failure] = field(default_factory=list)
    answered: int = 0
    answered_by_pod: dict[str, float] = field(default_factory=dict)
    """Requests that each replica answered, just before the load ended."""
    writes: dict[str, int] = field(default_factory=dict)
    """How often each field manager that wrote `spec.replicas` changed it."""
    managers: set[str] = field(default_factory=set)
    """Everyone who wrote to the object."""
    blind_after: float | None = None
    """Seconds of the outage after which the HPA said that it had no metric."""
    blind_shown_after: float | None = None
    """The same of the condition ScalingActive of the OrthrusDeployment."""
    templates: set[str] = field(default_factory=set)
    """Each pod template that the Deployment had from the flood to the end."""

    def during(self, phase: str) -> list[Sample]:
        begin, end = self.phases[phase]
        return [sample for sample in self.samples if begin <= sample.seconds <= end]


class Play:
    """Runs a form on an OrthrusDeployment with one ready replica and an autoscaler."""

    def __init__(self, cluster: Cluster, kubectl: Kubectl, monitoring: Monitoring) -> None:
        self._cluster = cluster
        self._kubectl = kubectl
        self._monitoring = monitoring
        self._prometheus = monitoring.prometheus

    def run(self, form: Form, title: str, directory: Path) -> Story:
        """Play it; the record and its picture go to `directory`.

        Raises:
            TimeoutError: the autoscaler did not act; the message has the state seen last.
        """
        story = Story()
        with (
            service_url(self._cluster, self._kubectl) as url,
            watched(self._kubectl, NAME, directory / "versions.json") as writers,
            Load(url, NAME) as load,
            Recorder(self._kubectl, NAME, self._prometheus, load) as recorder,
        ):
            try:
                self._act(form, load, recorder, story)
            finally:
                load.set(Demand())
                story.samples = recorder.samples
                story.failures = load.failures
                story.answered = load.answered.total()
                story.writes, story.managers = writers.of_replicas(), writers.managers()
                if story.samples:
                    outage = story.phases.get("outage", (0.0, 0.0))
                    plot(story.samples, outage, title, directory / "plot.png")
        return story

    def _act(self, form: Form, load: Load, recorder: Recorder, story: Story) -> None:
        @contextmanager
        def phase(name: str, demand: Demand) -> Iterator[None]:
            load.set(demand)
            begin = recorder.seconds
            yield
            recorder.wait_for_next()  # it shows how the phase ended
            story.phases[name] = (begin, recorder.seconds)
            story.templates.add(self._pod_template())

        with phase("flood", form.flood):
            self._wait_for_replicas(form.replicas, "wanted", within=120)
        with phase("outage", form.flood):
            # While new replicas load: what is missing then must not take them back either.
            self._outage(form, story)
        if form.until_loaded:
            with phase("loaded", form.flood):
                self._wait_for_replicas(form.replicas, "ready", within=_LONG_SECONDS)
            with phase("turned", form.turned):
                self._wait_for_mix(below=0.05)
            story.answered_by_pod = self._answered_by_pod()
        with phase("end", _IDLE):
            self._wait_for_replicas(1, "ready", within=_LONG_SECONDS)

    def _outage(self, form: Form, story: Story) -> None:
        self._monitoring.stop_prometheus()
        began = time.monotonic()
        try:
            while (passed := time.monotonic() - began) < form.outage_seconds:
                if story.blind_after is None and self._autoscaler_is_blind():
                    story.blind_after = passed
                if story.blind_shown_after is None and self._blindness_is_shown():
                    story.blind_shown_after = passed
                time.sleep(1)
        finally:
            self._monitoring.resume_prometheus()
        wait_until(
            "an autoscaler that sees",
            self._autoscaler_is_blind,
            lambda blind: not blind,
            within=180,
        )

    def _wait_for_replicas(
        self, number: int, state: Literal["wanted", "ready"], *, within: float
    ) -> None:
        """Wait until so many are wanted, or there and ready, and no others."""

        def seen() -> dict[str, Any]:
            orthrus = self._kubectl.get("orth", NAME) or {}
            status = orthrus.get("status", {})
            return {
                "wanted": orthrus.get("spec", {}).get("replicas"),
                "current": status.get("replicas"),
                "ready": status.get("readyReplicas"),
                "autoscaler": self._autoscaler().get("status", {}),
            }

        asked = ("wanted",) if state == "wanted" else ("wanted", "current", "ready")
        wait_until(
            f"{number} replicas {state}",
            seen,
            lambda now: {now[name] for name in asked} == {number},
            within=within,
            every=2,
        )

    def _wait_for_mix(self, *, below: float) -> None:
        mine = f'{{namespace="{self._kubectl.namespace}",name="{NAME}"}}'
        wait_until(
            f"a mix below {below} on every replica",
            lambda: [each.value for each in self._prometheus.query(f"orthrus_mix_ratio{mine}")],
            lambda mixes: mixes and max(mixes) < below,
            within=_LONG_SECONDS,
            every=2,
        )

    def _autoscaler(self) -> dict[str, Any]:
        found = self._kubectl.list("hpa")
        return found[0] if found else {}

    def _autoscaler_is_blind(self) -> bool:
        conditions = self._autoscaler().get("status", {}).get("conditions", [])
        return any(c["type"] == "ScalingActive" and c["status"] == "False" for c in conditions)

    def _blindness_is_shown(self) -> bool:
        return state(self._kubectl).get("ScalingActive", "").startswith("False")

    def _pod_template(self) -> str:
        deployment = self._kubectl.get("deployment", NAME)
        assert deployment is not None, "it has replicas"
        return json.dumps(deployment["spec"]["template"], sort_keys=True)

    def _answered_by_pod(self) -> dict[str, float]:
        """Asked of the pods themselves: Prometheus has just lost what it knew."""
        pods = self._kubectl.list("pods", OF_REPLICA)
        return {
            pod["metadata"]["name"]: metric(
                f"http://{pod['status']['podIP']}:8000",
                "orthrus_requests_total",
                type="generation",
                status="ok",
                model=NAME,
            )
            for pod in pods
        }
