"""A replica whose own vectors keep their length, as `spec.embedding.normalize: false` asks."""

from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from orthrus_serving.engine.frontend.embedding_space import HEADER
from tests.orthrus_serving.engine.reference import assert_same
from tests.orthrus_serving.server.replica_process import NAME, replica_process

pytestmark = [pytest.mark.engine, pytest.mark.long]


def test_vectors_keep_their_length_unless_a_request_wants_them_scaled(tmp_path: Path) -> None:
    with replica_process(tmp_path, "--no-embedding-normalize") as replica:
        replica.wait_ready()

        def embed(**more: Any) -> tuple[torch.Tensor, str]:
            body = {"model": NAME, "input": "a text about cats", **more}
            reply = httpx.post(f"{replica.url}/v1/embeddings", json=body, timeout=60)
            reply.raise_for_status()
            [item] = reply.json()["data"]
            return torch.tensor(item["embedding"], dtype=torch.float64), reply.headers[HEADER]

        own, own_space = embed()
        scaled, scaled_space = embed(use_activation=True)
        assert own.norm() > 1.1
        assert_same(scaled, torch.nn.functional.normalize(own, dim=0))
        assert own_space != scaled_space
        assert embed(use_activation=False)[1] == own_space
