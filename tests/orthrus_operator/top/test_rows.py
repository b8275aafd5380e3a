"""What is shown is what happened between two looks."""

import json

import pytest

from orthrus_operator.top.columns import COLUMNS, UNKNOWN, lines, problems
from orthrus_operator.top.rows import Latency, as_json, rows
from tests.orthrus_operator.top.making import exposition, observation, orthrus


def test_a_deployment_is_the_sum_of_its_replicas() -> None:
    before = observation(
        a=exposition(embedding=1000, decode=1000, fast=1), b=exposition(embedding=50, fast=4)
    )
    now = observation(
        a=exposition(embedding=1300, decode=1000, backlog=700, busy=1.0, fast=11),
        b=exposition(embedding=50, decode=100, backlog=40, busy=0.5, fast=4),
    )
    (row,) = rows(before, now)
    figures = row.figures
    assert (row.namespace, row.name, row.ready) == ("models", "chat", "2/2")
    assert figures.mix_ratio == pytest.approx(300 / 400)
    assert figures.batch_fill_ratio == pytest.approx(0.5)
    assert figures.busy_ratio == pytest.approx(0.75)
    assert figures.backlog_tokens == {"embedding": 740, "generation": 0}
    assert figures.kv_cache_usage_ratio == 0.25
    # Two models, ten requests each, all of them of the first replica.
    latency = figures.request_seconds["embedding"]
    assert latency.p50 == pytest.approx(0.05)
    assert latency.p99 == pytest.approx(0.099)
    first, second = row.replicas
    assert first.figures.mix_ratio == 1.0
    assert second.figures.mix_ratio == 0.0
    assert second.figures.request_seconds["embedding"] == Latency(None, None)


def test_a_replica_that_says_nothing_is_named_and_counts_for_nothing() -> None:
    before = observation(a=exposition(decode=1), b="", c="")
    now = observation(a=exposition(decode=9), b="", c="no answer (503)")
    (row,) = rows(before, now)
    assert row.figures.mix_ratio == 0.0
    assert [replica.ready for replica in row.replicas] == [True, False, True]
    assert problems([row]) == ["models/chat-c: no answer (503)"]
    silent = list(lines([row]))[2]
    assert silent == ("  chat-b", "no", *[UNKNOWN] * (len(COLUMNS) - 2))


def test_what_began_since_the_first_look_has_no_mix_yet() -> None:
    (row,) = rows(observation(a=""), observation(a=exposition(embedding=8)))
    assert row.figures.mix_ratio is None
    assert row.figures.busy_ratio == 0.5


def test_lines_have_a_cell_for_each_column() -> None:
    found = rows(observation(a=exposition()), observation(a=exposition(backlog=12_345, decode=4)))
    deployment, replica = lines(found)
    assert dict(zip(COLUMNS, deployment, strict=True)) | {"NAME": "", "READY": ""} == dict(
        zip(COLUMNS, replica, strict=True)
    ) | {"NAME": "", "READY": ""}
    cells = dict(zip(COLUMNS, deployment, strict=True))
    assert cells["BACKLOG EMBED"] == "12,345"
    assert (cells["MIX"], cells["BUSY"], cells["GPU"]) == ("0%", "50%", UNKNOWN)
    assert len(list(lines(found, replicas=False))) == 1


def test_json_has_every_figure() -> None:
    found = rows(observation(a=exposition()), observation(a=exposition(embedding=4, fast=2)))
    (deployment,) = json.loads(json.dumps(as_json(found, 5.0)))["deployments"]
    assert deployment["figures"]["mix_ratio"] == 1.0
    assert deployment["figures"]["request_seconds"]["embedding"]["p50"] == pytest.approx(0.05)
    assert deployment["replicas"][0]["name"] == "chat-a"


def test_an_object_that_no_operator_has_seen_has_no_replica_ready() -> None:
    new = observation()
    unseen = {**orthrus(), "status": {}}
    (row,) = rows(new, type(new)((unseen,), (), {}))
    assert row.ready == "0/2"
