"""How tests make an OrthrusDeployment without an API server."""

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
