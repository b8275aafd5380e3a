"""What the operator's tests share."""

from collections.abc import Callable
from typing import Any

import pytest

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment

Make = Callable[..., OrthrusDeployment]


@pytest.fixture
def make() -> Make:
    """Makes an OrthrusDeployment called `demo` in `models`; keyword arguments are spec fields."""

    def build(source: str = "hf://org/model", **spec: Any) -> OrthrusDeployment:
        return OrthrusDeployment.from_object(
            {
                "metadata": {"name": "demo", "namespace": "models", "uid": "u1", "generation": 3},
                "spec": {"model": {"source": source}, **spec},
            }
        )

    return build
