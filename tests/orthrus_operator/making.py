"""How tests make what they need without an API server."""

import json
from pathlib import Path
from typing import Any

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment


def demo(source: str = "hf://org/model", **spec: Any) -> OrthrusDeployment:
    """`demo` in namespace `models`, as stored; keyword arguments are spec fields."""
    return OrthrusDeployment.from_object(
        {
            "metadata": {"name": "demo", "namespace": "models", "uid": "u1", "generation": 3},
            "spec": {"model": {"source": source}, **spec},
        }
    )


def kubeconfig(folder: Path, **context: str) -> str:
    """Path of one, for a server that is not there; `context` adds to its context."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c", **context}}],
    }
    path = folder / "config"
    path.write_text(json.dumps(config))
    return str(path)
