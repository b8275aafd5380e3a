"""The Deployment: strategy, deadlines, selector."""

import pytest

from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.probes import STARTUP_SECONDS
from tests.orthrus_operator.making import demo


def test_a_full_gpu_pool_is_the_default() -> None:
    strategy = deployment(demo(), "image:1")["spec"]["strategy"]
    assert strategy == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
    }


@pytest.mark.parametrize(
    ("rollout", "strategy"),
    [
        (
            {"maxSurge": "25%", "maxUnavailable": 0},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
        ),
        ({"strategy": "Recreate"}, {"type": "Recreate"}),
    ],
)
def test_rollout(rollout: dict[str, object], strategy: dict[str, object]) -> None:
    assert deployment(demo(rollout=rollout), "image:1")["spec"]["strategy"] == strategy


def test_a_slow_start_after_a_long_drain_is_still_progress() -> None:
    spec = deployment(demo(drainSeconds=3600), "image:1")["spec"]
    grace = spec["template"]["spec"]["terminationGracePeriodSeconds"]
    assert spec["progressDeadlineSeconds"] > grace + STARTUP_SECONDS


def test_the_selector_matches_the_pods() -> None:
    spec = deployment(demo(), "image:1")["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()


def test_the_replica_count_is_the_specs_own() -> None:
    assert deployment(demo(replicas=0), "image:1")["spec"]["replicas"] == 0
    assert deployment(demo(replicas=5), "image:1")["spec"]["replicas"] == 5
