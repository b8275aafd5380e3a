"""What replicas say of their adapters becomes counts, conditions and reasons."""

from typing import Any

import pytest

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.builders.adapters import declaration_digest
from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport
from orthrus_operator.planner.status import observed_status
from orthrus_operator.planner.world import World
from tests.orthrus_operator.making import demo

ADAPTERS = [
    {"name": "e5", "source": "hf://org/e5", "task": "embed"},
    {"name": "sql", "source": "hf://org/sql", "task": "generate"},
]
DIGESTS = {each["name"]: declaration_digest(Adapter.model_validate(each)) for each in ADAPTERS}
NOW = "2026-01-01T00:00:00Z"
BOTH = {"e5": "loaded", "sql": "loaded"}
LATER = "2026-01-02T00:00:00Z"


def replica(pod: str, **states: str) -> ReplicaReport:
    """`e5="failed: no such folder"` and the like."""
    return ReplicaReport(
        pod,
        tuple(
            AdapterReport(
                name, DIGESTS[name], *(part.strip() for part in state.partition(":")[::2])
            )
            for name, state in states.items()
        ),
    )


def deployment(ready: int = 2, replicas: int = 2) -> dict[str, Any]:
    return {
        "metadata": {"name": "demo", "generation": 1},
        "status": {
            "observedGeneration": 1,
            "replicas": replicas,
            "updatedReplicas": replicas,
            "readyReplicas": ready,
        },
    }


def status(*reports: ReplicaReport, ready: int = 2, replicas: int = 2) -> dict[str, Any]:
    orthrus = demo(replicas=replicas, adapters=ADAPTERS)
    world = World(deployment(ready, replicas), (), reports=reports)
    return observed_status(orthrus, world, {}, NOW)


def conditions(found: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: f"{each['status']} {each['reason']}" for each in found["conditions"]}


def test_all_loaded_everywhere() -> None:
    found = status(replica("a", **BOTH), replica("b", **BOTH))
    assert found["adaptersReady"] == "2/2"
    assert [each["ready"] for each in found["adapters"]] == ["2/2", "2/2"]
    assert conditions(found)["AdaptersReady"] == "True AdaptersLoaded"
    assert conditions(found)["Ready"] == "True ReplicasReady"


@pytest.mark.parametrize("second", [{"e5": "loaded"}, {"e5": "loaded", "sql": "loading"}])
def test_an_adapter_that_one_replica_lacks_is_on_its_way(second: dict[str, str]) -> None:
    found = status(replica("a", **BOTH), replica("b", **second))
    assert found["adaptersReady"] == "1/2"
    assert [each["ready"] for each in found["adapters"]] == ["2/2", "1/2"]
    assert conditions(found)["AdaptersReady"] == "False AdaptersLoading"
    assert conditions(found)["Ready"] == "False AdaptersLoading"
    assert conditions(found)["Available"] == "True ReplicasReady"


def test_an_adapter_that_fails_is_told_and_the_model_serves() -> None:
    bad = "failed: hf://org/sql does not exist"
    found = status(replica("a", **BOTH), replica("b", e5="loaded", sql=bad))
    assert conditions(found)["AdaptersReady"] == "False AdapterFailed"
    assert conditions(found)["Stalled"] == "True AdapterFailed"
    assert conditions(found)["Available"] == "True ReplicasReady"
    assert found["adapters"][1]["message"] == "b: hf://org/sql does not exist"
    assert "sql in pod b: hf://org/sql does not exist" in found["conditions"][0]["message"]


def test_a_replica_that_does_not_answer_makes_it_unknown_but_not_unready() -> None:
    found = status(replica("a", **BOTH), ReplicaReport("b", None))
    assert conditions(found)["AdaptersReady"] == "Unknown NotObserved"
    assert conditions(found)["Ready"] == "True ReplicasReady"


@pytest.mark.parametrize("change", [{"source": "hf://org/e5@v2"}, {"pooling": "last"}])
def test_what_is_said_of_an_earlier_entry_counts_for_nothing(change: dict[str, str]) -> None:
    """Until the kubelet has brought the file, replicas speak of what they had before."""
    orthrus = demo(replicas=2, adapters=[ADAPTERS[0] | change, ADAPTERS[1]])
    for state in ("loaded", "failed: its rank is 64"):
        reports = (replica("a", e5=state, sql="loaded"), replica("b", e5=state, sql="loaded"))
        found = observed_status(orthrus, World(deployment(), (), reports=reports), {}, NOW)
        assert [each["ready"] for each in found["adapters"]] == ["0/2", "2/2"]
        assert conditions(found)["AdaptersReady"] == "False AdaptersLoading"
        assert found["adapters"][0]["message"] == ""


@pytest.mark.parametrize(
    "reports",
    [
        (replica("a", **BOTH), replica("b", **BOTH)),
        (replica("a", **BOTH), replica("b", e5="loaded", sql="loading")),
        (replica("a", **BOTH), replica("b", e5="loaded", sql="failed: its rank is 64")),
        (replica("a", **BOTH), ReplicaReport("b")),
    ],
)
def test_an_operator_that_has_not_asked_yet_leaves_all_as_it_was(
    reports: tuple[ReplicaReport, ...],
) -> None:
    before = status(*reports)
    world = World(deployment(), (), reports=None)
    orthrus = demo(replicas=2, adapters=ADAPTERS)
    assert observed_status(orthrus, world, before, LATER) == before


def test_what_was_told_of_an_earlier_spec_is_not_kept() -> None:
    before = status(replica("a", **BOTH), replica("b", **BOTH)) | {"observedGeneration": 0}
    world = World(deployment(), (), reports=None)
    for previous in (before, {}):
        found = observed_status(demo(replicas=2, adapters=ADAPTERS), world, previous, LATER)
        assert conditions(found)["AdaptersReady"] == "False AdaptersLoading"
        assert [each["ready"] for each in found["adapters"]] == ["0/2", "0/2"]


def test_a_replica_that_became_ready_just_now_is_taken_for_the_others() -> None:
    """Its own readiness waited for its adapters."""
    found = status(replica("a", **BOTH))
    assert conditions(found)["AdaptersReady"] == "True AdaptersLoaded"
    assert [each["ready"] for each in found["adapters"]] == ["1/2", "1/2"]


def test_without_a_ready_replica_no_adapter_is_ready() -> None:
    found = status(ready=0)
    assert found["adaptersReady"] == "0/2"
    assert conditions(found)["AdaptersReady"] == "False NoReplicaReady"
    assert conditions(status(ready=0, replicas=0))["AdaptersReady"] == "False ScaledToZero"


def test_without_adapters_nothing_is_counted() -> None:
    found = observed_status(demo(), World(None, ()), {}, NOW)
    assert conditions(found)["AdaptersReady"] == "True NoAdapters"
    assert "adapters" not in found
    assert "adaptersReady" not in found
