"""Whether the vectors of all replicas may be compared, as the status tells it."""

from typing import Any

from orthrus_operator.planner.happenings import happenings
from orthrus_operator.planner.replica_report import ReplicaReport
from orthrus_operator.planner.status import observed_status
from orthrus_operator.planner.world import World
from tests.orthrus_operator.making import demo

NOW = "2026-01-01T00:00:00Z"
TYPE = "EmbeddingSpaceConsistent"


def status(*replicas: ReplicaReport, previous: dict[str, Any] | None = None) -> dict[str, Any]:
    world = World(None, (), reports=replicas)
    return observed_status(demo(replicas=2), world, previous or {}, NOW)


def condition(found: dict[str, Any]) -> dict[str, Any] | None:
    return next((each for each in found["conditions"] if each["type"] == TYPE), None)


def replica(pod: str, **spaces: str) -> ReplicaReport:
    return ReplicaReport(pod, spaces=spaces)


def test_replicas_that_agree_have_one_space() -> None:
    found = status(replica("a", demo="1", e5="7"), replica("b", demo="1", e5="7"))
    told = condition(found)
    assert told
    assert (told["status"], told["reason"]) == ("True", "OneSpace")
    assert found["resolved"] == {"embeddingSpace": "1"}


def test_replicas_that_differ_are_named_with_what_to_do() -> None:
    found = status(replica("a", demo="1"), replica("b", demo="2"), replica("c", demo="1"))
    told = condition(found)
    assert told
    assert (told["status"], told["reason"]) == ("False", "SpacesDiffer")
    assert "demo has 1 of a, c and 2 of b" in told["message"]
    assert "spec.model.revision" in told["message"]
    assert "resolved" not in found
    # The model answers: whether vectors may be compared is another question.
    assert found["conditions"][0]["reason"] != "SpacesDiffer"


def test_an_adapter_that_some_still_load_is_no_difference() -> None:
    told = condition(status(replica("a", demo="1", e5="7"), replica("b", demo="1")))
    assert told
    assert told["status"] == "True"
    told = condition(status(replica("a", demo="1", e5="7"), replica("b", demo="1", e5="8")))
    assert told
    assert "e5 has 7 of a and 8 of b" in told["message"]


def test_while_no_replica_has_told_there_is_no_condition() -> None:
    assert condition(status()) is None
    assert condition(status(replica("a"))) is None
    assert "resolved" not in status()


def test_an_operator_that_has_not_looked_yet_leaves_it_as_it_was() -> None:
    before = status(replica("a", demo="1"), replica("b", demo="2"))
    world = World(None, (), reports=None)
    assert observed_status(demo(replicas=2), world, before, "2026-01-02T00:00:00Z") == before
    agreed = status(replica("a", demo="1"))
    assert observed_status(demo(replicas=2), world, agreed, NOW) == agreed


def test_a_difference_and_its_end_are_events() -> None:
    one, two = (
        status(replica("a", demo="1")),
        status(replica("a", demo="1"), replica("b", demo="2")),
    )
    (began,) = happenings(one, two)
    assert (began.type, began.reason) == ("Warning", "SpacesDiffer")
    (ended,) = happenings(two, one)
    assert (ended.type, ended.reason) == ("Normal", "OneSpace")
    assert happenings(status(), one) == ()
