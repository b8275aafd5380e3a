"""Each way in which a pod fails shows as its own reason, with what to do about it."""

from typing import Any

import pytest

from orthrus_operator.planner.pod_problem import pod_problem


def pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "demo-1"}, "status": {"phase": "Pending", **status}}


def container(**state: Any) -> dict[str, Any]:
    return pod(containerStatuses=[{"name": "replica", "image": "image:1", "ready": False, **state}])


def unschedulable(message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return pod(conditions=[{**condition, "message": message}])


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def terminated(message: str = "", reason: str = "Error", code: int = 1) -> dict[str, Any]:
    return {"terminated": {"reason": reason, "exitCode": code, "message": message}}


CRASH_LOOP = waiting("CrashLoopBackOff", "back-off 10s restarting failed container")

CASES = {
    "no GPU": (
        unschedulable("0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: …"),
        ("NoFreeGPU", "free nvidia.com/gpu", False),
    ),
    "no MIG slice": (
        unschedulable("0/1 nodes are available: 1 Insufficient nvidia.com/mig-3g.40gb. x"),
        ("NoFreeGPU", "free nvidia.com/mig-3g.40gb for", False),
    ),
    "no memory": (
        unschedulable("0/1 nodes are available: 1 Insufficient memory."),
        ("Unschedulable", "Insufficient memory", False),
    ),
    "no claim": (
        unschedulable('persistentvolumeclaim "models" not found'),
        ("VolumeNotBound", '"models" not found', False),
    ),
    "unbound claim": (
        unschedulable("pod has unbound immediate PersistentVolumeClaims. not found"),
        ("VolumeNotBound", "unbound immediate", False),
    ),
    "pull": (
        container(state=waiting("ErrImagePull", "not found")),
        ("ImagePullFailed", "image:1", False),
    ),
    "image name": (
        container(state=waiting("InvalidImageName", "couldn't parse")),
        ("InvalidImageName", "couldn't parse", True),
    ),
    "secret": (
        container(state=waiting("CreateContainerConfigError", 'secret "hub" not found')),
        ("InvalidPodConfiguration", 'secret "hub" not found', False),
    ),
    "no model": (
        container(
            state=CRASH_LOOP,
            lastState=terminated("ModelNotFound: /models/nope has no config.json"),
        ),
        ("ModelNotFound", "/models/nope has no config.json", True),
    ),
    "flag": (
        container(state=terminated("InvalidArguments: --max-loras: adapters are not served yet")),
        ("InvalidArguments", "--max-loras", True),
    ),
    "GPU memory": (
        container(state=CRASH_LOOP, lastState=terminated("OutOfMemory: 80 GiB needed, 40 there")),
        ("OutOfMemory", "80 GiB needed", False),
    ),
    "killed": (
        container(state=CRASH_LOOP, lastState=terminated("", "OOMKilled", 137)),
        ("OutOfMemory", "spec.resources.limits.memory", False),
    ),
    "crash": (
        container(state=CRASH_LOOP, lastState=terminated("Traceback\nValueError: broken")),
        ("Crashed", "ValueError: broken", False),
    ),
    "silent crash": (
        container(state=CRASH_LOOP, lastState=terminated(code=139)),
        ("Crashed", "exit code 139", False),
    ),
    "another try": (
        container(state={"running": {}}, lastState=terminated("ModelNotFound: no config.json")),
        ("ModelNotFound", "no config.json", True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reason_message_and_whether_waiting_helps(name: str) -> None:
    failing, (reason, text, stalled) = CASES[name]
    problem = pod_problem(failing)
    assert problem is not None
    assert (problem.reason, problem.stalled) == (reason, stalled)
    assert text in problem.message
    assert "demo-1" in problem.message


def test_pull_and_back_off_say_the_same_so_that_status_is_not_rewritten() -> None:
    cause = 'rpc error: code = NotFound desc = failed to pull "image:1"'
    back_off = f'Back-off pulling image "image:1": ErrImagePull: {cause}'
    assert pod_problem(container(state=waiting("ErrImagePull", cause))) == pod_problem(
        container(state=waiting("ImagePullBackOff", back_off))
    )


@pytest.mark.parametrize(
    "fine",
    [
        pod(),
        pod(conditions=[{"type": "Ready", "status": "True"}, {"type": "PodScheduled"}]),
        container(state={"running": {}}),
        container(state=waiting("ContainerCreating")),
        {
            **container(state=CRASH_LOOP, lastState=terminated()),
            "metadata": {"name": "demo-1", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        },
        pod(phase="Failed", reason="Evicted"),
    ],
)
def test_a_pod_that_is_ready_loading_or_ending_has_no_problem(fine: dict[str, Any]) -> None:
    assert pod_problem(fine) is None
