"""Runs an image's code the way a pod would: uid 1000, read-only root file system, no rights."""

import json
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Any

from e2e.images import buildah
from e2e.images.build import build
from e2e.images.errors import ImageError

# What must import in each image, and what must not be there.
IMPORTS = {
    "operator": ("orthrus_operator.handlers.operator", "torch"),
    "serving-cpu": (
        "vllm, vllm._C, orthrus_serving.cli.main, orthrus_serving.engine.worker",
        "kopf",
    ),
    "serving-gpu": ("vllm, orthrus_serving.cli.main, orthrus_serving.engine.worker", "kopf"),
}


def check(name: str) -> None:
    """Build image `name`; start its command and import all its code in a container.

    Raises ImageError with the container's last line when either fails.
    """
    wanted, unwanted = IMPORTS[name]
    program = (
        f"import importlib.util, {wanted}\n"
        f"assert importlib.util.find_spec({unwanted!r}) is None, '{unwanted} is in the image'"
    )
    reference = build(name)
    buildah.require("runc")
    container = buildah.output("from", "--pull-never", reference)
    try:
        root = buildah.output("mount", container)
        image = json.loads(buildah.output("inspect", container))["OCIv1"]["config"]
        for command in ([*image["Entrypoint"], "--help"], ["python", "-c", program]):
            _run(name, _config(root, image["Env"], command))
    finally:
        buildah.output("rm", container)
    print(f"[{name}] runs as uid 1000 on a read-only root: {wanted}; no {unwanted}", flush=True)


def _run(name: str, config: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="orthrus-check-") as bundle:
        (Path(bundle) / "config.json").write_text(json.dumps(config))
        command = ["runc", "run", "--bundle", bundle, f"orthrus-check-{uuid.uuid4().hex[:8]}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise ImageError(f"{name}: {lines[-1]}")


def _config(root: str, environment: list[str], arguments: list[str]) -> dict[str, Any]:
    """An OCI runtime configuration with what the restricted Pod Security level leaves."""
    return {
        "ociVersion": "1.0.2",
        "root": {"path": root, "readonly": True},
        "process": {
            "user": {"uid": 1000, "gid": 1000},
            "args": arguments,
            "env": environment,
            "cwd": "/tmp",  # noqa: S108 (in the container)
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            {"destination": "/dev/shm", "type": "tmpfs", "source": "shm"},  # noqa: S108
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},  # noqa: S108
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "mount", "network")]},
    }
