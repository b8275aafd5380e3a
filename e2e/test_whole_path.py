"""The whole path with real parts: chart, operator, kubelet, vLLM, SmolLM2, the openai client.

The tests run in order on one installation and one OrthrusDeployment: each starts from the state
that the one before it left.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import REPLICAS, Installation
from e2e.installation import OPERATOR
from e2e.kubectl import Kubectl, KubectlError
from e2e.operator_look import wait_for_a_look
from e2e.questions import Answers, ask
from e2e.replica_metrics import metric
from e2e.sample import NAME, OF_REPLICA, apply_sample, service_url, state, wait_available
from e2e.sample_adapters import SampleAdapters
from e2e.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
POD_GRACE = 10 + 120 + 30


@pytest.fixture
def kubectl(installation: Installation) -> Kubectl:
    return installation.kubectl


def replica_pods(kubectl: Kubectl) -> list[dict[str, Any]]:
    return kubectl.list("pods", f"{REPLICAS},app.kubernetes.io/instance={NAME}")


def starts(kubectl: Kubectl) -> dict[str, int]:
    """Restart count by pod uid: equal before and after means that no replica was disturbed."""
    return {
        pod["metadata"]["uid"]: pod["status"]["containerStatuses"][0]["restartCount"]
        for pod in replica_pods(kubectl)
    }


def test_a_wrong_object_is_refused_with_a_sentence(kubectl: Kubectl) -> None:
    wrong = {
        "apiVersion": "serving.orthrus.io/v1alpha1",
        "kind": "OrthrusDeployment",
        "metadata": {"name": "wrong"},
        "spec": {
            "model": {"source": "hf://org/model"},
            "scheduling": {"maxBatchedTokens": 256, "embeddingChunkTokens": 512},
        },
    }
    with pytest.raises(KubectlError, match="embeddingChunkTokens must be at most"):
        kubectl.apply(wrong)


def test_the_sample_becomes_available(kubectl: Kubectl, model: Path) -> None:
    apply_sample(kubectl, model)
    wait_available(kubectl, within=600)
    wait_until(
        "Ready by kstatus",
        lambda: state(kubectl),
        lambda seen: seen["Ready"].startswith("True") and seen["Stalled"].startswith("False"),
        within=30,
    )


def test_kubectl_get_shows_what_a_person_asks_first(kubectl: Kubectl) -> None:
    header, row = kubectl("get", "orth", NAME).splitlines()
    assert header.split() == ["NAME", "MODEL", "READY", "ADAPTERS", "POLICY", "AVAILABLE", "AGE"]
    assert row.split()[2:5] == ["1/1", "ibs", "True"]


def test_both_tasks_are_answered_in_the_same_steps(
    installation: Installation, kubectl: Kubectl
) -> None:
    with service_url(installation.cluster, kubectl) as url:
        answers: Answers = asyncio.run(ask(url, NAME))
        mixed = wait_until(
            "a step that held both tasks",
            lambda: metric(url, "orthrus_steps_total", kind="mixed"),
            lambda steps: steps > 0,
            within=30,
        )
    assert "Paris" in answers.answer
    assert answers.related > answers.unrelated
    assert mixed > 0


def test_orthrus_top_shows_the_replica(installation: Installation, kubectl: Kubectl) -> None:
    orthrus = str(Path(sys.executable).parent / "orthrus")
    command = [orthrus, "top", "--output=json", "--window=4"]
    environment = os.environ | {"KUBECONFIG": str(kubectl.kubeconfig)}
    with (
        service_url(installation.cluster, kubectl) as url,
        subprocess.Popen(
            [*command, f"--namespace={kubectl.namespace}"], env=environment, stdout=subprocess.PIPE
        ) as top,
    ):
        while top.poll() is None:  # both of its looks are into a load
            asyncio.run(ask(url, NAME))
        seen = json.loads(top.communicate()[0])
    assert top.returncode == 0
    (deployment,) = [each for each in seen["deployments"] if each["name"] == NAME]
    assert deployment["ready"] == "1/1"
    assert deployment["figures"]["busy_ratio"] > 0
    assert deployment["figures"]["backlog_tokens"].keys() == {"embedding", "generation"}
    (replica,) = deployment["replicas"]
    assert replica["ready"]
    assert replica["problem"] == ""
    assert replica["figures"]["kv_cache_usage_ratio"] is not None


def test_restarting_the_operator_leaves_the_replicas_alone(kubectl: Kubectl) -> None:
    before = starts(kubectl)
    kubectl("rollout", "restart", "deployment", f"--selector={OPERATOR}")
    kubectl("rollout", "status", "deployment", f"--selector={OPERATOR}")
    wait_for_a_look(kubectl, NAME)
    assert starts(kubectl) == before


def test_upgrading_only_the_operator_leaves_the_replicas_alone(
    installation: Installation, kubectl: Kubectl
) -> None:
    before = starts(kubectl)
    generation = deployment_generation(kubectl)
    installation.install(operator=installation.operator_under_another_tag())
    wait_for_a_look(kubectl, NAME)
    assert starts(kubectl) == before
    assert deployment_generation(kubectl) == generation


def deployment_generation(kubectl: Kubectl) -> int:
    deployment = kubectl.get("deployment", NAME)
    assert deployment is not None
    generation: int = deployment["metadata"]["generation"]
    return generation


def test_the_scale_subresource_adds_a_replica_and_takes_it_back(kubectl: Kubectl) -> None:
    """That added ones serve is shown where they are needed: under autoscaling, in a rollout."""
    assert replicas_after_scaling(kubectl, 2) == "2"
    assert replicas_after_scaling(kubectl, 1) == "1"


def replicas_after_scaling(kubectl: Kubectl, count: int) -> str:
    """What the scale subresource says once there are so many pods."""
    kubectl("scale", "orth", NAME, f"--replicas={count}")
    wait_until(
        f"{count} pods",
        lambda: (
            (kubectl.get("orth", NAME) or {}).get("status", {}).get("replicas"),
            len(kubectl.list("pods", OF_REPLICA)),
        ),
        lambda seen: seen == (count, count),
        within=120,
    )
    path = "jsonpath={.status.replicas}"
    return kubectl("get", "orth", NAME, "--subresource=scale", "-o", path)


def test_a_model_that_does_not_exist_is_reported_with_the_reason(kubectl: Kubectl) -> None:
    missing = kubectl.get("orth", NAME)
    assert missing is not None
    source = missing["spec"]["model"]["source"].rsplit("/", 1)[0] + "/no-such-model"
    kubectl.apply(
        {
            "apiVersion": missing["apiVersion"],
            "kind": missing["kind"],
            "metadata": {"name": "missing"},
            "spec": {**missing["spec"], "replicas": 1, "model": {"source": source}},
        }
    )
    wait_until(
        "the reason in a condition",
        lambda: state(kubectl, "missing"),
        lambda seen: "ModelNotFound" in seen.get("Ready", ""),
        within=400,
    )
    kubectl("delete", "orth", "missing", "--wait=false")


def test_delete_removes_every_child_and_apply_brings_them_back(
    kubectl: Kubectl, model: Path, adapters: SampleAdapters
) -> None:
    kubectl("delete", "orth", NAME)
    kinds = "pods,deployments,replicasets,services,serviceaccounts,poddisruptionbudgets"
    wait_until(
        "no child left",
        lambda: [
            f"{child['kind']}/{child['metadata']['name']}"
            for child in kubectl.list(kinds, f"{REPLICAS},app.kubernetes.io/instance={NAME}")
        ],
        lambda children: not children,
        within=POD_GRACE + 10,
    )
    # With an adapter from the start, since the first one replaces the pods.
    apply_sample(kubectl, model, {"adapters": [adapters.entry("notes", 1, "embed")]})
    wait_available(kubectl, within=600)
