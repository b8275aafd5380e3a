"""The Deployment: strategy, deadlines, selector."""

import pytest

from orthrus_operator.builders.deployment import deployment
from orthrus_operator.builders.probes import STARTUP_SECONDS


def test_a_full_gpu_pool_is_the_default(make) -> None:
    strategy = deployment(make(), "image:1")["spec"]["strategy"]
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
def test_rollout(make, rollout: dict[str, object], strategy: dict[str, object]) -> None:
    assert deployment(make(rollout=rollout), "image:1")["spec"]["strategy"] == strategy


def test_a_slow_start_after_a_long_drain_is_still_progress(make) -> None:
    spec = deployment(make(drainSeconds=3600), "image:1")["spec"]
    grace = spec["template"]["spec"]["terminationGracePeriodSeconds"]
    assert spec["progressDeadlineSeconds"] > grace + STARTUP_SECONDS


def test_the_selector_matches_the_pods(make) -> None:
    spec = deployment(make(), "image:1")["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()


def test_the_replica_count_is_the_specs_own(make) -> None:
    assert deployment(make(replicas=0), "image:1")["spec"]["replicas"] == 0
    assert deployment(make(replicas=5), "image:1")["spec"]["replicas"] == 5
