"""The life of adapters in a real replica; it goes on where the whole path ends, in order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.conftest import Installation
from e2e.installation import OPERATOR
from e2e.kubectl import Kubectl
from e2e.questions import cosine
from e2e.readiness import is_observed
from e2e.sample import NAME, OF_REPLICA, apply_sample, service_url, state, wait_available
from e2e.sample_adapters import SampleAdapters
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

NOTES, SQL, BROKEN = "notes", "sql", "broken"
TEXT = "A cat sleeps on the sofa."
SAME, DIFFERENT = 0.9999, 0.999
"""Cosine similarities: at least, and at most."""


@pytest.fixture
def kubectl(installation: Installation) -> Kubectl:
    return installation.kubectl


@pytest.fixture
def http(
    installation: Installation, kubectl: Kubectl, model: Path, adapters: SampleAdapters
) -> Iterator[httpx.Client]:
    """A client of the sample, which has had the first adapter from its start."""
    if not kubectl.get("orth", NAME):
        apply_sample(kubectl, model, {"adapters": [adapters.entry(NOTES, 1, "embed")]})
    wait_available(kubectl, within=600)
    with (
        service_url(installation.cluster, kubectl) as url,
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        yield http


def vector(http: httpx.Client, name: str) -> list[float]:
    answer = http.post("/v1/embeddings", json={"model": name, "input": TEXT})
    found: list[float] = answer.raise_for_status().json()["data"][0]["embedding"]
    return found


def status_of_a_completion(http: httpx.Client, name: str) -> int:
    body = {"model": name, "prompt": TEXT, "max_tokens": 4}
    return http.post("/v1/completions", json=body).status_code


def declare(kubectl: Kubectl, *entries: dict[str, Any]) -> None:
    patch = json.dumps({"spec": {"adapters": entries}})
    kubectl("patch", "orth", NAME, "--type=merge", "-p", patch)


def wait_for_adapters(kubectl: Kubectl, expected: str) -> str:
    """Until AdaptersReady of the present spec begins like this; all that it says."""

    def seen() -> str:
        if not is_observed(kubectl.get("orth", NAME) or {"metadata": {"generation": 0}}):
            return "not observed"
        return state(kubectl)["AdaptersReady"]

    return wait_until("adapters", seen, lambda said: said.startswith(expected), within=240)


def container(kubectl: Kubectl) -> tuple[str, int]:
    """Name of the only pod, and how often its container was started again."""
    (pod,) = kubectl.list("pods", OF_REPLICA)
    (started,) = pod["status"]["containerStatuses"]
    return pod["metadata"]["name"], started["restartCount"]


def test_an_adapter_serves_beside_the_model(kubectl: Kubectl, http: httpx.Client) -> None:
    wait_for_adapters(kubectl, "True AdaptersLoaded")
    assert cosine(vector(http, NOTES), vector(http, NAME)) < DIFFERENT
    assert status_of_a_completion(http, NOTES) == 400


def test_adapters_come_and_change_without_a_restart_and_a_broken_one_harms_nobody(
    kubectl: Kubectl, http: httpx.Client, adapters: SampleAdapters
) -> None:
    before = container(kubectl)
    first, backbone = vector(http, NOTES), vector(http, NAME)
    declare(
        kubectl,
        adapters.entry(NOTES, 2, "embed"),
        adapters.entry(SQL, 3, "generate"),
        adapters.missing(BROKEN, "generate"),
    )
    said = wait_for_adapters(kubectl, "False AdapterFailed")
    assert f"{BROKEN} in pod {before[0]}: " in said
    assert "is not there" in said
    assert state(kubectl)["Available"].startswith("True")
    counts = {
        each["name"]: each["ready"]
        for each in (kubectl.get("orth", NAME) or {})["status"]["adapters"]
    }
    assert counts == {NOTES: "1/1", SQL: "1/1", BROKEN: "0/1"}
    assert cosine(vector(http, NOTES), first) < DIFFERENT
    assert cosine(vector(http, NAME), backbone) > SAME
    assert status_of_a_completion(http, SQL) == 200
    assert status_of_a_completion(http, BROKEN) == 503
    assert container(kubectl) == before


@pytest.mark.long
def test_a_container_that_starts_again_has_them_with_no_operator_about(
    kubectl: Kubectl, http: httpx.Client
) -> None:
    pod, starts = container(kubectl)
    before = vector(http, NOTES)
    kubectl("scale", "deployment", f"--selector={OPERATOR}", "--replicas=0")
    wait_until("no operator", lambda: kubectl.list("pods", OPERATOR), lambda p: not p, within=60)
    kubectl("exec", pod, "--", "python", "-c", "import os; os.kill(1, 15)")
    wait_until(
        "another start",
        lambda: container(kubectl),
        lambda seen: seen == (pod, starts + 1),
        within=60,
    )
    kubectl("wait", "pod", pod, "--for=condition=Ready", "--timeout=300s")
    assert cosine(vector(http, NOTES), before) > SAME
    assert status_of_a_completion(http, SQL) == 200
    assert status_of_a_completion(http, NAME) == 200


def test_adapters_go_without_a_restart(
    kubectl: Kubectl, http: httpx.Client, adapters: SampleAdapters
) -> None:
    before = container(kubectl)
    kubectl("scale", "deployment", f"--selector={OPERATOR}", "--replicas=1")
    declare(kubectl, adapters.entry(NOTES, 2, "embed"))
    wait_for_adapters(kubectl, "True AdaptersLoaded")
    wait_until(
        "its end",
        lambda: status_of_a_completion(http, SQL),
        lambda status: status == 404,
        within=90,
    )
    assert state(kubectl)["Ready"].startswith("True")
    assert vector(http, NOTES)
    assert container(kubectl) == before
