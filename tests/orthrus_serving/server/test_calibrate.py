"""`orthrus sim calibrate` against a real replica."""

import json
from pathlib import Path

import pytest

from orthrus_serving.cli.sim.commands import sim
from tests.orthrus_serving.server.replica_process import ReplicaProcess

pytestmark = [pytest.mark.engine, pytest.mark.long]


def test_measured_steps_predict_those_that_were_held_out(
    replica: ReplicaProcess, tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    assert sim(["calibrate", replica.url, "--seconds", "48", "--output", str(found)]) == 0
    measured = json.loads(found.read_text())
    assert measured["simulated"] is False
    cost, held_out = measured["results"]["cost"], measured["results"]["held_out"]["anything"]
    assert cost["chunk_token"] > 0
    assert held_out["windows"] >= 10
    assert held_out["median"] < 0.5
    assert abs(held_out["total"]) < 0.3
