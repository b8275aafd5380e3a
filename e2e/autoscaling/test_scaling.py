"""Scaling on backlog with real parts: Prometheus, prometheus-adapter, KEDA, the HPA controller.

One run is played, and the tests say what must have happened in it. The long runs wait until the
replicas that were added serve: each has half a core, so that more of them compute more. The plot
of each run is kept under `$ORTHRUS_CACHE/autoscaling/`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from e2e.autoscaling.conftest import Apply
from e2e.autoscaling.story import Form, Play, Story
from e2e.cache import cache_dir
from e2e.conftest import Installation
from e2e.monitoring.generated import ROOT
from e2e.monitoring.keda import Keda
from e2e.monitoring.parts import Monitoring
from e2e.sample import NAME
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(2400)]
HALF_A_CORE = {
    "resources": {
        "requests": {"cpu": "200m", "memory": "3Gi"},
        "limits": {"cpu": "500m", "memory": "4Gi"},
    },
    # Small steps: at half a core one of the usual size takes half a minute.
    "scheduling": {"maxBatchedTokens": 256, "maxSequences": 64},
    "engineArgs": {"dtype": "float32", "enforce-eager": "true", "max-connection-age": "20"},
}
OPERATOR = "orthrus-operator"
HPA_CONTROLLER = "kube-controller-manager"


@dataclass(frozen=True)
class Run:
    """One form, under one autoscaler."""

    name: str
    form: Form
    backend: str | None
    """Of `spec.autoscaling`; None for an HPA that a user wrote."""


def hand_written_hpa(form: Form) -> dict[str, Any]:
    """The sample, for our object, and in a hurry on the way down."""
    samples = ROOT / "manifests" / "samples" / "autoscaling"
    hpa: dict[str, Any] = yaml.safe_load((samples / "hpa.yaml").read_text())
    hpa["metadata"]["name"] = NAME
    hpa["spec"]["scaleTargetRef"]["name"] = NAME
    hpa["spec"]["maxReplicas"] = form.replicas + 1
    hpa["spec"]["metrics"][0]["pods"]["target"]["averageValue"] = str(form.target)
    hpa["spec"]["behavior"]["scaleDown"] = {
        "stabilizationWindowSeconds": 60,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 15}],
    }
    return hpa


def autoscaling(run: Run) -> dict[str, Any]:
    """Fields of the spec."""
    return {
        # At half a core a replica takes minutes to work off what it holds.
        "drainSeconds": 600,
        "autoscaling": {
            "maxReplicas": run.form.replicas + 1,
            "backlogTokensPerReplica": run.form.target,
            "scaleDownDelaySeconds": 60,
            "backend": run.backend,
        },
    }


@pytest.fixture(scope="module")
def keda(installation: Installation, monitoring: Monitoring) -> Iterator[None]:
    """KEDA, and an operator that knows which Prometheus it should ask."""
    parts = Keda(installation.cluster)
    parts.start()
    settings = {"prometheus.url": monitoring.prometheus.url}
    installation.install(operator=installation.operator, settings=settings)
    yield
    parts.stop()


SHORT = Run("short", Form(replicas=2, target=4_000, outage_seconds=40), None)
HPA = Run("hpa", Form(3, 5_000, 120, until_loaded=True), "hpa")
KEDA = Run("keda", Form(3, 5_000, 120, until_loaded=True), "keda")


def of(*runs: Run) -> pytest.MarkDecorator:
    """A test of each of `runs`; those whose new replicas serve are too long for CI."""
    marked = [
        pytest.param(run, marks=[pytest.mark.long] if run.form.until_loaded else [], id=run.name)
        for run in runs
    ]
    return pytest.mark.parametrize("run", marked, indirect=True, scope="module")


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


@pytest.fixture(scope="module")
def story(
    installation: Installation,
    monitoring: Monitoring,
    replica: Apply,
    run: Run,
    request: pytest.FixtureRequest,
) -> Iterator[Story]:
    """The run, played from one ready replica on."""
    kubectl = installation.kubectl
    if run.backend == "keda":
        request.getfixturevalue("keda")
    if run.backend:
        replica(HALF_A_CORE | autoscaling(run))
    else:
        kubectl.apply(hand_written_hpa(run.form))
    directory = cache_dir() / "autoscaling" / run.name
    directory.mkdir(parents=True, exist_ok=True)
    play = Play(installation.cluster, kubectl, monitoring)
    yield play.run(run.form, run.name, directory)
    kubectl("delete", "hpa", NAME, "--ignore-not-found")
    replica({})
    wait_until("no autoscaler", lambda: kubectl.list("hpa"), lambda left: not left, within=60)


@of(SHORT, HPA, KEDA)
def test_a_flood_of_embeddings_adds_replicas(story: Story, run: Run) -> None:
    flood = story.during("flood")
    assert flood[0].wanted == flood[0].ready == 1
    # One more was allowed, and replicas that were still loading did not call for it.
    assert max(sample.wanted for sample in story.samples) == run.form.replicas


@of(HPA, KEDA)
def test_the_replicas_that_were_added_serve_embeddings_alone(story: Story, run: Run) -> None:
    loaded = story.during("loaded")
    assert loaded[-1].ready == run.form.replicas
    assert loaded[-1].mix is not None
    assert loaded[-1].mix > 0.95


@of(HPA, KEDA)
def test_a_turn_to_generations_changes_the_mix_and_nothing_else(story: Story, run: Run) -> None:
    turned = story.during("turned")
    assert {sample.wanted for sample in turned} == {run.form.replicas}
    assert len(story.templates) == 1


@of(HPA, KEDA)
def test_new_replicas_get_requests_of_clients_with_pools_of_connections(
    story: Story, run: Run
) -> None:
    assert len(story.answered_by_pod) == run.form.replicas
    assert all(answered > 0 for answered in story.answered_by_pod.values())


@of(SHORT, HPA, KEDA)
def test_an_outage_of_prometheus_changes_no_count_and_is_shown(story: Story, run: Run) -> None:
    assert {sample.wanted for sample in story.during("outage")} == {run.form.replicas}
    assert story.blind_after is not None
    assert story.blind_shown_after is not None
    assert story.blind_shown_after - story.blind_after < 60


@of(SHORT, HPA, KEDA)
def test_the_end_of_the_load_takes_replicas_away(story: Story) -> None:
    assert story.during("end")[-1].wanted == 1


@of(SHORT, HPA, KEDA)
def test_no_request_failed_from_first_to_last(story: Story) -> None:
    assert story.failures == []
    assert story.answered > 0


@of(SHORT, HPA, KEDA)
def test_only_the_autoscaler_wrote_the_number_of_replicas(story: Story) -> None:
    assert OPERATOR in story.managers
    assert OPERATOR not in story.writes
    assert story.writes[HPA_CONTROLLER] >= 2
